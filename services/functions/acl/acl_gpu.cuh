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
  AclKey keys[kTicketPackets];  ///< version 0: the word is there already
  AclVectors vectors[kTicketPackets];
};

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

/// One warp: the word of AclBits::first_common(). A lane takes the summary of a block, then a word.
template <typename Address>
__device__ inline std::uint32_t first_common(const AclBits<Address>& bits, const AclVectors& of) {
  if (bits.rule_count == 0) return kAclNoRule;
  const std::uint32_t lane = threadIdx.x % 32, block_count = bits.block_count;
  const std::uint32_t *one = bits.summary(of.source), *two = bits.summary(of.destination),
                      *three = bits.summary(of.transport);
  for (std::uint32_t base = 0; base < block_count; base += 32) {
    const std::uint32_t own = base + lane;
    const std::uint32_t maybe = own < block_count ? one[own] & two[own] & three[own] : 0;
    for (unsigned blocks = __ballot_sync(kWholeWarp, maybe != 0); blocks != 0;
         blocks &= blocks - 1) {
      const std::uint32_t which = acl_lowest_bit(blocks);
      const std::uint32_t at = (base + which) * kAclBlockWords + lane;
      std::uint32_t common = 0;
      if ((__shfl_sync(kWholeWarp, maybe, static_cast<int>(which)) >> lane & 1) != 0) {
        common = bits.words(of.source)[at] & bits.words(of.destination)[at] &
                 bits.words(of.transport)[at];
      }
      const unsigned hits = __ballot_sync(kWholeWarp, common != 0);
      if (hits == 0) continue;
      const std::uint32_t first = acl_lowest_bit(hits);
      const std::uint32_t bit =
          acl_lowest_bit(__shfl_sync(kWholeWarp, common, static_cast<int>(first)));
      return bits.rules[(at - lane + first) * 32 + bit] + 1;
    }
  }
  return kAclNoRule;
}

/// A thread reads the headers of a packet, three find its vectors, a warp their first common bit;
/// the words of AclBitsTable::look_up().
__device__ inline void compute(const AclGpuTable& table, const StagedPackets& packets,
                               Scratch& scratch, std::uint32_t* words) {
  const AclBitsTable& bits = *table.bits;
  const std::uint32_t own = packets.first + threadIdx.x;
  if (own < packets.end) {
    scratch.keys[own].version = 0;
    if (packets.active[own] != 0) {
      const StagedFrame frame = packets.frame(own);
      std::uint32_t word = kAclNoRule;
      if (!acl_walk_key(frame, walk_headers(frame), scratch.keys[own], word)) words[own] = word;
    }
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
  for (std::uint32_t i = packets.first + threadIdx.x / 32; i < packets.end; i += blockDim.x / 32) {
    const std::uint32_t version = scratch.keys[i].version;
    if (version == 0) continue;
    const AclVectors of = scratch.vectors[i];
    const std::uint32_t word =
        version == 4 ? first_common(bits.ipv4, of) : first_common(bits.ipv6, of);
    if (threadIdx.x % 32 == 0) words[i] = word;
  }
}

}  // namespace millrace::acl
