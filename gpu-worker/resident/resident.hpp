// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu-worker/resident/arguments.hpp"

struct CUstream_st;  // cudaStream_t, without CUDA's headers

/// The resident kernel: block 0 dispatches, all others compute, until a submission says stop. All
/// its blocks fit on the GPU at once.

namespace millrace::resident {

/// Loads the kernel, which must happen before it runs, and says how many blocks fit on the present
/// device. Throws Error.
std::uint32_t load_kernel();

/// Starts it on `stream`; returns at once. Throws Error.
void launch_kernel(const Arguments& arguments, std::uint32_t blocks, CUstream_st* stream);

}  // namespace millrace::resident
