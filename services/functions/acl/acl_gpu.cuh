// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/acl/acl_gpu.hpp"
#include "services/functions/acl/acl_key.hpp"
#include "services/functions/staged_packets.cuh"
#include "services/functions/warp.cuh"
#include "shared/base/packet_walk.hpp"

namespace millrace::acl {

/// One thread: what a packet is compared by; its word if it is compared by nothing. Version 0: the
/// word is there already.
__device__ inline std::uint32_t read_key(const StagedPackets& packets, std::uint32_t packet,
                                         bool conditions, AclKey& key) {
  FlowKey usual = packets.key[packet];
  if (usual.protocol == 0 && !conditions) {
    usual = flow_key(packets.head(packet), packets.staged[packet]);
  }
  std::uint32_t word = kAclNoRule;
  if (usual.protocol != 0) {
    acl_key_of(usual, key);
    return word;
  }
  const StagedFrame frame = packets.frame(packet);
  acl_walk_key(frame, walk_headers(frame), key, word);
  return word;
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

/// Where the vector of an address is looked for: among intervals [low, high]. `vector`: of `low`,
/// when no other is left.
struct Search {
  std::uint32_t low, high, vector;
};

/// One warp, two packets: cuts what is left in 16 parts. A lane looks at the first interval of one
/// of them, and already reads its vector. True: there is something left.
template <typename Address>
__device__ inline bool narrow(const AclIntervals<Address>& in, Address address, Search& search) {
  const std::uint32_t part = (search.high - search.low) / kPacketLanes + 1;
  const std::uint32_t own = search.low + threadIdx.x % kPacketLanes * part;
  const std::uint32_t at = min(own, search.high);
  const Address start = in.starts[at];
  const std::uint32_t vector = in.vectors[at];
  const unsigned passed = ballot_of_packet(own <= search.high && start <= address);
  const auto last = static_cast<std::uint32_t>(31 - __clz(static_cast<int>(passed | 1)));
  search.vector = __shfl_sync(kWholeWarp, vector, static_cast<int>(last), kPacketLanes);
  search.low += last * part;
  search.high = min(search.low + part - 1, search.high);
  return part != 1;
}

/// One warp, two packets: the vectors of each. `there`: this lane's half has one; else `of` stays.
template <typename Address>
__device__ inline void find_vectors(const AclBits<Address>& bits, const AclKey& key, bool there,
                                    AclVectors& of) {
  if (bits.rule_count == 0) return;
  Address source{}, destination{};
  acl_address(key.source, source);
  acl_address(key.destination, destination);
  const auto begin = [there](const AclIntervals<Address>& in, Address address) {
    const std::uint32_t* const first = in.first + acl_upper_16(address);
    return there ? Search{first[0], first[1], 0} : Search{};
  };
  Search from = begin(bits.source, source), to = begin(bits.destination, destination);
  const std::uint32_t transport = there ? bits.transport_of(key) : 0;
  bool more = true;
  while (__any_sync(kWholeWarp, more)) {
    const bool more_from = narrow(bits.source, source, from);
    more = narrow(bits.destination, destination, to) || more_from;
  }
  if (there) of = {from.vector, to.vector, transport};
}

/// Bits [64 * pair, 64 * pair + 64) that the three vectors have in common.
template <typename Address>
__device__ inline std::uint64_t common_of(const AclBits<Address>& bits, const AclVectors& of,
                                          std::uint32_t pair) {
  const auto* const all = reinterpret_cast<const std::uint64_t*>(bits.vectors);
  const std::uint32_t size = bits.block_count * kPacketLanes;  // 32 GB in all are not exceeded
  return all[of.source * size + pair] & all[of.destination * size + pair] &
         all[of.transport * size + pair];
}

/// The lowest of the values that the lanes of this one's packet have.
__device__ inline std::uint32_t lowest_of_packet(std::uint32_t value) {
  const unsigned lane = threadIdx.x % 32;
  return __reduce_min_sync(0xffffu << lane / kPacketLanes * kPacketLanes, value);
}

/// One warp, two packets: the word of AclBits::first_common() of each. `there`: this lane's half
/// has one; else `word` stays. `of`: its vectors. A lane takes the summary of a block, then two
/// words of each block that has candidates.
template <typename Address>
__device__ inline void first_common(const AclBits<Address>& bits, AclVectors of, bool there,
                                    std::uint32_t& word) {
  if (!there) of = {};
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
      // Read whether it counts or not: in a branch each would be waited for. (To leave out the
      // sectors without candidates was no faster.)
#pragma unroll
      for (std::uint32_t i = 0; i < kBlocksAtOnce; ++i) {
        const std::uint32_t block = blocks == 0 ? 0 : acl_lowest_bit(blocks);
        pair[i] = (base + block) * kPacketLanes + lane;
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
  if (there) word = rule == kNone ? kAclNoRule : bits.rules[rule] + 1;
}

/// Half a warp a packet, from its headers to its word; the words of AclBitsTable::look_up().
__device__ inline void compute(const AclGpuTable& table, const StagedPackets& packets,
                               std::uint32_t* words) {
  for (std::uint32_t base = packets.first; base < packets.end; base += blockDim.x / kPacketLanes) {
    const std::uint32_t packet = base + threadIdx.x / kPacketLanes;
    const bool active = packet < packets.end && packets.active[packet] != 0;
    AclKey key{};
    std::uint32_t word = kAclNoRule;
    if (active) word = read_key(packets, packet, table.bits.has_conditions(), key);
    const bool ipv4 = key.version == 4, ipv6 = key.version == 6;
    const bool any_ipv4 = __any_sync(kWholeWarp, ipv4), any_ipv6 = __any_sync(kWholeWarp, ipv6);
    AclVectors of{};
    if (any_ipv4) find_vectors(table.bits.ipv4, key, ipv4, of);
    if (any_ipv6) find_vectors(table.bits.ipv6, key, ipv6, of);
    if (any_ipv4) first_common(table.bits.ipv4, of, ipv4, word);
    if (any_ipv6) first_common(table.bits.ipv6, of, ipv6, word);
    if (active && threadIdx.x % kPacketLanes == 0) words[packet] = word;
  }
}

}  // namespace millrace::acl
