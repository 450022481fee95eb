// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gpu-worker/cuda/cuda_check.hpp"
#include "services/functions/device_function.hpp"

namespace millrace {

/// Pieces of a GPU's memory that are allocated and freed together: the tables of a chain. They come
/// from CUDA's pool, in the order of a stream, because cudaFree() waits for a resident kernel, for
/// ever. Bytes written through the stream are there when copy() returns.
class GpuMemory : public DeviceMemory {
 public:
  /// `stream` is borrowed.
  explicit GpuMemory(cudaStream_t stream) : stream_(stream) {}
  GpuMemory(const GpuMemory&) = delete;  // two owners would free twice
  GpuMemory& operator=(const GpuMemory&) = delete;
  ~GpuMemory() override { free(); }

  const std::byte* copy(std::span<const std::byte> bytes) override;
  /// Allocates `bytes` of zeros.
  std::byte* zeros(std::size_t bytes);
  /// Writes in small steps, so that no other thread's call waits for a large copy.
  void write(const std::byte* at, std::span<const std::byte> bytes) override;
  void settle() override;
  void give_back(const std::byte* at) noexcept override;

 private:
  std::byte* allocate(std::size_t bytes);
  void free() noexcept;

  cudaStream_t stream_ = nullptr;
  std::vector<std::byte*> pieces_;
};

/// Lets the pool keep freed memory, so that a swap of tables calls no driver. Once, at start.
void keep_freed_memory();

}  // namespace millrace
