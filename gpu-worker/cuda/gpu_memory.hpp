// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gpu-worker/cuda/cuda_check.hpp"
#include "services/functions/device_function.hpp"

namespace millrace {

/// Pieces of a GPU's memory that come and go together: the tables of a chain. From CUDA's pool and
/// in the order of a stream, because cudaFree() waits for a resident kernel, for ever. What was
/// written through the stream is there when copy() returns.
class GpuMemory : public DeviceMemory {
 public:
  /// `stream` is borrowed.
  explicit GpuMemory(cudaStream_t stream) : stream_(stream) {}
  GpuMemory(const GpuMemory&) = delete;  // two owners would free twice
  GpuMemory& operator=(const GpuMemory&) = delete;
  ~GpuMemory() override { free(); }

  const std::byte* copy(std::span<const std::byte> bytes) override;
  /// `bytes` of zeros.
  std::byte* zeros(std::size_t bytes);
  /// In small steps, so that no other thread's call waits for a large copy.
  void write(const std::byte* at, std::span<const std::byte> bytes) override;
  void settle() override;
  void give_back(const std::byte* at) noexcept override;

 private:
  std::byte* allocate(std::size_t bytes);
  void free() noexcept;

  cudaStream_t stream_ = nullptr;
  std::vector<std::byte*> pieces_;
};

/// The pool keeps what was freed, so that a swap of tables calls no driver. Once, at start.
void keep_freed_memory();

}  // namespace millrace
