// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/acl/acl_gpu.hpp"
#include "services/functions/acl/acl_key.hpp"
#include "services/functions/staged_packets.cuh"
#include "services/functions/warp.cuh"
#include "shared/base/packet_walk.hpp"

namespace millrace::acl {

/// What a block keeps in shared memory for `acl`.
struct Scratch {
  AclBitsTable
      bits;  ///< pointers and counts of the table: asked for by all threads, again and again
  AclKey keys[kTicketPackets];  ///< version 0: the word is there already
  AclVectors vectors[kTicketPackets];
};

/// One thread: what a packet is compared by; its word if it is compared by nothing.
__device__ inline std::uint32_t read_key(const StagedPackets& packets, std::uint32_t packet,
                                         AclKey& key) {
  FlowKey usual = packets.key[packet];
  if (usual.protocol == 0 && packets.staged[packet] >= kFlowKeyBytes) {
    usual = usual_flow_key(packets.head(packet));
  }
  std::uint32_t word = kAclNoRule;
  if (usual.protocol != 0) {
    acl_key_of(usual, key);
  } else {
    const StagedFrame frame = packets.frame(packet);
    acl_walk_key(frame, walk_headers(frame), key, word);
  }
  return word;
}

/// One thread: one of the three vectors of a packet.
template <typename Address>
__device__ inline void find_vector(const AclBits<Address>& bits, const AclKey& key,
                                   std::uint32_t which, AclVectors& to) {
  if (bits.rule_count == 0) return;
  Address address{};
  if (which == 0) {
    acl_address(key.source, address);
    to.source = bits.source.find(address);
  } else if (which == 1) {
    acl_address(key.destination, address);
    to.destination = bits.destination.find(address);
  } else {
    to.transport = bits.transport_of(key);
  }
}

/// Lanes that look at a packet together: a warp has two packets at a time.
inline constexpr std::uint32_t kPacketLanes = 16;
/// Blocks of a packet's vectors that are read at a time, without waiting for each other.
inline constexpr std::uint32_t kBlocksAtOnce = 4;
static_assert(kAclBlockWords == 2 * kPacketLanes);

inline constexpr std::uint32_t kNone = UINT32_MAX;

/// What `mine` is true for, one bit a lane, among the lanes of this one's packet.
__device__ inline unsigned ballot_of_packet(bool mine) {
  const unsigned lane = threadIdx.x % 32;
  return __ballot_sync(kWholeWarp, mine) >> lane / kPacketLanes * kPacketLanes & 0xffff;
}

/// Bits [64 * pair, 64 * pair + 64) that the three vectors have in common.
template <typename Address>
__device__ inline std::uint64_t common_of(const AclBits<Address>& bits, const AclVectors& of,
                                          std::uint32_t pair) {
  const auto pairs = [&](std::uint32_t vector) {
    return reinterpret_cast<const std::uint64_t*>(bits.words(vector))[pair];
  };
  return pairs(of.source) & pairs(of.destination) & pairs(of.transport);
}

/// The lowest of the values that the lanes of this one's packet have.
__device__ inline std::uint32_t lowest_of_packet(std::uint32_t value) {
  const unsigned lane = threadIdx.x % 32;
  return __reduce_min_sync(0xffffu << lane / kPacketLanes * kPacketLanes, value);
}

/// One warp, two packets: the word of AclBits::first_common() of each. `there`: this lane's half
/// has one; `of`: its vectors, else zeros. A lane takes the summary of a block, then two of its
/// words.
template <typename Address>
__device__ inline std::uint32_t first_common(const AclBits<Address>& bits, const AclVectors& of,
                                             bool there) {
  const std::uint32_t lane = threadIdx.x % kPacketLanes, block_count = bits.block_count;
  std::uint32_t rule = kNone;  // number of the bit
  for (std::uint32_t base = 0; base < block_count; base += kPacketLanes) {
    const std::uint32_t own = base + lane;
    std::uint32_t maybe = 0;
    if (there && rule == kNone && own < block_count) {
      maybe = bits.summary(of.source)[own] & bits.summary(of.destination)[own] &
              bits.summary(of.transport)[own];
    }
    unsigned blocks = ballot_of_packet(maybe != 0);
    while (__any_sync(kWholeWarp, blocks != 0)) {
      std::uint64_t common[kBlocksAtOnce];
      std::uint32_t pair[kBlocksAtOnce];
      // Read whether it counts or not: in a branch each would be waited for.
#pragma unroll
      for (std::uint32_t i = 0; i < kBlocksAtOnce; ++i) {
        const std::uint32_t which = blocks == 0 ? 0 : acl_lowest_bit(blocks);
        pair[i] = (base + which) * kPacketLanes + lane;
        const std::uint64_t read = common_of(bits, of, pair[i]);
        common[i] = blocks != 0 ? read : 0;
        blocks &= blocks - 1;
      }
      std::uint32_t first = kNone;
#pragma unroll
      for (std::uint32_t i = kBlocksAtOnce; i-- > 0;) {
        const auto bit = static_cast<std::uint32_t>(__ffsll(static_cast<long long>(common[i])));
        if (bit != 0) first = pair[i] * 64 + bit - 1;
      }
      first = lowest_of_packet(first);
      if (first == kNone) continue;
      rule = first;
      blocks = 0;
    }
  }
  return rule == kNone ? kAclNoRule : bits.rules[rule] + 1;
}

/// A thread reads the headers of a packet, three find its vectors, half a warp their first common
/// bit; the words of AclBitsTable::look_up().
__device__ inline void compute(const AclGpuTable& table, const StagedPackets& packets,
                               Scratch& scratch, std::uint32_t* words) {
  const AclBitsTable& bits = scratch.bits;
  if (threadIdx.x >= kTicketPackets) {
    copy_words(*table.bits, scratch.bits, threadIdx.x - kTicketPackets,
               blockDim.x - kTicketPackets);
  }
  const std::uint32_t own = packets.first + threadIdx.x;
  if (own < packets.end) {
    scratch.keys[own].version = 0;
    if (packets.active[own] != 0) words[own] = read_key(packets, own, scratch.keys[own]);
  }
  __syncthreads();
  const std::uint32_t packet = packets.first + threadIdx.x % kTicketPackets;
  const std::uint32_t which = threadIdx.x / kTicketPackets;
  if (which < 3 && packet < packets.end) {
    const AclKey& key = scratch.keys[packet];
    if (key.version == 4) find_vector(bits.ipv4, key, which, scratch.vectors[packet]);
    if (key.version == 6) find_vector(bits.ipv6, key, which, scratch.vectors[packet]);
  }
  __syncthreads();
  for (std::uint32_t base = packets.first; base < packets.end; base += blockDim.x / kPacketLanes) {
    const std::uint32_t own_packet = base + threadIdx.x / kPacketLanes;
    const std::uint32_t version = own_packet < packets.end ? scratch.keys[own_packet].version : 0;
    const auto of = [&](std::uint32_t family) {
      return version == family ? scratch.vectors[own_packet] : AclVectors{};
    };
    std::uint32_t word = kAclNoRule;
    if (__any_sync(kWholeWarp, version == 4)) word = first_common(bits.ipv4, of(4), version == 4);
    if (__any_sync(kWholeWarp, version == 6)) {
      const std::uint32_t other = first_common(bits.ipv6, of(6), version == 6);
      if (version == 6) word = other;
    }
    if (version != 0 && threadIdx.x % kPacketLanes == 0) words[own_packet] = word;
  }
}

}  // namespace millrace::acl
