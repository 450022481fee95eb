// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/stream/stream_table.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"

namespace millrace {

/// The streams of a lane, batch by batch.
struct StreamMemory {
  explicit StreamMemory(StreamTable::Shape of)
      : shape(of), lane({.state_bytes = StreamTable::bytes_for(of), .undo_lines = 10'000}) {
    begin_batch();
  }
  StreamTable table() const { return {lane.state, shape, {1, 2}}; }
  void begin_batch() { lane.state.undo.begin(0, ++batch); }
  /// As recovery does when the worker has died amid the batch.
  LaneUndoLog::Undone take_back() const { return lane.state.undo.undo(0, batch); }

  StreamTable::Shape shape;
  LaneMemory lane;
  std::uint64_t batch = 0;
};

inline FlowTuple tuple_number(std::uint16_t number) {
  FlowTuple tuple{.source_port = number, .destination_port = 80, .protocol = 6, .version = 4};
  tuple.source[0] = 10;
  tuple.destination[0] = 192;
  return tuple;
}

}  // namespace millrace
