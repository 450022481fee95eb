// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Owner mark of a buffer: 32 bits, kind and number. Written with plain stores by the owner of the
/// buffer; read by others only when that actor is known to be dead. What a link holds belongs to
/// the link whatever the mark says.

namespace millrace {

enum class MarkKind : std::uint8_t {
  kHand = 1,  ///< of actor `number`, an ingress or an egress: its free list, or between two steps
  kSlot = 2,  ///< in slot `number`, or on its way back from it
  kRx = 3,    ///< in the receive queue (a driver's ring) of stream `number`, or just out of it
  kTx = 4,    ///< in a transmit queue of egress `number`, or on its way back from it
  kHub = 5,   ///< with recovery
  kSide = 6,  ///< of the pool of egress `number`, with a packet in it
};

struct Mark {
  MarkKind kind = MarkKind::kHand;
  std::uint32_t number = 0;  ///< 24 bits
  friend constexpr bool operator==(Mark, Mark) = default;
  constexpr std::uint32_t word() const { return static_cast<std::uint32_t>(kind) << 24 | number; }
  static constexpr Mark from_word(std::uint32_t word) {
    return {static_cast<MarkKind>(word >> 24), word & 0xffffff};
  }
};

}  // namespace millrace
