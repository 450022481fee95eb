// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A queue that is added to a port takes flows from the others. It begins to be polled when all that
// they had received until then has left the egress; meanwhile its packets wait in the kernel.
//
//   last queue's ingress: shares the flows anew (RxQueue::take_share), then writes `turn_asked`
//   others:               poll what waits in their queues, seal, wait for its release, answer by
//                         `turn_served`; those that were added with it have polled nothing yet
//   added ones:           begin when all others have answered
//
// Nobody holds anything in hand for it: who dies meanwhile has a successor that finds the question,
// and who is gone for good has had its batches released.

#include <algorithm>
#include <array>
#include <cstdio>

#include "io-worker/ingress/ingress_actor.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/say.hpp"

namespace millrace {

void IngressActor::find_mates() {
  const std::vector<PlanStream>& streams = context_.plan->streams;
  for (std::uint32_t i = 0; i < streams.size(); ++i) {
    if (i != stream_ && streams[i].port == streams[stream_].port) mates_.push_back(i);
  }
}

void IngressActor::await_turn(std::uint32_t queues) {
  const std::vector<PlanStream>& streams = context_.plan->streams;
  last_ = stream_;
  for (const std::uint32_t mate : mates_) {
    if (streams[mate].queue + 1 == queues) last_ = mate;
  }
  if (last_ == stream_) {
    context_.my_entry().turn_asked.store(monotonic_ns(), std::memory_order_release);
  }
  waiting_ = true;
}

/// What a life before had sent may come back meanwhile, from a worker that died, and goes on.
std::uint32_t IngressActor::wait() noexcept {
  if (asked_ != 0) serve_turn();
  waiting_ = !may_begin();
  if (!waiting_) tell_wait();
  const std::uint32_t done = outbox_.pending() != 0 ? outbox_.flush() : 0;
  tell_progress();
  return done;
}

/// Once in the life of an added queue: its ring has had to hold what came meanwhile.
void IngressActor::tell_wait() const noexcept {
  const std::uint32_t last = context_.plan->streams[last_].ingress;
  const std::uint64_t asked = context_.entry(last).turn_asked.load(std::memory_order_relaxed);
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "waited %.1f ms, from when %s shared the flows anew",
                static_cast<double>(monotonic_ns() - asked) / 1e6,
                context_.plan->actors[last].name.c_str());
  say(context_.plan->actors[context_.me.actor].name, text.data());
}

/// Nothing of the stream that was sealed is under way.
bool IngressActor::has_left(std::uint32_t stream) const noexcept {
  return std::ranges::all_of(lanes_, [&](const Lane& lane) {
    const std::uint64_t sealed = context_.status.ingress_lane(stream, lane.number)
                                     .sealed_sequence.load(std::memory_order_acquire);
    return context_.status.ledger(stream, lane.number).released.load(std::memory_order_acquire) >=
           sealed;
  });
}

bool IngressActor::may_begin() const noexcept {
  const std::vector<PlanStream>& streams = context_.plan->streams;
  const std::uint64_t asked =
      context_.entry(streams[last_].ingress).turn_asked.load(std::memory_order_acquire);
  if (asked == 0) return false;
  return std::ranges::all_of(mates_, [&](std::uint32_t stream) {
    if (stream == last_) return true;
    const std::uint32_t ingress = streams[stream].ingress;
    if (context_.entry(ingress).turn_served.load(std::memory_order_acquire) >= asked) return true;
    return context_.state_of(ingress) == ActorState::kVacant && has_left(stream);
  });
}

/// Every 10 ms: whoever is asked by nobody pays nothing for it.
void IngressActor::look_for_turns() noexcept {
  if (asked_ != 0) return;
  const std::uint64_t served = context_.my_entry().turn_served.load(std::memory_order_relaxed);
  for (const std::uint32_t stream : mates_) {
    const ActorEntry& mate = context_.entry(context_.plan->streams[stream].ingress);
    asked_ = std::max(asked_, mate.turn_asked.load(std::memory_order_acquire));
  }
  if (asked_ <= served) asked_ = 0;
  emptied_ = drained_ = false;
  asked_at_ = polled_total_;
}

void IngressActor::serve_turn() noexcept {
  if (!drained_ && !waiting_) {
    const bool all = emptied_ || polled_total_ - asked_at_ >= queue_.waiting_max();
    if (!all || placed_ != polled_count_) return;
    for (std::uint32_t number = 0; number < lane_count_; ++number) {
      if (lanes_[number].slot != kNoSlot) seal(number);
    }
  }
  if (!drained_) {
    for (Lane& lane : lanes_) lane.turn = lane.sequence;
    drained_ = true;
  }
  const bool left = std::ranges::all_of(lanes_, [&](const Lane& lane) {
    return context_.status.ledger(stream_, lane.number).released.load(std::memory_order_acquire) >=
           lane.turn;
  });
  if (!left) return;
  context_.my_entry().turn_served.store(asked_, std::memory_order_release);
  asked_ = 0;
}

}  // namespace millrace
