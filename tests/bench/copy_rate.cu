// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "gpu-worker/cuda/gpu_memory.hpp"
#include "gpu-worker/cuda/host_memory.hpp"
#include "gpu-worker/cuda/stream.hpp"
#include "tests/bench/copy_rate.hpp"

namespace millrace {

double copy_bytes_per_second(std::size_t bytes) {
  constexpr int kRounds = 20;
  const Stream stream = make_stream();
  const HostMemory host = make_host_memory(bytes);
  GpuMemory gpu(stream.get());
  std::byte* const target = gpu.zeros(bytes);
  cudaEvent_t start = nullptr, end = nullptr;
  check_cuda(cudaEventCreate(&start), "making an event");
  check_cuda(cudaEventCreate(&end), "making an event");
  check_cuda(cudaEventRecord(start, stream.get()), "timing a copy");
  for (int i = 0; i < kRounds; ++i) {
    check_cuda(cudaMemcpyAsync(target, host.get(), bytes, cudaMemcpyHostToDevice, stream.get()),
               "copying");
  }
  check_cuda(cudaEventRecord(end, stream.get()), "timing a copy");
  check_cuda(cudaStreamSynchronize(stream.get()), "copying");
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, start, end), "timing a copy");
  cudaEventDestroy(start);
  cudaEventDestroy(end);
  return static_cast<double>(bytes) * kRounds / (static_cast<double>(milliseconds) / 1000);
}

}  // namespace millrace
