// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/stream/overlap_policy.hpp"

namespace millrace {

/// A segment with data of a TCP flow.
struct StreamSegment {
  const FlowTuple& tuple;  ///< of the flow's direction 0
  std::uint8_t direction;  ///< of the segment
  std::uint32_t sequence;  ///< of its first byte
  /// By direction: what its receiver has acknowledged so far; nothing: it has sent no ACK.
  std::array<std::optional<std::uint32_t>, 2> acknowledged;
  /// The flow began before its packets were seen: what is before its first segment is not known.
  bool is_picked_up;
  std::span<const std::byte> data;  ///< 1..65,535 bytes
  bool begins = false;              ///< of a SYN: the stream begins with it
  /// Its receiver has been heard; else `acknowledged` is a guess.
  bool is_answered = true;
  OverlapPolicy overlaps = OverlapPolicy::kNone;  ///< of its receiver

  std::uint32_t end() const noexcept { return sequence + static_cast<std::uint32_t>(data.size()); }
  SegmentExtent extent() const noexcept { return {sequence, end()}; }
};

}  // namespace millrace
