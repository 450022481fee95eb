// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "services/functions/function.hpp"
#include "shared/layout/lane_undo_log.hpp"
#include "shared/layout/mapping.hpp"

namespace millrace {

/// What a function has of a lane: its state, zero at first, and the undo log behind it.
struct LaneMemory {
  explicit LaneMemory(const LaneNeeds& needs)
      : memory(Mapping::create_anonymous(needs.state_bytes +
                                         LaneUndoLog::bytes_for(needs.undo_lines))),
        state{{memory.base(), needs.state_bytes},
              LaneUndoLog(
                  {memory.base() + needs.state_bytes, LaneUndoLog::bytes_for(needs.undo_lines)},
                  needs.undo_lines, {memory.base(), needs.state_bytes})} {}

  std::vector<std::byte> copy() const { return {state.bytes.begin(), state.bytes.end()}; }

  Mapping memory;
  LaneState state;
};

}  // namespace millrace
