// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Paths that may use only so many slots (PlanStreamPath::slots_max). All of it is the ingress's own
// memory, looked at once a batch.

#include "io-worker/ingress/ingress_actor.hpp"

namespace millrace {

void IngressActor::note_used(std::uint32_t slot, std::uint16_t feed) noexcept {
  feed_of_slot_[slot - context_.plan->streams[stream_].slot_first] = feed;
  ++feeds_[feed].slots_used;
}

void IngressActor::note_free(std::uint32_t slot) noexcept {
  --feeds_[feed_of_slot_[slot - context_.plan->streams[stream_].slot_first]].slots_used;
}

/// The lane has no open slot, so all that it received before is sealed.
bool IngressActor::refuses(const Lane& lane) noexcept {
  const Feed& feed = feeds_[lane.feed];
  if (feed.slots_max == 0 || feed.slots_used < feed.slots_max) return false;
  if (!refusing_) {  // once a round: slots may be back, and looking costs lines of other cores
    refusing_ = true;
    collect_slots();
  }
  return feed.slots_used >= feed.slots_max;
}

}  // namespace millrace
