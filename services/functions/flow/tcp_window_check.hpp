// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/flow/tcp_track.hpp"

/// For tcp_track.cpp: whether a segment is within what both sides have sent and have room for.

namespace millrace {

/// Of sequence numbers less than 2^31 apart (RFC 9293 3.4).
inline bool tcp_before(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>(a - b) < 0;
}

enum class TcpWindowCheck : std::uint8_t {
  kIn,       ///< nothing is learnt from it
  kUpdated,  ///< it is in the window, and both sides of the track are up to date with it
  kIgnored,  ///< old, or a little beyond the window: harmless
  kOut,
};

/// Four bounds: a segment may not end beyond the room that was announced, nor acknowledge what was
/// not sent; it may not lie, nor acknowledge what lies, more than a window behind the newest.
TcpWindowCheck check_tcp_window(TcpTrack& track, std::uint8_t direction, const TcpSegment& segment,
                                const TcpPolicy& policy) noexcept;

}  // namespace millrace
