// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/recovery/loops.hpp"

namespace millrace {

void settle_loops(const ActorContext& context, std::uint32_t egress) {
  const std::vector<LoopPlace>& places = context.segment.layout().loops;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].egress != context.plan->actors[egress].index) continue;
    context.segment.loop(i).settle([&](std::uint32_t stream, std::uint32_t lane) {
      return context.status.ledger(stream, lane).flips.load(std::memory_order_acquire);
    });
  }
}

}  // namespace millrace
