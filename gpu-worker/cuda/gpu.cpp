// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu-worker/cuda/gpu.hpp"

#include <cstdlib>

#include "gpu-worker/cuda/cuda_check.hpp"
#include "gpu-worker/cuda/gpu_memory.hpp"

namespace millrace {

int gpu_count(std::string& reason) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return count;
  reason = std::string("no GPU: ") +
           (status == cudaSuccess ? "CUDA finds none" : cudaGetErrorString(status));
  return 0;
}

std::string open_gpu(int ordinal) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  std::string reason;
  const int count = gpu_count(reason);
  if (count == 0) throw Error(reason);
  if (ordinal >= count) {
    throw Error("GPU " + std::to_string(ordinal) + " of `devices` is not there; allowed: 0.." +
                std::to_string(count - 1));
  }
  use_gpu(ordinal);
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, ordinal), "asking for the GPU's properties");
  keep_freed_memory();
  return "GPU " + std::to_string(ordinal) + ", " + properties.name;
}

void use_gpu(int ordinal) { check_cuda(cudaSetDevice(ordinal), "choosing the GPU"); }

}  // namespace millrace
