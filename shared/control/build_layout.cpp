// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/build_layout.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <sstream>

#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/layout/segment.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace {
namespace {

/// A number of the header at `offset` of the file.
template <class Number>
Number read_at(const UniqueFd& file, std::size_t offset, const std::string& path) {
  Number number{};
  const ssize_t got = ::pread(file.get(), &number, sizeof number, static_cast<off_t>(offset));
  if (got != static_cast<ssize_t>(sizeof number)) {
    throw Error(path + ": its header cannot be read");
  }
  return number;
}

UniqueFd open_file(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw system_error(path, errno);
  return file;
}

}  // namespace

BuildLayout layout_of_build(const Plan& plan) {
  const SegmentLayout segment = segment_layout(plan);
  const StatusLayout status = status_layout(plan);
  return {kSegmentAbi, segment.hash, segment.bytes, kStatusAbi, status.hash, status.bytes};
}

BuildLayout layout_of_running(const std::string& topology) {
  BuildLayout layout;
  const std::string path = segment_path(topology);
  const UniqueFd segment = open_file(path);
  layout.segment_abi = read_at<std::uint32_t>(segment, offsetof(SegmentHeader, abi), path);
  layout.segment_hash = read_at<std::uint64_t>(segment, offsetof(SegmentHeader, layout_hash), path);
  layout.segment_bytes = read_at<std::uint64_t>(segment, offsetof(SegmentHeader, bytes), path);
  const Mapping mapping = Mapping::attach_status(status_file_name(topology), false);
  if (mapping.bytes() < sizeof(StatusHeader)) throw Error("the status file is too short");
  const auto& header = *reinterpret_cast<const StatusHeader*>(mapping.base());
  layout.status_abi = header.abi;
  layout.status_hash = header.layout_hash;
  layout.status_bytes = header.bytes;
  return layout;
}

std::string to_text(const BuildLayout& layout) {
  std::ostringstream text;
  text << "layout segment " << layout.segment_abi << ' ' << layout.segment_hash << ' '
       << layout.segment_bytes << " status " << layout.status_abi << ' ' << layout.status_hash
       << ' ' << layout.status_bytes;
  return text.str();
}

std::optional<BuildLayout> parse_layout(std::string_view line) {
  std::istringstream words{std::string(line)};
  BuildLayout layout;
  std::string begin, segment, status, rest;
  words >> begin >> segment >> layout.segment_abi >> layout.segment_hash >> layout.segment_bytes;
  words >> status >> layout.status_abi >> layout.status_hash >> layout.status_bytes;
  const bool named = begin == "layout" && segment == "segment" && status == "status";
  if (!words || !named || words >> rest) return std::nullopt;
  return layout;
}

std::string difference(const BuildLayout& running, const BuildLayout& build) {
  const auto say = [](const char* what, const std::array<std::uint64_t, 3>& has,
                      const std::array<std::uint64_t, 3>& wants) -> std::string {
    if (has == wants) return "";
    const auto words = [](const std::array<std::uint64_t, 3>& numbers) {
      return "ABI " + std::to_string(numbers[0]) + ", layout " + std::to_string(numbers[1]) + ", " +
             std::to_string(numbers[2]) + " bytes";
    };
    return std::string("the ") + what + " that runs has " + words(has) + "; it has " + words(wants);
  };
  const std::string segment =
      say("segment", {running.segment_abi, running.segment_hash, running.segment_bytes},
          {build.segment_abi, build.segment_hash, build.segment_bytes});
  const std::string status =
      say("status file", {running.status_abi, running.status_hash, running.status_bytes},
          {build.status_abi, build.status_hash, build.status_bytes});
  return segment + (segment.empty() || status.empty() ? "" : "; ") + status;
}

}  // namespace millrace
