// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/hanging_kernel.hpp"

#include <atomic>

#include "gpu-worker/cuda/cuda_check.hpp"
#include "gpu-worker/cuda/gpu.hpp"
#include "gpu-worker/resident/dispatcher.cuh"
#include "gpu-worker/resident/resident.hpp"
#include "gpu-worker/resident/tickets.cuh"

namespace millrace {
namespace {

constexpr std::uint32_t kBlocks = 8, kThreads = 32;
constexpr unsigned kHangNs = 1000;

const std::uint32_t* g_hang = nullptr;  // of the HangSwitch that lives; the CPU's

__device__ void hang_while(const std::uint32_t* hang, test::Hang what) {
  while (resident::load_system(hang) == static_cast<std::uint32_t>(what)) __nanosleep(kHangNs);
}

__device__ void answer(const resident::Arguments& arguments, const resident::Ticket& ticket) {
  const std::uint32_t first = ticket.part << ticket.part_bits;
  const std::uint32_t end = min(first + (1u << ticket.part_bits), ticket.count);
  std::uint32_t* results = arguments.results + std::size_t{ticket.slot} * arguments.result_words;
  for (std::uint32_t packet = first; packet < end; ++packet) {
    resident::store_system(results + packet, 0u);
  }
}

__global__ void hanging_kernel(const resident::Arguments arguments, const std::uint32_t* hang) {
  if (blockIdx.x == 0) {
    hang_while(hang, test::Hang::kDispatcher);
    __syncwarp();
    resident::dispatch(arguments);
    return;
  }
  if (threadIdx.x != 0) return;
  for (std::uint64_t word = 0; resident::wait_for_ticket(arguments, word);) {
    hang_while(hang, test::Hang::kBlocks);
    answer(arguments, resident::Ticket::from_word(word));
  }
}

}  // namespace

namespace test {

HangSwitch::HangSwitch(Hang what) {
  open_gpu(0);
  word_ = make_host_memory(sizeof(std::uint32_t));
  auto* const word = reinterpret_cast<std::uint32_t*>(word_.get());
  *word = static_cast<std::uint32_t>(what);
  g_hang = word;
}

HangSwitch::~HangSwitch() { g_hang = nullptr; }

void HangSwitch::let_go() noexcept {
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(word_.get())).store(0);
}

}  // namespace test

namespace resident {

std::uint32_t load_kernel() {
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, hanging_kernel), "loading the kernel");
  return kBlocks;
}

void launch_kernel(const Arguments& arguments, std::uint32_t blocks, CUstream_st* stream) {
  hanging_kernel<<<blocks, kThreads, 0, stream>>>(arguments, g_hang);
  check_cuda(cudaGetLastError(), "starting the kernel");
}

}  // namespace resident
}  // namespace millrace
