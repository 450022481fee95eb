// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// When an open batch leaves that is not full. What is in flight of a lane is read from the egress's
// ledger, a line of another core: so only when the answer matters.

#include "io-worker/ingress/ingress_actor.hpp"

namespace millrace {

/// Batches that are sealed and have not left the egress: of the lane, or of all lanes that have
/// turns with it; of these no more are counted than its backlog.
std::uint64_t IngressActor::ahead_of(std::uint32_t number) const noexcept {
  const Lane& lane = lanes_[number];
  if (!feeds_[lane.feed].lanes.in_turn()) return in_flight_of(number);
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < lane_count_ && sum < lane.backlog; ++i) {
    if (lanes_[i].feed == lane.feed) sum += in_flight_of(i);
  }
  return sum;
}

std::uint64_t IngressActor::in_flight_of(std::uint32_t number) const noexcept {
  const LaneLedger& ledger = context_.status.ledger(stream_, lanes_[number].number);
  return lanes_[number].sequence - ledger.released.load(std::memory_order_acquire);
}

bool IngressActor::is_due(std::uint32_t number, bool short_of_slots) const noexcept {
  const Lane& lane = lanes_[number];
  if (stopping_ || resting_) return true;
  const bool half_full = lane.count >= context_.segment.capacity() / 2;
  if (lane.rounds >= rounds_max_ || (short_of_slots && half_full)) {
    return ahead_of(number) < lane.backlog;
  }
  const bool more_waits = polled_count_ == burst_;  // the next poll fills what is open
  return !more_waits && ahead_of(number) == 0;
}

std::uint32_t IngressActor::leave_due() noexcept {
  std::uint32_t left = 0;
  const bool short_of_slots = slots_.count() < open_max_;
  lanes_waiting_ = 0;
  // Lines that the egress has just written: asked for together, not one after the other.
  if (lane_count_ > 1 && polled_count_ != burst_) {
    open_.each([&](std::uint32_t number) {
      __builtin_prefetch(&context_.status.ledger(stream_, lanes_[number].number));
      return true;
    });
  }
  open_.each([&](std::uint32_t number) {
    Lane& lane = lanes_[number];
    ++lane.rounds;
    if (is_due(number, short_of_slots)) {
      seal(number);
      ++left;
    } else if (lane.rounds >= rounds_max_) {
      ++lanes_waiting_;
    }
    return true;
  });
  return left;
}

/// Nothing but a release by the egress, which wakes this ingress, lets the lane's open batch leave.
bool IngressActor::waits_for_lane(std::uint32_t number) const noexcept {
  const Lane& lane = lanes_[number];
  return lane.rounds >= rounds_max_ && !stopping_ && !resting_ && ahead_of(number) >= lane.backlog;
}

}  // namespace millrace
