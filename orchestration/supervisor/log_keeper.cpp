// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/log_keeper.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/control/whole_file.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

std::uint64_t bytes_of(const UniqueFd& file, const std::string& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) throw system_error("look at " + path, errno);
  return static_cast<std::uint64_t>(info.st_size);
}

/// From `offset` on, up to `end` at most; where it stopped.
std::uint64_t copy(const UniqueFd& from, const UniqueFd& to, const std::string& path,
                   std::uint64_t offset, std::uint64_t end) {
  std::array<std::byte, 65536> piece;
  while (offset < end) {
    const std::size_t wanted = std::min<std::uint64_t>(piece.size(), end - offset);
    const ssize_t got = ::pread(from.get(), piece.data(), wanted, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("read what " + path + " is made of", errno);
    if (got == 0) break;
    write_all(to.get(), std::span(piece).first(static_cast<std::size_t>(got)), path);
    offset += static_cast<std::uint64_t>(got);
  }
  return offset;
}

}  // namespace

std::string older_log_path(const std::string& log) { return log + ".1"; }

bool move_when_large(const std::string& log, std::uint64_t bytes_max) {
  const UniqueFd file(::open(log.c_str(), O_RDWR | O_CLOEXEC));
  if (!file || bytes_of(file, log) <= bytes_max) return false;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return false;
  const std::string older = older_log_path(log);
  const std::string draft = older + ".new";
  const UniqueFd to(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!to) throw system_error("open " + draft, errno);
  const std::uint64_t bytes = bytes_of(file, log);
  const std::uint64_t begin = bytes > kOlderLogBytesMax ? bytes - kOlderLogBytesMax : 0;
  const std::uint64_t done = copy(file, to, draft, begin, bytes);
  if (std::rename(draft.c_str(), older.c_str()) != 0) throw system_error("rename " + draft, errno);
  // What was said meanwhile, and no more of it than that: a process may say things without end.
  copy(file, to, older, done, bytes_of(file, log));
  if (::ftruncate(file.get(), 0) != 0) throw system_error("empty " + log, errno);
  return true;
}

void LogKeeper::tend(const std::string& run_dir, Clock::time_point now) {
  if (now < next_) return;
  next_ = now + kInterval;
  std::vector<std::string> logs;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(run_dir + "/logs", error)) {
    if (entry.path().extension() == ".log") logs.push_back(entry.path());
  }
  for (const std::string& log : logs) {
    try {
      move_when_large(log, kLogBytesMax);
    } catch (const Error& problem) {
      if (!std::exchange(failed_, true)) std::fprintf(stderr, "millrace: %s\n", problem.what());
    }
  }
}

}  // namespace millrace
