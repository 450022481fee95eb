// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/capture_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {
namespace {

UniqueFd open_output(const std::string& path) {
  if (path == "-") {
    if (::isatty(STDOUT_FILENO) == 1) {
      throw Error(
          "a capture is nothing for a terminal: -w FILE, or a pipe: millrace capture NAME "
          "| wireshark -k -i -");
    }
    UniqueFd out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!out) throw system_error("write the capture to standard output", errno);
    return out;
  }
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) throw system_error("write capture " + path, errno);
  return file;
}

std::string name_of(const std::string& path) {
  return path == "-" ? "the capture to standard output" : "capture " + path;
}

}  // namespace

CaptureFiles::CaptureFiles(std::string path, Limits limits, std::vector<PcapngInterface> interfaces,
                           std::function<void(const std::string&)> check)
    : path_(std::move(path)),
      limits_(limits),
      interfaces_(std::move(interfaces)),
      check_(std::move(check)) {
  open();
}

std::string CaptureFiles::path_of(std::uint64_t number) const {
  if (limits_.files == 0) return number == 0 ? path_ : path_ + std::to_string(number);
  const std::size_t digits = std::to_string(limits_.files - 1).size();
  const std::string text = std::to_string(number % limits_.files);
  return path_ + std::string(digits - text.size(), '0') + text;
}

void CaptureFiles::open() {
  const std::string path = path_of(count_);
  if (path != "-") check_(path);
  writer_ = std::make_unique<PcapngWriter>(open_output(path), interfaces_, name_of(path));
  ++count_;
}

bool CaptureFiles::next() {
  if (!writer_->flush()) return false;
  open();
  return true;
}

}  // namespace millrace
