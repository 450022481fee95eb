// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "gpu-worker/cuda/cuda_check.hpp"

/// Memory of the CPU that a GPU reads and writes in place, at the same addresses. No owner here may
/// be destroyed while a kernel is resident: to release the memory waits for the kernel.

namespace millrace {

struct Unregister {
  void operator()(std::byte* base) const noexcept {
    note_cuda(cudaHostUnregister(base), "unpinning the segment");
  }
};
/// Pins memory that others allocated (the segment), as one range: with one registration a page,
/// copies across pages fail.
using PinnedRange = std::unique_ptr<std::byte, Unregister>;
/// Throws Error, also when the GPU would see the range at other addresses.
PinnedRange pin(std::span<std::byte> range);

struct HostFree {
  void operator()(std::byte* base) const noexcept {
    note_cuda(cudaFreeHost(base), "giving back pinned memory");
  }
};
using HostMemory = std::unique_ptr<std::byte, HostFree>;
/// Allocates memory, zeroed and aligned to a page. Throws Error.
HostMemory make_host_memory(std::size_t bytes);

}  // namespace millrace
