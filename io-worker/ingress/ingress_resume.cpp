// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What an ingress finds when it starts: its lanes, and what its last life left.

#include <algorithm>

#include "io-worker/ingress/ingress_actor.hpp"
#include "io-worker/ingress/lane_backlog.hpp"
#include "shared/links/sealed.hpp"

namespace millrace {

void IngressActor::find_lanes() {
  const Plan& plan = *context_.plan;
  for (const PlanStreamPath& at : plan.streams[stream_].paths) {
    const PlanPath& path = plan.paths[at.path];
    const auto feed = static_cast<std::uint16_t>(feeds_.size());
    feeds_.push_back({path.filter, LaneChoice(path, plan.streams[stream_].port), lane_count_});
    const std::uint32_t backlog = lane_backlog(plan, at.path);
    for (std::uint32_t i = 0; i < path.lane_count; ++i) {
      Lane& lane = lanes_.emplace_back();
      lane.number = static_cast<std::uint16_t>(path.lane_first + i);
      lane.first_stage = path.first_stage;
      lane.has_keys = path.has_keys;
      lane.backlog = backlog;
      lane.feed = feed;
      lane.path = static_cast<std::uint32_t>(at.path);
    }
    lane_count_ += path.lane_count;
  }
  takes_all_ = feeds_.size() == 1 && feeds_.front().filter.empty();
}

void IngressActor::find_sequences() {
  const std::vector<SealedLane> sealed = find_sealed(context_, stream_);
  for (Lane& lane : lanes_) {
    const SealedLane& last = sealed[lane.number];
    lane.sequence = last.sequence;
    lane.received = last.received;
    lane.received_bytes = last.received_bytes;
    lane.wanted = last.position;
    outbox_.start_lane(lane.number, lane.sequence);
    // Refused only with all before it sealed.
    const IngressLane& told = context_.status.ingress_lane(stream_, lane.number);
    lane.wanted =
        std::max(lane.wanted, told.refused.complete().position.load(std::memory_order_relaxed));
    resumed_at_ = std::max(resumed_at_, lane.wanted);
  }
  share_positions();
  next_ordinal_ = context_.my_entry().resume_position.load(std::memory_order_relaxed);
  told_position_ = next_ordinal_;
  queue_.resume(next_ordinal_);
}

/// Lanes in turn have packets of one sequence: what any of them has sealed comes before what none
/// has, and in which lane it was is not known any more.
void IngressActor::share_positions() noexcept {
  for (std::size_t feed = 0; feed < feeds_.size(); ++feed) {
    if (!feeds_[feed].lanes.in_turn()) continue;
    std::uint64_t wanted = 0;
    for (const Lane& lane : lanes_)
      wanted = lane.feed == feed ? std::max(wanted, lane.wanted) : wanted;
    for (Lane& lane : lanes_) {
      if (lane.feed == feed) lane.wanted = wanted;
    }
  }
}

}  // namespace millrace
