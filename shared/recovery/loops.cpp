// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/recovery/recovery.hpp"

namespace millrace {

/// Packets that a dead egress had sent to loops: by its ledgers, before they are amended.
void Recovery::settle_loops(std::uint32_t egress) {
  const std::vector<LoopPlace>& places = context_.segment.layout().loops;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].egress != context_.plan->actors[egress].index) continue;
    context_.segment.loop(i).settle([&](std::uint32_t stream, std::uint32_t lane) {
      return context_.status.ledger(stream, lane).flips.load(std::memory_order_acquire);
    });
  }
}

}  // namespace millrace
