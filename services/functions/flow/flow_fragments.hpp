// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/function.hpp"
#include "shared/base/packet.hpp"

namespace millrace {

/// Virtual reassembly: the first fragment of a packet says its ports, for those that follow. In a
/// lane's state, zero at the start: sets of four entries, one line each; a new packet takes the
/// place of the oldest of its set. A later fragment that comes before the first one is not known.
class FlowFragments {
 public:
  static constexpr std::uint32_t kSets = 64, kWays = 4;
  static constexpr std::uint64_t kBytes = std::uint64_t{kSets} * kWays * kCacheLine;
  /// Seconds for which fragments of a packet are waited for (RFC 791 3.2; conntrack: 30).
  static constexpr std::uint32_t kTimeoutS = 30;

  /// The state's bytes [at, at + kBytes).
  FlowFragments(const LaneState& state, std::size_t at) noexcept : state_(state), at_(at) {}

  /// A first fragment: `tuple` is that of the packet. Changes one line.
  void remember(std::span<const std::byte> frame, const PacketHeaders& headers,
                const FlowTuple& tuple, std::uint32_t now_s) noexcept;
  /// A later fragment's tuple, as the first one has it; nothing: that has not come.
  std::optional<FlowTuple> tuple_of(std::span<const std::byte> frame, const PacketHeaders& headers,
                                    std::uint32_t now_s) const noexcept;

 private:
  struct Entry;

  Entry* set_of(const FlowTuple& addresses, std::uint32_t id) const noexcept;

  LaneState state_;
  std::size_t at_;
};

}  // namespace millrace
