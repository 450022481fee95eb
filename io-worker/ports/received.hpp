// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "io-worker/ports/port.hpp"
#include "shared/base/limits.hpp"

namespace millrace {

/// Bytes of a packet that fit into a buffer behind its headroom; at most what a length column
/// holds.
inline std::uint32_t buffer_room(BufferArea area) noexcept {
  return std::min<std::uint32_t>(area.stride - kBufferHeadroom, UINT16_MAX);
}

/// Describes a packet of a capture as it lies in buffer `buffer`, before its bytes are copied
/// there: cut to the buffer and marked oversize when it is longer. Its length on the wire is never
/// less than what was captured, whatever a bad file says. Ordinal and time stay as they are.
inline void describe_received(RxPacket& packet, std::uint32_t buffer, std::size_t captured,
                              std::uint32_t wire_length, std::uint32_t room) noexcept {
  packet.buffer = buffer;
  packet.offset = kBufferHeadroom;
  packet.length = static_cast<std::uint16_t>(std::min<std::size_t>(captured, room));
  packet.oversize = captured > room;
  packet.wire_length = std::max(wire_length, static_cast<std::uint32_t>(captured));
}

}  // namespace millrace
