// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "shared/actor/context.hpp"
#include "shared/base/prefetch.hpp"

/// A batch was written by another core. Its lines are asked for while the batches before it are
/// worked on; all with ownership, because a line that every actor of the path writes once moves
/// faster than one that is shared and then invalidated.

namespace millrace {

/// Bytes from a slot's start that the actors behind an ingress read.
inline std::uint32_t bytes_read(const ActorContext& context) noexcept {
  const ColumnOffsets& at = context.segment.layout().columns;
  return context.plan->classes.empty() ? at.classes : at.reason;
}

/// `bytes`: bytes_read().
inline void fetch_slot(const ActorContext& context, std::uint32_t slot,
                       std::uint32_t bytes) noexcept {
  prefetch_lines_for_write(&context.segment.slot(slot), bytes);
}

/// The first lines of the first packets; whoever works through the batch fetches the others as it
/// goes. The slot has been fetched.
inline void fetch_first_packets(const ActorContext& context, std::uint32_t slot) noexcept {
  constexpr std::uint32_t kPackets = 16;
  const Batch batch = context.segment.batch(slot);
  for (std::uint32_t i = 0; i < std::min(batch.count, kPackets); ++i) {
    prefetch_for_write(batch.data(i));
  }
}

}  // namespace millrace
