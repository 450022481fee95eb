// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu-worker/cuda/gpu_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace millrace {
namespace {

constexpr std::size_t kCopyBytesMax = std::size_t{1} << 20;

}  // namespace

void GpuMemory::free() noexcept {
  for (std::byte* piece : pieces_) {
    note_cuda(cudaFreeAsync(piece, stream_), "giving back the GPU's memory");
  }
  pieces_.clear();
}

std::byte* GpuMemory::allocate(std::size_t bytes) {
  void* piece = nullptr;
  const std::string doing = "taking " + std::to_string(bytes) + " bytes of the GPU's memory";
  check_cuda(cudaMallocAsync(&piece, bytes, stream_), doing.c_str());
  pieces_.push_back(static_cast<std::byte*>(piece));
  return pieces_.back();
}

const std::byte* GpuMemory::copy(std::span<const std::byte> bytes) {
  if (bytes.empty()) return nullptr;
  std::byte* const piece = allocate(bytes.size());
  write(piece, bytes);
  settle();
  return piece;
}

std::byte* GpuMemory::zeros(std::size_t bytes) {
  std::byte* const piece = allocate(bytes);
  check_cuda(cudaMemsetAsync(piece, 0, bytes, stream_), "zeroing the GPU's memory");
  check_cuda(cudaStreamSynchronize(stream_), "zeroing the GPU's memory");
  return piece;
}

void GpuMemory::write(const std::byte* at, std::span<const std::byte> bytes) {
  auto* to = const_cast<std::byte*>(at);
  while (!bytes.empty()) {
    const auto step = bytes.first(std::min(bytes.size(), kCopyBytesMax));
    check_cuda(cudaMemcpyAsync(to, step.data(), step.size(), cudaMemcpyHostToDevice, stream_),
               "copying to the GPU");
    to += step.size();
    bytes = bytes.subspan(step.size());
  }
}

void GpuMemory::settle() { check_cuda(cudaStreamSynchronize(stream_), "copying to the GPU"); }

void GpuMemory::give_back(const std::byte* at) noexcept {
  const auto piece = std::find(pieces_.begin(), pieces_.end(), at);
  if (piece == pieces_.end()) return;
  note_cuda(cudaFreeAsync(*piece, stream_), "giving back the GPU's memory");
  pieces_.erase(piece);
}

void keep_freed_memory() {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  std::uint64_t all = UINT64_MAX;
  check_cuda(cudaGetDevice(&device), "asking for the GPU");
  check_cuda(cudaDeviceGetDefaultMemPool(&pool, device), "asking for the GPU's memory pool");
  check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all),
             "setting the GPU's memory pool");
}

}  // namespace millrace
