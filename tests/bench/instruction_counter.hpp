// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dirent.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millrace {

/// Instructions that all threads of a process execute in user space, counted by the processor
/// while this object lives. Threads that start later are not in it. Of processes that the caller
/// may trace.
class InstructionCounter {
 public:
  explicit InstructionCounter(pid_t process) {
    const std::string threads = "/proc/" + std::to_string(process) + "/task";
    DIR* folder = ::opendir(threads.c_str());
    if (folder == nullptr) return;
    while (const dirent* entry = ::readdir(folder)) {
      const char* end = entry->d_name + std::strlen(entry->d_name);
      pid_t thread = 0;
      if (std::from_chars(entry->d_name, end, thread).ptr == end) add(thread);
    }
    ::closedir(folder);
  }
  InstructionCounter(InstructionCounter&& from) noexcept : files_(std::move(from.files_)) {
    from.files_.clear();
  }
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;
  InstructionCounter& operator=(InstructionCounter&&) = delete;
  ~InstructionCounter() {
    for (const int file : files_) ::close(file);
  }

  /// Nothing: this host has no counters, as many virtual machines have none, or forbids them
  /// (kernel.perf_event_paranoid).
  std::optional<std::uint64_t> read() const {
    if (files_.empty()) return std::nullopt;
    std::uint64_t sum = 0;
    for (const int file : files_) {
      std::uint64_t count = 0;
      if (::read(file, &count, sizeof count) != sizeof count) return std::nullopt;
      sum += count;
    }
    return sum;
  }

 private:
  void add(pid_t thread) {
    perf_event_attr what{};
    what.size = sizeof what;
    what.type = PERF_TYPE_HARDWARE;
    what.config = PERF_COUNT_HW_INSTRUCTIONS;
    what.exclude_kernel = 1;
    what.exclude_hv = 1;
    const long file = ::syscall(SYS_perf_event_open, &what, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (file >= 0) files_.push_back(static_cast<int>(file));
  }

  std::vector<int> files_;
};

}  // namespace millrace
