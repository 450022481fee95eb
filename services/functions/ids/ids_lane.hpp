// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "services/functions/function.hpp"
#include "services/functions/ids/flow_records.hpp"
#include "services/functions/ids/packets/fragment_table.hpp"
#include "services/functions/ids/packets/inner_flows.hpp"
#include "services/functions/ids/packets/packet_layers.hpp"
#include "services/functions/ids/refused_flows.hpp"
#include "services/functions/ids/rule_counts.hpp"
#include "services/functions/stream/stream_lane.hpp"
#include "services/functions/stream/stream_table.hpp"
#include "shared/config/known.hpp"

namespace millrace {

/// What `ids` keeps in a lane's state.
struct IdsTables {
  StreamTable streams;
  FlowRecords records;
  RuleCounts counts;
  FragmentTable fragments;
  InnerFlows inner_flows;
  RefusedFlows refused;

  /// A flow ends: its stream, and what is known of it but that a rule has dropped it.
  void end(const FlowTuple& tuple, std::uint32_t now_s) noexcept;
};

/// Null: there is no state.
inline LayerTables layer_tables_of(IdsTables* tables) noexcept {
  if (tables == nullptr) return {};
  return {&tables->fragments, &tables->inner_flows};
}

/// Finds it there. One a worker.
class IdsLane {
 public:
  /// Counts of rules of one packet at most; more are not counted.
  static constexpr std::uint32_t kCountsOfPacket = 16;
  /// Packets that are looked at with one: itself, and what it makes whole and carries.
  static constexpr std::uint32_t kLayersMax = PacketLayers::kLayersMax;

  /// Draws a secret for hashes; throws where there is no source of random numbers.
  explicit IdsLane(const StreamRoom& room);

  static LaneNeeds needs_of(const StreamRoom& room, const LaneRequest& request);

  /// As StreamLane::table_of().
  std::optional<IdsTables> tables_of(const LaneState& state,
                                     const BatchFacts& facts) const noexcept;
  /// As StreamLane::laid_out().
  std::optional<IdsTables> laid_out(const LaneState& state) const noexcept;

 private:
  std::optional<IdsTables> tables_behind(const LaneState& state,
                                         const std::optional<StreamTable>& streams) const noexcept;

  StreamLane lane_;
  std::array<std::uint64_t, 2> secret_;
};

}  // namespace millrace
