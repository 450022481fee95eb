// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <span>

#include "services/functions/flow/flow.hpp"
#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/flow/flow_settings.hpp"
#include "services/functions/flow/flow_sort.hpp"
#include "services/functions/frames.hpp"

namespace millrace {

/// Works on the flows of one batch, for the length of one call.
class FlowTracker {
 public:
  /// All are borrowed.
  FlowTracker(FlowBatch& batch, const FlowSettings& settings, const FinishContext& call) noexcept
      : batch_(batch),
        settings_(settings),
        call_(call),
        now_ms_(call.facts.now_ns / 1'000'000),
        now_s_(static_cast<std::uint32_t>(now_ms_ / 1000)) {}

  /// Ends flows at the end of their time; looks at `most`.
  void expire(std::uint32_t most) noexcept;
  /// Finds the flow of each packet, and what it is to that.
  void follow(std::span<const std::uint16_t> packets) noexcept;
  /// Behind the last function: writes a flow that has begun into the table if a question of it (a
  /// new packet, no later fragment) is not dropped. Otherwise the rest of its packets is dropped
  /// for `refused`: rules have taken them for answers to a question that did not pass. Packets of
  /// flows without room are dropped for `full`.
  EndOfBatch keep(Reason refused, Reason full) noexcept;

 private:
  using Found = std::optional<FlowTable::Found>;

  void follow_some(std::span<const std::uint16_t> packets) noexcept;
  std::uint64_t sort(std::span<const std::uint16_t> packets, const Frames& frames) noexcept;
  bool follow_usual_udp(PacketFlow& is, const std::byte* frame, const FlowTuple& tuple) noexcept;
  bool follow_usual_tcp(PacketFlow& is, const std::byte* frame, const FlowTuple& tuple) noexcept;
  /// Up to now.
  std::uint32_t duration_ms(const FlowOwn& own) const noexcept {
    const std::uint64_t since = now_ms_ - own.started_ms;
    return since > UINT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(since);
  }
  void follow_fragment(std::uint16_t packet, SortedPacket& sorted) noexcept;
  PacketFlow follow_one(std::uint16_t packet, const SortedPacket& sorted, Found found) noexcept;
  PacketFlow follow_error(Found found) noexcept;
  std::uint8_t flags_of(std::uint16_t packet, const SortedPacket& sorted) const noexcept;
  PacketFlow begin(std::uint16_t packet, const SortedPacket& sorted) noexcept;
  PacketFlow go_on(std::uint16_t packet, const SortedPacket& sorted, FlowTable::Found at) noexcept;
  std::optional<TcpSegment> segment_of(std::uint16_t packet,
                                       const SortedPacket& sorted) const noexcept;
  void renumber(std::uint32_t flow, TcpSegment& segment) const noexcept;
  void write(std::uint32_t flow, std::uint8_t direction, const FlowOwn& own,
             std::uint32_t deadline_s, std::uint32_t bytes) noexcept;
  void hit(FlowCounter counter, std::uint32_t times = 1) noexcept {
    call_.counters.hit(static_cast<std::size_t>(counter), times);
  }
  std::bitset<kBatchCapacityMax> asked() const noexcept;
  bool keep_one(FlowBatch::Beginning& one) noexcept;
  std::uint32_t refuse(std::uint32_t flow, Reason why) noexcept;

  FlowBatch& batch_;
  const FlowSettings& settings_;
  const FinishContext& call_;
  std::uint64_t now_ms_;
  std::uint32_t now_s_;
};

}  // namespace millrace
