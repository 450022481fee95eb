// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/thread_times.hpp"

#include <fstream>
#include <string>

namespace millrace {

std::optional<ThreadTimes> thread_times(std::int32_t pid, const std::filesystem::path& proc) {
  const std::string number = std::to_string(pid);
  const std::filesystem::path folder = proc / number / "task" / number;
  ThreadTimes times;
  std::ifstream schedstat(folder / "schedstat");
  if (!(schedstat >> times.ran_ns >> times.waited_ns)) return std::nullopt;
  std::ifstream file(folder / "stat");
  std::string stat;
  if (!std::getline(file, stat)) return std::nullopt;
  // "PID (NAME) STATE ...": a name may have blanks and brackets.
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return std::nullopt;
  times.ready = stat[name_end + 2] == 'R';
  return times;
}

}  // namespace millrace
