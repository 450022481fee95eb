// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/event_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "services/events/event_json.hpp"
#include "shared/base/error.hpp"
#include "shared/base/say.hpp"
#include "shared/base/whole_file.hpp"

namespace millrace {
namespace {

constexpr mode_t kMode = 0640;

bool ends_in_a_line(int file, off_t size) {
  char last = '\n';
  return size == 0 || ::pread(file, &last, 1, size - 1) != 1 || last == '\n';
}

}  // namespace

std::uint64_t keep_whole_lines(const UniqueFd& file, std::uint64_t offset, int& error) noexcept {
  std::array<char, 65536> block;
  std::uint64_t lines = 0, end = offset;
  for (std::uint64_t at = offset;;) {
    const ssize_t count = ::pread(file.get(), block.data(), block.size(), static_cast<off_t>(at));
    if (count < 0) {
      error = errno;
      return lines;
    }
    if (count == 0) {
      if (end < at && ::ftruncate(file.get(), static_cast<off_t>(end)) != 0) error = errno;
      return lines;
    }
    const std::string_view text(block.data(), static_cast<std::size_t>(count));
    lines += lines_in(text);
    const std::size_t last = text.rfind('\n');
    if (last != std::string_view::npos) end = at + last + 1;
    at += text.size();
  }
}

EventFile::EventFile(const PlanEvents& settings, const Place& begun, Life life)
    : settings_(settings) {
  if (life == Life::kFirst) {
    open(begun);
  } else {
    try_open(begun);
  }
}

void EventFile::open(const Place& begun) {
  // Not blocked by a pipe without a reader, which is refused below.
  UniqueFd file(::open(settings_.file.c_str(),
                       O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, kMode));
  struct stat now {};
  if (!file || ::fstat(file.get(), &now) != 0) {
    throw system_error("open " + settings_.file + " (`events: file`)", errno);
  }
  if (!S_ISREG(now.st_mode)) {
    throw Error(settings_.file + " (`events: file`) is " + std::string(file_kind(now.st_mode)) +
                "; a regular file is needed");
  }
  // Half a line that another writer left stays.
  const bool is_ours =
      now.st_ino == begun.file && static_cast<std::uint64_t>(now.st_size) > begun.offset;
  if (!is_ours && !ends_in_a_line(file.get(), now.st_size) && ::write(file.get(), "\n", 1) != 1) {
    throw system_error("write " + settings_.file + " (`events: file`)", errno);
  }
  file_ = std::move(file);
}

EventFile::Place EventFile::place() const noexcept {
  struct stat now {};
  if (!file_ || ::fstat(file_.get(), &now) != 0) return {};
  return {now.st_ino, static_cast<std::uint64_t>(now.st_size)};
}

std::uint64_t EventFile::lines_behind(const Place& place) noexcept {
  const Place now = this->place();
  if (now.file != place.file || now.offset <= place.offset) return 0;
  int error = 0;
  const std::uint64_t lines = keep_whole_lines(file_, place.offset, error);
  if (error != 0) complain("cut off half a line of", error);
  return lines;
}

std::uint64_t EventFile::write(std::string_view lines) noexcept {
  const std::uint64_t all = lines_in(lines);
  const Place before = place();
  std::size_t done = 0;
  int error = before.file == 0 ? EBADF : 0;
  while (error == 0 && done < lines.size()) {
    const ssize_t count = ::write(file_.get(), lines.data() + done, lines.size() - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      error = count == 0 ? ENOSPC : errno;
    }
  }
  const std::string_view written = lines.substr(0, done);
  const std::size_t whole = written.rfind('\n') + 1;  // npos: 0
  if (whole != done && ::ftruncate(file_.get(), static_cast<off_t>(before.offset + whole)) != 0) {
    complain("cut off half a line of", errno);
  }
  const std::uint64_t in_file = lines_in(written);
  if (in_file != all && before.file != 0) complain("write", error);
  note_written(in_file, all);
  return in_file;
}

void EventFile::note_written(std::uint64_t lines, std::uint64_t of) noexcept {
  lost_ += of - lines;
  if (lines != of || of == 0 || !complained_) return;
  say("events", settings_.file + " goes on; " + std::to_string(lost_) + " lines are lost");
  complained_ = false;
  lost_ = 0;
}

void EventFile::complain(const std::string& what, int error) noexcept {
  if (complained_) return;
  complained_ = true;
  say("events", what + " " + settings_.file + ": " + std::generic_category().message(error) +
                    "; until that is mended its lines are lost and counted");
}

bool EventFile::rotate() noexcept {
  if (settings_.rotate_bytes == 0 || place().offset < settings_.rotate_bytes) return false;
  const auto name = [&](std::uint32_t number) {
    return settings_.file + "." + std::to_string(number);
  };
  for (std::uint32_t i = settings_.keep; i > 1; --i) {
    static_cast<void>(std::rename(name(i - 1).c_str(), name(i).c_str()));  // some are not there yet
  }
  if (std::rename(settings_.file.c_str(), name(1).c_str()) != 0) {
    complain("rename", errno);
    return false;
  }
  reopen();
  return true;
}

bool EventFile::is_at_path() const noexcept {
  struct stat ours {
  }, there{};
  return file_ && ::fstat(file_.get(), &ours) == 0 && ::stat(settings_.file.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

void EventFile::look() noexcept {
  if (!is_at_path()) reopen();
}

void EventFile::reopen() noexcept {
  const Place begun = std::exchange(begun_, {});
  try_open(begun);
  if (file_) lines_behind(begun);  // cuts off half a line
}

void EventFile::try_open(const Place& begun) noexcept {
  try {
    open(begun);
  } catch (const std::exception& error) {
    file_ = UniqueFd();
    begun_ = begun;
    if (!complained_) say("events", std::string(error.what()) + "; lines are lost and counted");
    complained_ = true;
  }
}

}  // namespace millrace
