// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "shared/base/error.hpp"
#include "shared/base/say.hpp"

namespace millrace {

/// Throws Error "<doing>: <what CUDA says>" unless `status` is success.
inline void check_cuda(cudaError_t status, const char* doing) {
  if (status != cudaSuccess) throw Error(std::string(doing) + ": " + cudaGetErrorString(status));
}

/// Where nothing can be thrown, at an owner's end: says so instead.
inline void note_cuda(cudaError_t status, const char* doing) noexcept {
  if (status != cudaSuccess) say(doing, cudaGetErrorString(status));
}

}  // namespace millrace
