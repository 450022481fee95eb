// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/stream/stream_table.hpp"
#include "shared/layout/mapping.hpp"

namespace millrace {

/// The state of a lane with its undo log.
struct StreamMemory {
  explicit StreamMemory(StreamTable::Shape of, std::uint32_t lines = 10'000)
      : shape(of),
        memory(Mapping::create_anonymous(state_bytes() + LaneUndoLog::bytes_for(lines))),
        state{{memory.base(), state_bytes()},
              LaneUndoLog({memory.base() + state_bytes(), LaneUndoLog::bytes_for(lines)}, lines,
                          {memory.base(), state_bytes()})} {
    begin_batch();
  }
  StreamTable table() const { return {state, shape, {1, 2}}; }
  void begin_batch() { state.undo.begin(0, ++batch); }
  /// As recovery does when the worker has died amid the batch.
  LaneUndoLog::Undone take_back() const { return state.undo.undo(0, batch); }
  std::uint64_t state_bytes() const {
    return (StreamTable::bytes_for(shape) + kCacheLine - 1) / kCacheLine * kCacheLine;
  }

  StreamTable::Shape shape;
  Mapping memory;
  LaneState state;
  std::uint64_t batch = 0;
};

inline FlowTuple tuple_number(std::uint16_t number) {
  FlowTuple tuple{.source_port = number, .destination_port = 80, .protocol = 6, .version = 4};
  tuple.source[0] = 10;
  tuple.destination[0] = 192;
  return tuple;
}

}  // namespace millrace
