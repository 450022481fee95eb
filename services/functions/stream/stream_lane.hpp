// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "services/functions/function.hpp"
#include "services/functions/stream/stream_table.hpp"
#include "shared/config/known.hpp"

namespace millrace {

/// Room for streams, of all lanes together.
struct StreamRoom {
  std::uint64_t streams = 32'768;  ///< at once
  std::uint64_t memory_mb = 64;    ///< MB of blocks
  /// Bytes of the function's own behind the table, by the streams of a lane: whole lines. Null:
  /// there are none.
  std::uint64_t (*own_bytes)(std::uint32_t streams) = nullptr;
};

/// The StreamTable of a lane, and behind it what the function keeps beside. At its end the state
/// says how it is laid out: after a reload with other room there is none, until a restart.
class StreamLane {
 public:
  /// Draws a secret for hashes; throws where there is no source of random numbers.
  explicit StreamLane(const StreamRoom& room);

  /// `lines_of_packet`: of the undo log, beside those of streams that end.
  static LaneNeeds needs_of(const StreamRoom& room, const LaneRequest& request,
                            std::uint32_t lines_of_packet);

  /// Of the lane of `facts`. Lays the state out where nothing has so far. Nothing: there is no
  /// state, or it is laid out for other room. Takes one line of the undo log.
  std::optional<StreamTable> table_of(const LaneState& state,
                                      const BatchFacts& facts) const noexcept;
  /// Likewise of a lane that table_of() has been called for; nothing also before that.
  std::optional<StreamTable> laid_out(const LaneState& state) const noexcept;

 private:
  StreamRoom room_;
  std::array<std::uint64_t, 2> secret_;
};

}  // namespace millrace
