// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"

/// `streams`: tells the process `events` of the bytes of TCP connections, which writes them into
/// files (services/events/stream_files.hpp, and README.md in this folder). It stands behind `flow`
/// in its stage. Every packet passes, unchanged; result words are 0.

namespace millrace {

/// Entries of FunctionCounters::hits: segments with data. The README has them too.
enum class StreamsCounter : std::uint8_t {
  kTold,       ///< that brought new bytes
  kSeen,       ///< of which all bytes were known, or behind the depth
  kNoFlow,     ///< not told: data of no connection, against its state, or of a RST
  kUnread,     ///< not told: cut, or a fragment of a datagram that cannot be put together
  kChecksum,   ///< not told: a wrong checksum
  kNoRoom,     ///< not told: no room for their connection
  kMidstream,  ///< not told: the beginning of their connection was not seen, and `pickup` is false
  kLost,       ///< new bytes of them found no room in the ring of events
  kCount
};

FunctionType streams_type();

}  // namespace millrace
