// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/flow/tcp_track.hpp"
#include "shared/base/limits.hpp"

/// What is known of one flow: three lines of a lane's state. A packet of direction d touches line d
/// and the last one.

namespace millrace {

/// A count of 48 bits.
class Count48 {
 public:
  std::uint64_t value() const noexcept {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes_.data(), bytes_.size());
    return value;
  }
  void add(std::uint64_t more) noexcept {
    const std::uint64_t sum = value() + more;
    std::memcpy(bytes_.data(), &sum, bytes_.size());
  }

 private:
  std::array<std::uint8_t, 6> bytes_;
};

/// What went in one direction; bytes from the IP header on, as it announces them.
struct FlowTraffic {
  Count48 packets, bytes;

  /// One packet more. (Each count by itself is read in two pieces and put together.)
  void add(std::uint64_t packet_bytes) noexcept {
    constexpr std::uint64_t kMask48 = (std::uint64_t{1} << 48) - 1;
    std::byte* const at = reinterpret_cast<std::byte*>(this);
    std::uint64_t first = 0, last = 0;  // bytes [0, 8) and [4, 12)
    std::memcpy(&first, at, sizeof first);
    std::memcpy(&last, at + 4, sizeof last);
    const std::uint64_t packets_now = (first + 1) & kMask48;
    const std::uint64_t bytes_now = (last >> 16) + packet_bytes;
    first = packets_now | bytes_now << 48;
    const auto rest = static_cast<std::uint32_t>(bytes_now >> 16);
    std::memcpy(at, &first, sizeof first);
    std::memcpy(at + sizeof first, &rest, sizeof rest);
  }
};
static_assert(sizeof(FlowTraffic) == 12);

/// What functions keep with a flow; all zero in a new one. Each changes its own fields alone.
struct FlowOwn {
  // Of `flow`.
  TcpTrack tcp;               ///< of a TCP flow
  std::uint64_t started_ms;   ///< since the topology started
  std::uint32_t duration_ms;  ///< up to its last packet
  std::uint8_t port_in;       ///< of the topology: where its first packet came in
  std::uint8_t answered : 1;  ///< 1: a packet of direction 1 has been seen
  /// Of the one that translates numbers of TCP (`firewall`). 1: both sides count what direction 1
  /// sends from different beginnings; `tcp` is as direction 0 counts.
  std::uint8_t renumbered : 1;
  std::uint8_t translated : 1;  ///< 1: its tuples are not each other reversed
  std::uint8_t spare : 5;
  std::uint8_t tcp_flags[2];  ///< all that packets of direction d had
  // Of others.
  std::uint32_t nat;  ///< `nat`; 0: not translated
  /// `firewall`: number of the rule that let it in, + 1, in 17 bits, 0: none; in the others, which
  /// of the lane's ConnectionCounts count it.
  std::uint32_t firewall;
};
static_assert(sizeof(FlowOwn) == kCacheLine);
static_assert(std::is_trivially_copyable_v<FlowOwn>);

struct FlowEntry {
  FlowTuple tuple;               ///< of its first packet: direction 0
  FlowTraffic sent;              ///< in direction 0
  std::uint32_t next, before;    ///< in its slot of the wheel: numbers + 1; 0: none
  std::uint32_t deadline_s;      ///< it ends then; since the topology started
  FlowTuple answer;              ///< of packets that answer: direction 1
  FlowTraffic answered;          ///< in direction 1
  std::uint32_t younger, older;  ///< among those that are not established; likewise
  std::uint16_t slot;            ///< of the wheel
  std::uint8_t used;             ///< 1: it is a flow
  std::uint8_t established;      ///< 1: it is not given up for a new one
  FlowOwn own;

  const FlowTuple& tuple_of(std::uint8_t direction) const noexcept {
    return direction == 0 ? tuple : answer;
  }
};
static_assert(sizeof(FlowEntry) == 3 * kCacheLine);
static_assert(offsetof(FlowEntry, answer) == kCacheLine);
static_assert(offsetof(FlowEntry, own) == 2 * kCacheLine);

}  // namespace millrace
