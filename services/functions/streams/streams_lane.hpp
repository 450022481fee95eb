// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "services/functions/function.hpp"
#include "services/functions/ids/packets/fragment_table.hpp"
#include "services/functions/ids/packets/inner_flows.hpp"
#include "services/functions/ids/tuple_table.hpp"
#include "services/functions/streams/told_bytes.hpp"
#include "shared/config/known.hpp"

namespace millrace {

/// A TCP connection of which bytes are told.
struct ToldStream {
  FlowTuple tuple;           ///< of the flow's direction 0
  std::uint32_t link;        ///< the table's
  std::uint32_t connection;  ///< number in its lane; 0: nothing has been told of it
  std::uint64_t begun_tsc;
  std::uint64_t padding;
  ToldBytes side[2];  ///< by the flow's direction
};
static_assert(sizeof(ToldStream) == 7 * kCacheLine && std::is_trivially_copyable_v<ToldStream>);

/// Of all connections of a lane.
struct ToldCounts {
  std::uint32_t connections;  ///< that have been told of, ever
};

/// What `streams` keeps in a lane's state.
struct StreamsTables {
  TupleTable<ToldStream, ToldCounts> streams;
  FragmentTable fragments;
  InnerFlows inner_flows;
};

/// Finds it there. At its end the state says how it is laid out: after a reload with other room
/// there is none, until a restart. One a worker.
class StreamsLane {
 public:
  /// `streams`: at once, of all lanes together. Draws a secret for hashes; throws where there is no
  /// source of random numbers.
  explicit StreamsLane(std::uint64_t streams);

  static LaneNeeds needs_of(std::uint64_t streams, const LaneRequest& request);

  /// Of the lane of `facts`. Lays the state out where nothing has so far. Nothing: there is no
  /// state, or it is laid out for other room. Takes one line of the undo log.
  std::optional<StreamsTables> tables_of(const LaneState& state,
                                         const BatchFacts& facts) const noexcept;
  /// Likewise of a lane that tables_of() has been called for; nothing also before that.
  std::optional<StreamsTables> laid_out(const LaneState& state) const noexcept;

 private:
  std::uint64_t streams_;
  std::array<std::uint64_t, 2> secret_;
};

}  // namespace millrace
