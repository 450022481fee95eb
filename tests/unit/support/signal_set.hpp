// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace millrace::test {

/// Waits, at most 30 s, until a signal is in one of these sets of a process: "SigBlk", "SigIgn",
/// "SigCgt" of its /proc/PID/status (proc(5)).
inline bool await_signal_in(pid_t pid, const std::vector<std::string>& sets, int signal) {
  for (int turn = 0; turn < 3000; ++turn) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(file, line);) {
      const std::size_t name = line.find(':');
      if (std::ranges::find(sets, line.substr(0, name)) == sets.end()) continue;
      const std::uint64_t set = std::stoull(line.substr(name + 1), nullptr, 16);
      if ((set >> (signal - 1) & 1) != 0) return true;
    }
    ::usleep(10'000);
  }
  return false;
}

}  // namespace millrace::test
