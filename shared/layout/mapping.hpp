// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "shared/base/unique_fd.hpp"

/// Shared memory of a topology. The segment is a file without a name (memfd) of huge pages: the
/// supervisor makes it and hands its descriptor to each process that moves packets, so no file
/// system has to be mounted, and nothing is left of it when the last of them has gone. The status
/// file has a name, as observers come and go. The hub fills both (create), others attach. Throws
/// Error with the command that mends the host.

namespace millrace {

/// Address at which every process maps the segment. Chosen below the kernel's mmap area and above
/// the heap of a position-independent executable; tried with address randomisation on.
inline constexpr std::uintptr_t kSegmentAddress = 0x2000'0000'0000;

/// Descriptor at which each process that moves packets finds the segment's file at its start.
inline constexpr int kSegmentFd = 3;

/// The segment's file, empty yet: huge pages of 2 MB, closed on exec.
UniqueFd make_segment_file(const std::string& topology);
/// That file as a running process of the topology has it; nothing when it has none, or when this
/// user may not look at its descriptors.
UniqueFd segment_file_of(pid_t process, const std::string& topology);

/// Owner of one mapping. Move-only; unmaps, never deletes the file.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;  // two owners would unmap twice
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();
  std::byte* base() const { return base_; }
  std::size_t bytes() const { return bytes_; }

  /// Makes room in an empty `file`, which may be closed then; `bytes` a multiple of kHugePage.
  /// Zeroed and populated: a shortage of huge pages is an Error here, never a SIGBUS later.
  static Mapping create_segment(int file, std::size_t bytes);
  static Mapping attach_segment(int file);
  /// `name` as for shm_open; zeroed.
  static Mapping create_status(const std::string& name, std::size_t bytes);
  static Mapping attach_status(const std::string& name, bool writable);
  /// Writable, that part of it alone; `offset`: of a page.
  static Mapping attach_status_part(const std::string& name, std::size_t offset, std::size_t bytes);
  /// `bytes` of an open file, which may be closed then; `what` names it in an Error.
  static Mapping of_file(int file, std::size_t bytes, const std::string& what,
                         bool writable = true);
  /// Zeroed memory of this process and its children only (tests, `millrace try`): no huge pages
  /// needed.
  static Mapping create_anonymous(std::size_t bytes);

 private:
  Mapping(std::byte* base, std::size_t bytes) : base_(base), bytes_(bytes) {}
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// "millrace-<topology>": DPDK's name of a topology, in its runtime folder and huge page files.
std::string dpdk_prefix(const std::string& topology);
/// Removes the status file, and what DPDK left of a killed run; absent ones are no error. No
/// process of the topology may run.
void destroy_shared_memory(const std::string& topology) noexcept;

}  // namespace millrace
