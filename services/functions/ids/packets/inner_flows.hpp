// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/ids/packets/aged_table.hpp"

namespace millrace {

/// Flows of packets that tunnels carry, in a lane's state: `flow` does not know them. The sender of
/// the first packet is the client, but for a SYN+ACK. They end by time alone: a RST would have to
/// be believed. Numbers of TCP are not held against windows.
///
/// A cheap view; one thread.
class InnerFlows {
 public:
  /// FlowTuple::zone of their tuples, so that streams and records of `flow`'s are others.
  static constexpr std::uint16_t kZone = 0xffff;
  /// Without a packet for so long a flow ends; for the second, when there is no room for another.
  static constexpr std::uint32_t kTimeoutS = 600, kRoomTimeoutS = 30;
  /// Flows that end with one call of follow() at most.
  static constexpr std::uint32_t kEndsMax = 2;
  /// Lines of the state that follow() changes at most.
  static constexpr std::uint32_t kLinesOfFollow =
      AgedTable::kLinesOfBegin + AgedTable::kLinesOfSee + 1 + kEndsMax * AgedTable::kLinesOfEnd;

  static std::uint64_t bytes_for(std::uint32_t flows) noexcept {
    return AgedTable::bytes_for(flows);
  }
  InnerFlows(const LaneState& state, std::uint64_t at, std::uint32_t flows,
             const std::array<std::uint64_t, 2>& secret) noexcept
      : table_(state, at, flows, secret) {}

  struct Followed {
    PacketFlow flow{};                        ///< `flow` is kNoFlow
    const FlowTuple* tuple = nullptr;         ///< of direction 0; null: there is no room
    std::array<FlowTuple, kEndsMax> ended{};  ///< of flows that have ended
    std::uint32_t ended_count = 0;
  };
  /// A packet of a flow. `tuple`: as flow_tuple_of() has it. `tuple` of the answer is good until
  /// the next call.
  Followed follow(std::span<const std::byte> frame, const PacketHeaders& headers, FlowTuple tuple,
                  std::uint32_t now_s) noexcept;

  std::uint32_t count() const noexcept { return table_.count(); }  ///< that there are

 private:
  struct Own;
  static Own& own_of(AgedEntry& entry) noexcept;
  void end_oldest(std::uint32_t idle_s, std::uint32_t now_s, Followed& followed) noexcept;
  AgedEntry* begin(const FlowTuple& tuple, std::uint32_t now_s, Followed& followed) noexcept;

  AgedTable table_;
};

}  // namespace millrace
