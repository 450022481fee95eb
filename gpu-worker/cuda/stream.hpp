// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "gpu-worker/cuda/cuda_check.hpp"

namespace millrace {

struct StreamDestroy {
  void operator()(cudaStream_t stream) const noexcept {
    note_cuda(cudaStreamDestroy(stream), "ending a stream");
  }
};
/// Owner of a stream that never waits for the default stream, which waits for resident kernels.
using Stream = std::unique_ptr<CUstream_st, StreamDestroy>;

inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return Stream(stream);
}

}  // namespace millrace
