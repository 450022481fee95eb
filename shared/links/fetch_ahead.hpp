// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "shared/actor/context.hpp"
#include "shared/base/prefetch.hpp"

/// Fetches the cache lines of a batch, which another core has written, while the batches before it
/// are worked on. All are fetched with ownership, because a line that every actor of the path
/// writes once moves faster than one that is shared and then invalidated.

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

/// Fetches each slot once: as the next one, or when it is taken, if it was not known before.
class SlotFetcher {
 public:
  explicit SlotFetcher(const ActorContext& context)
      : context_(context), bytes_(bytes_read(context)) {}
  void next(std::uint32_t slot) noexcept {
    if (slot == ahead_) return;
    fetch_slot(context_, slot, bytes_);
    ahead_ = slot;
  }
  void taken(std::uint32_t slot) noexcept {
    if (slot != ahead_) fetch_slot(context_, slot, bytes_);
    ahead_ = kNone;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  ActorContext context_;
  std::uint32_t bytes_;
  std::uint32_t ahead_ = kNone;  ///< the slot that was fetched as the next one
};

/// Packets whose lines are fetched at a time: a core has about as many line fill buffers.
inline constexpr std::uint32_t kPacketsAtATime = 16;

/// Fetches the first lines of kPacketsAtATime packets from number `first` on; the actor fetches the
/// others while it works through the batch. The slot has been fetched before.
inline void fetch_packets(const ActorContext& context, std::uint32_t slot,
                          std::uint32_t first) noexcept {
  const Batch batch = context.segment.batch(slot);
  const std::uint32_t* const buffer = batch.buffer.data();
  const std::uint16_t* const offset = batch.offset.data();
  const std::uint32_t end = std::min(batch.count, first + kPacketsAtATime);
  for (std::uint32_t i = first; i < end; ++i) {
    prefetch_for_write(batch.buffers.at(buffer[i]) + offset[i]);
  }
}

}  // namespace millrace
