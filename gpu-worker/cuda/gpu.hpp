// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace millrace {

/// GPUs that CUDA sees; with none, `reason` says why.
int gpu_count(std::string& reason);

/// Makes GPU `ordinal` the thread's. Before anything else of CUDA in the process: kernels are
/// loaded at once from then on, because a first launch beside a resident kernel would wait for it.
/// Returns its name for people. Throws Error.
std::string open_gpu(int ordinal);

/// Makes a GPU that is open the calling thread's: else its calls would open another one. Throws
/// Error.
void use_gpu(int ordinal);

}  // namespace millrace
