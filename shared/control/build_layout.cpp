// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/build_layout.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <sstream>
#include <vector>

#include "shared/base/error.hpp"
#include "shared/control/whole_file.hpp"
#include "shared/layout/segment.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace {
namespace {

constexpr std::size_t kBytesMax = 4096;

std::string path_in(const std::string& run_dir) { return run_dir + "/layout"; }

}  // namespace

BuildLayout layout_of_build(const Plan& plan) {
  const SegmentLayout segment = segment_layout(plan);
  const StatusLayout status = status_layout(plan);
  return {kSegmentAbi, segment.hash, segment.bytes, kStatusAbi, status.hash, status.bytes};
}

void save_layout(const BuildLayout& layout, const std::string& run_dir) {
  const std::string text = to_text(layout);
  write_whole_file(path_in(run_dir), std::as_bytes(std::span(text)));
}

BuildLayout layout_of_running(const std::string& run_dir) {
  const std::vector<std::byte> bytes = read_whole_file(path_in(run_dir), kBytesMax);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const auto layout = parse_layout(text)) return *layout;
  throw Error(path_in(run_dir) + " names no layout");
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
