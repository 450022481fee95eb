// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/file_window.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/base/whole_file.hpp"

namespace millrace {

UniqueFd open_file(const std::string& path, int flags) {
  UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (!file) throw system_error("open " + path, errno);
  return file;
}

std::uint64_t regular_file_bytes(const UniqueFd& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw system_error("stat " + path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(path + ": it is " + std::string(file_kind(status.st_mode)) +
                "; a regular file is needed");
  }
  return static_cast<std::uint64_t>(status.st_size);
}

FileWindow::FileWindow(UniqueFd file, std::size_t bytes_max)
    : file_(std::move(file)), window_(2 * bytes_max), start_(::lseek(file_.get(), 0, SEEK_CUR)) {}

const std::byte* FileWindow::need(std::size_t count) noexcept {
  MILLRACE_CHECK(count <= window_.size());
  if (end_ - begin_ >= count) return window_.data() + begin_;
  if (begin_ + count > window_.size()) {
    std::memmove(window_.data(), window_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  while (end_ - begin_ < count) {
    const ssize_t got = ::read(file_.get(), window_.data() + end_, window_.size() - end_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error_ = errno;
    if (got <= 0) return nullptr;
    end_ += static_cast<std::size_t>(got);
  }
  return window_.data() + begin_;
}

void FileWindow::consume(std::size_t count) noexcept {
  MILLRACE_CHECK(count <= end_ - begin_);
  begin_ += count;
  offset_ += count;
}

CaptureStatus FileWindow::why_ended(bool inside) noexcept {
  const bool whole = !inside && at_end();
  if (error_ != 0) return CaptureStatus::kUnreadable;
  return whole ? CaptureStatus::kEnd : CaptureStatus::kTruncated;
}

bool FileWindow::seek(std::uint64_t offset) noexcept {
  if (start_ < 0) return false;
  if (::lseek(file_.get(), start_ + static_cast<off_t>(offset), SEEK_SET) < 0) return false;
  begin_ = end_ = 0;
  offset_ = offset;
  return true;
}

bool FileWindow::skip(std::uint64_t count) noexcept {
  while (count > 0) {
    const std::size_t piece = std::min<std::uint64_t>(count, window_.size() / 2);
    if (need(piece) == nullptr) return false;
    consume(piece);
    count -= piece;
  }
  return true;
}

}  // namespace millrace
