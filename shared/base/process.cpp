// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/process.hpp"

#include <poll.h>
#include <sys/syscall.h>

#include <fstream>
#include <sstream>
#include <string>

namespace millrace {

std::uint64_t process_start_time(std::int32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return 0;
  // The second field is the command in parentheses and may hold anything.
  const std::size_t command_end = line.rfind(')');
  if (command_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(command_end + 1));
  std::string field;
  for (int number = 3; number < 22; ++number) fields >> field;
  std::uint64_t start = 0;
  fields >> start;
  return start;
}

UniqueFd open_process(std::int32_t pid, std::uint64_t start_time) {
  UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (process && process_start_time(pid) != start_time) return {};
  return process;
}

bool process_ended(const UniqueFd& process) {
  if (!process) return true;
  pollfd wait{process.get(), POLLIN, 0};
  return poll(&wait, 1, 0) == 1;
}

}  // namespace millrace
