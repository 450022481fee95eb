// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "shared/base/error.hpp"

namespace millrace {

/// Throws Error "<doing>: <what CUDA says>" unless `status` is success.
inline void check_cuda(cudaError_t status, const char* doing) {
  if (status != cudaSuccess) throw Error(std::string(doing) + ": " + cudaGetErrorString(status));
}

}  // namespace millrace
