// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/record_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "shared/base/error.hpp"

namespace millrace {

RecordFile::RecordFile(UniqueFd file, std::string name)
    : file_(std::move(file)), name_(std::move(name)) {}

RecordFile::RecordFile(const std::string& path)
    : RecordFile(UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
                 path) {
  if (!file_) throw system_error("write " + path, errno);
}

void RecordFile::put(std::string_view record) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(record));
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  end_record();
}

bool RecordFile::has_reader() const {
  pollfd end{file_.get(), 0, 0};
  return ::poll(&end, 1, 0) <= 0 || (end.revents & POLLERR) == 0;
}

bool RecordFile::flush() {
  if (buffer_.empty()) return has_reader();
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t written = ::write(file_.get(), buffer_.data() + done, buffer_.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return false;
    if (written < 0) {
      const int error = errno;
      cut(done);
      throw system_error("write " + name_, error);
    }
    done += static_cast<std::size_t>(written);
  }
  flushed_ += buffer_.size();
  buffer_.clear();
  ends_.clear();
  return true;
}

/// Takes back what was written of a record that did not get whole. What is a pipe keeps it.
void RecordFile::cut(std::size_t written) noexcept {
  std::size_t whole = 0;
  for (const std::size_t end : ends_) {
    if (end <= written) whole = std::max(whole, end);
  }
  struct stat info {};
  const off_t at = ::lseek(file_.get(), 0, SEEK_CUR);
  if (at < 0 || ::fstat(file_.get(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  [[maybe_unused]] const int cut =
      ::ftruncate(file_.get(), at - static_cast<off_t>(written - whole));
}

}  // namespace millrace
