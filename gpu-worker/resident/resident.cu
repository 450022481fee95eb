// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "gpu-worker/resident/resident.hpp"

#include "gpu-worker/cuda/cuda_check.hpp"
#include "gpu-worker/resident/dispatcher.cuh"
#include "gpu-worker/resident/functions.cuh"
#include "gpu-worker/resident/staging.cuh"
#include "gpu-worker/resident/tickets.cuh"

namespace millrace::resident {
namespace {

/// Shared memory of a block.
struct Block {
  alignas(16) std::uint8_t stage[kStageBytes + kStageSlack];
  Chain chain;
  StagedPackets packets;
  TicketColumns columns;
  std::uint32_t words[kStageFunctionCountMax][kTicketPackets];
  FunctionScratch scratch;
  std::uint64_t ticket;
  bool stopped;
};

/// All warps but the first, which has columns to read meanwhile: the chain comes from the GPU's
/// memory each time, for its tables may have changed.
__device__ void read_chain(const Chain& from, Chain& to) {
  copy_words(from, to, threadIdx.x - 32, blockDim.x - 32);
}

/// Which packets of the group a member looks at: select_packets(), and none that an earlier member
/// ends.
__device__ void select(Block& block, std::uint32_t member) {
  const std::uint32_t packet = threadIdx.x;
  if (packet >= kTicketPackets) return;
  StagedPackets& packets = block.packets;
  bool active =
      packet >= packets.first && packet < packets.end && block.columns.passes[packet] != 0;
  const std::uint32_t when = block.chain.members[member].when_class;
  active = active && (when == 0 || (block.columns.classes[packet] & when) != 0);
  packets.active[packet] = active;
  if (!active && packet >= packets.first && packet < packets.end) block.words[member][packet] = 0;
}

/// A block that ends here takes no part any more.
__device__ void note_ends(Block& block, std::uint32_t member) {
  const std::uint32_t packet = threadIdx.x;
  if (block.chain.members[member].ends_packets == 0 || packet >= kTicketPackets ||
      block.packets.active[packet] == 0)
    return;
  if (ends(block.chain.members[member].table, block.words[member][packet])) {
    block.columns.passes[packet] = 0;
  }
}

/// All functions of the chain over packets [first, end).
__device__ void compute_group(Block& block) {
  const std::uint32_t members = min(block.chain.member_count, kStageFunctionCountMax);
  for (std::uint32_t member = 0; member < members; ++member) {
    select(block, member);
    __syncthreads();
    compute(block.chain.members[member].table, block.packets, block.scratch, block.words[member]);
    __syncthreads();
    if (member + 1 == members) break;
    note_ends(block, member);
    __syncthreads();
  }
}

/// One warp: the words of the ticket go to the result area. Each tells the CPU of itself that it is
/// there, in whatever order they arrive.
__device__ void write_results(const Arguments& arguments, const Ticket& ticket,
                              const Block& block) {
  std::uint32_t* results = arguments.results + std::size_t{ticket.slot} * arguments.result_words +
                           (ticket.part << ticket.part_bits);
  const std::uint32_t packet = threadIdx.x;
  if (packet >= block.columns.count) return;
  const std::uint32_t members = min(block.chain.member_count, kStageFunctionCountMax);
  for (std::uint32_t member = 0; member < members; ++member) {
    store_system(results + member * arguments.capacity + packet, block.words[member][packet]);
  }
}

/// All packets of the ticket, in groups whose bytes fit into the stage.
__device__ void fetch_and_compute(Block& block) {
  const std::uint32_t frame_bytes = block.chain.frame_bytes;
  while (block.packets.first < block.columns.count) {
    if (threadIdx.x < 32) place_packets(block.columns, frame_bytes, block.packets);
    __syncthreads();
    fetch_packets(block.packets, frame_bytes);
    __syncthreads();
    compute_group(block);
    if (threadIdx.x == 0) block.packets.first = block.packets.end;
    __syncthreads();
  }
}

__device__ void work_on(const Arguments& arguments, const Ticket& ticket, Block& block) {
  bool has_bytes = false;
  if (threadIdx.x < 32) {
    has_bytes = read_columns(arguments, ticket, block.columns, block.packets);
  } else {
    read_chain(arguments.chains[min(ticket.chain, kChainCount - 1)], block.chain);
  }
  if (__syncthreads_or(has_bytes) != 0) {
    fetch_and_compute(block);
  } else {
    compute_group(block);  // keys say all
  }
  if (threadIdx.x < 32) write_results(arguments, ticket, block);
}

__global__ void __launch_bounds__(kBlockThreads, kBlocksPerMultiprocessor)
    resident_kernel(const Arguments arguments) {
  extern __shared__ __align__(16) std::byte shared[];
  if (blockIdx.x == 0) {
    if (threadIdx.x < 32) dispatch(arguments);
    return;
  }
  Block& block = *reinterpret_cast<Block*>(shared);
  if (threadIdx.x == 0) {
    block.packets.stage = block.stage;
    block.scratch.match.filter_serial = 0;
  }
  for (;;) {
    if (threadIdx.x == 0) block.stopped = !wait_for_ticket(arguments, block.ticket);
    __syncthreads();
    if (block.stopped) return;
    work_on(arguments, Ticket::from_word(block.ticket), block);
    __syncthreads();
  }
}

}  // namespace

std::uint32_t load_kernel() {
  check_cuda(cudaFuncSetAttribute(resident_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  sizeof(Block)),
             "loading the kernel");
  int device = 0, processors = 0, blocks = 0;
  check_cuda(cudaGetDevice(&device), "asking for the GPU");
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
             "asking for the GPU's size");
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, resident_kernel, kBlockThreads,
                                                           sizeof(Block)),
             "asking how many blocks fit");
  if (blocks == 0) throw Error("this GPU has too little shared memory for the resident kernel");
  return static_cast<std::uint32_t>(processors * blocks);
}

void launch_kernel(const Arguments& arguments, std::uint32_t blocks, CUstream_st* stream) {
  resident_kernel<<<blocks, kBlockThreads, sizeof(Block), stream>>>(arguments);
  check_cuda(cudaGetLastError(), "starting the kernel");
}

}  // namespace millrace::resident
