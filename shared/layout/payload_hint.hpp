// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/layout/slot.hpp"

/// What a function in front has found of the payloads of a batch: a set of literals, and of each
/// packet whether its payload is *clean*, which is to say that none of them stands in it. A
/// function behind that looks for the same literals need not look there again. The hint is of the
/// batch that the slot holds: an ingress opens a slot without one. A batch that has gone past the
/// function in front has none, and one of other literals is not believed.

namespace millrace {

/// Begins the hint of a batch anew: no packet is clean. `literals`: fingerprint of the set.
inline void begin_hint(SlotHeader& header, std::uint32_t literals) noexcept {
  header.hint_literals = literals;
  for (std::uint32_t& word : header.hint_clean) word = 0;
  header.flags |= kSlotHinted;
}

/// `packet`: 0..kBatchCapacityMax - 1.
inline void hint_clean(SlotHeader& header, std::uint32_t packet) noexcept {
  header.hint_clean[packet / 32] |= 1u << packet % 32;
}

/// No hint counts any more: payloads may have been changed.
inline void end_hint(SlotHeader& header) noexcept {
  header.flags = static_cast<std::uint16_t>(header.flags & ~kSlotHinted);
}

/// The payload of the packet has been found to hold none of these literals.
inline bool is_hinted_clean(const SlotHeader& header, std::uint32_t packet,
                            std::uint32_t literals) noexcept {
  return (header.flags & kSlotHinted) != 0 && header.hint_literals == literals &&
         (header.hint_clean[packet / 32] >> packet % 32 & 1) != 0;
}

}  // namespace millrace
