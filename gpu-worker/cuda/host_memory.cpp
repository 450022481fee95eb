// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu-worker/cuda/host_memory.hpp"

#include <cstring>

namespace millrace {
namespace {

void check_same_address(std::byte* base) {
  void* there = nullptr;
  check_cuda(cudaHostGetDevicePointer(&there, base, 0), "asking where the GPU sees memory");
  if (there != base) {
    throw Error(
        "the GPU does not see the CPU's memory at the same addresses; mend: device: software");
  }
}

}  // namespace

PinnedRange pin(std::span<std::byte> range) {
  check_cuda(cudaHostRegister(range.data(), range.size(),
                              cudaHostRegisterMapped | cudaHostRegisterPortable),
             "pinning the segment");
  PinnedRange pinned(range.data());
  check_same_address(range.data());
  return pinned;
}

HostMemory make_host_memory(std::size_t bytes) {
  void* base = nullptr;
  check_cuda(cudaHostAlloc(&base, bytes, cudaHostAllocMapped | cudaHostAllocPortable),
             "allocating pinned memory");
  HostMemory memory(static_cast<std::byte*>(base));
  std::memset(base, 0, bytes);
  check_same_address(memory.get());
  return memory;
}

}  // namespace millrace
