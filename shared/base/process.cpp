// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/process.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>

namespace millrace {

namespace {

/// Of /proc/PID/stat (proc(5)); zeros when there is no such process.
struct Stat {
  char state = 0;           ///< field 3
  std::uint64_t flags = 0;  ///< field 9, PF_* of <linux/sched.h>
  std::uint64_t start_time = 0;
};

Stat stat_of(std::int32_t pid) {
  constexpr std::uint64_t kFlagsField = 9, kStartField = 22;
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return {};
  // The second field is the command in parentheses and may hold anything.
  const std::size_t command_end = line.rfind(')');
  if (command_end == std::string::npos) return {};
  std::istringstream fields(line.substr(command_end + 1));
  Stat stat;
  std::string field;
  fields >> stat.state;
  for (std::uint64_t number = 4; number < kFlagsField; ++number) fields >> field;
  fields >> stat.flags;
  for (std::uint64_t number = kFlagsField + 1; number < kStartField; ++number) fields >> field;
  fields >> stat.start_time;
  return stat;
}

}  // namespace

std::uint64_t process_start_time(std::int32_t pid) { return stat_of(pid).start_time; }

bool process_is_ending(std::int32_t pid, std::uint64_t start_time) {
  constexpr std::uint64_t kExiting = 4;  // PF_EXITING
  const Stat stat = stat_of(pid);
  return stat.start_time == start_time && (stat.flags & kExiting) != 0;
}

bool process_is_stopped(std::int32_t pid, std::uint64_t start_time) {
  const Stat stat = stat_of(pid);
  return stat.start_time == start_time && (stat.state == 'T' || stat.state == 't');
}

UniqueFd open_process(std::int32_t pid, std::uint64_t start_time) {
  UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const std::uint64_t found = process ? process_start_time(pid) : 0;
  if (found != 0 && found != start_time) return {};  // 0: gone meanwhile, or not to be read
  return process;
}

bool process_ended(const UniqueFd& process) {
  if (!process) return true;
  pollfd wait{process.get(), POLLIN, 0};
  return poll(&wait, 1, 0) == 1;
}

bool process_ended(const UniqueFd& process, std::int32_t pid, std::uint64_t start_time) {
  if (process) return process_ended(process);
  const std::uint64_t found = process_start_time(pid);
  if (found != 0) return found != start_time;
  const UniqueFd again(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));  // kill() is filtered
  return !again && errno == ESRCH;
}

void allow_many_files() noexcept {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace millrace
