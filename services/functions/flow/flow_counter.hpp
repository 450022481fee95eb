// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace millrace {

/// Numbers of FunctionCounters. Of flows up to kTableFull, then of packets.
enum class FlowCounter : std::uint8_t {
  kBegun,             ///< written into the table
  kEnded,             ///< and gone from it, whatever for; begun - ended are there
  kEstablished,       ///< have lasted: FlowEntry::established has been set
  kEstablishedEnded,  ///< of these, gone or closing; established - these are there
  kExpired,           ///< of the ended: by time
  kGivenUp,           ///< of the ended: for room
  kTableFull,         ///< not begun: no room, or packets with their tuple are another flow's
  kUntracked,
  kInvalid,
  kNew,
  kEstablishedPackets,
  kRelated,
  kCount
};

}  // namespace millrace
