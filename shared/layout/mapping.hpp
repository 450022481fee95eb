// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// Shared memory, one life cycle for both kinds: create (hub) -> attach (everybody) -> detach
/// (destructor) -> destroy (whoever ends the topology). Throws Error with the command that mends
/// the host.

namespace millrace {

/// Address at which every process maps the segment. Chosen below the kernel's mmap area and above
/// the heap of a position-independent executable; tried with address randomisation on.
inline constexpr std::uintptr_t kSegmentAddress = 0x2000'0000'0000;

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

  /// `path` in a hugetlbfs mount; `bytes` a multiple of kHugePage. Zeroed and populated: a shortage
  /// of huge pages is an Error here, never a SIGBUS later. Refuses an existing file.
  static Mapping create_segment(const std::string& path, std::size_t bytes);
  static Mapping attach_segment(const std::string& path);
  /// `name` as for shm_open; zeroed.
  static Mapping create_status(const std::string& name, std::size_t bytes);
  static Mapping attach_status(const std::string& name, bool writable);
  /// `bytes` of an open file, which may be closed then; `what` names it in an Error.
  static Mapping of_file(int file, std::size_t bytes, const std::string& what);
  /// Zeroed memory of this process and its children only (tests, `millrace try`): no huge pages
  /// needed.
  static Mapping create_anonymous(std::size_t bytes);

 private:
  Mapping(std::byte* base, std::size_t bytes) : base_(base), bytes_(bytes) {}
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// "<first hugetlbfs mount with 2 MB pages>/millrace-<topology>.segment". Error names the mount
/// command.
std::string segment_path(const std::string& topology);
/// "millrace-<topology>": DPDK's name of a topology, in its runtime folder and huge page files.
std::string dpdk_prefix(const std::string& topology);
/// Removes segment and status file, and what DPDK left of a killed run; absent ones are no error.
/// Nobody may run.
void destroy_shared_memory(const std::string& topology) noexcept;

}  // namespace millrace
