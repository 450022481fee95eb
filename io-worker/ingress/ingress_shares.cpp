// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// How a share of a port's flows (RxShares) goes from the queue that reads it to another one, under
// traffic. Nothing changes in the kernel: packets wait in the share's ring until an ingress reads
// on.
//
//   supervisor:   writes which shall read it (`share_wanted`)
//   its reader:   polls it no more, seals what is open, waits until all sealed by then has left the
//                 egress, leaves the share where hub and standby keep it, and writes which reads it
//                 now (`share_reader`). All its other shares are polled meanwhile
//   the new one:  finds its name there, and reads on
//
// One that dies meanwhile has a successor that finds the same words, and the ring says where to go
// on.
//
// At the start the kernel divides flows by the number of sockets that have joined, so none
// receives before all have.

#include <algorithm>
#include <array>
#include <cstdio>

#include "io-worker/ingress/ingress_actor.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/say.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kRetryNs = 1'000'000'000;

}  // namespace

ShareSet IngressActor::shares_of(const ActorContext& context, std::uint32_t stream) {
  const PlanStream& mine = context.plan->streams[stream];
  const auto actors = ingresses_of_port(*context.plan, mine.port);
  ShareSet set = 0;
  for (std::size_t i = 0; i < actors.size(); ++i) {
    const std::uint32_t reader =
        context.entry(actors[i]).share_reader.load(std::memory_order_acquire);
    if (reader == mine.ingress) set |= ShareSet{1} << i;
  }
  return set;
}

void IngressActor::find_shares() {
  shares_ = queue_.shares();
  if (shares_ == nullptr) return;
  share_ingress_ = ingresses_of_port(*context_.plan, context_.plan->streams[stream_].port);
  for (std::size_t i = 0; i < share_ingress_.size(); ++i) {
    if ((shares_->read_here() >> i & 1) == 0) continue;
    context_.entry(share_ingress_[i]).share_joined.store(1, std::memory_order_release);
  }
}

bool IngressActor::all_joined() const noexcept {
  return std::ranges::all_of(share_ingress_, [&](std::uint32_t actor) {
    return context_.entry(actor).share_joined.load(std::memory_order_acquire) != 0;
  });
}

/// Every 10 ms: a line of each of the port's ingresses.
void IngressActor::look_at_shares() noexcept {
  if (!admitted_ && all_joined()) {
    shares_->admit();
    admitted_ = true;
  }
  const ShareSet here = shares_->read_here();
  const bool may_ask = monotonic_ns() >= retry_ns_;
  ShareSet leaving = 0;
  for (std::size_t i = 0; i < share_ingress_.size(); ++i) {
    const ActorEntry& entry = context_.entry(share_ingress_[i]);
    if (entry.share_reader.load(std::memory_order_acquire) != context_.me.actor) continue;
    const std::uint32_t wanted = entry.share_wanted.load(std::memory_order_acquire);
    const bool goes = wanted != 0 && wanted != context_.me.actor;
    if ((here >> i & 1) != 0) {
      leaving |= ShareSet{goes} << i;
    } else if (may_ask) {
      join(static_cast<std::uint32_t>(i));
    }
  }
  if (leaving != leaving_) {
    if (!shares_->hold(leaving)) return;
    leaving_ = leaving;
    drained_ = false;
    held_ns_ = monotonic_ns();
  } else if (leaving_ != 0 && drained_ && may_ask && has_drained()) {
    hand_over();
  }
}

/// What was polled of shares that go is sealed as soon as it lies in batches.
void IngressActor::drain_leaving() noexcept {
  if (drained_ || placed_ != polled_count_) return;
  for (std::uint32_t number = 0; number < lane_count_; ++number) {
    if (lanes_[number].slot != kNoSlot) seal(number);
  }
  for (Lane& lane : lanes_) lane.turn = lane.sequence;
  drained_ = true;
}

bool IngressActor::has_drained() const noexcept {
  return std::ranges::all_of(lanes_, [&](const Lane& lane) {
    return context_.status.ledger(stream_, lane.number).released.load(std::memory_order_acquire) >=
           lane.turn;
  });
}

void IngressActor::hand_over() noexcept {
  for (std::size_t i = 0; i < share_ingress_.size(); ++i) {
    if ((leaving_ >> i & 1) == 0) continue;
    if (!shares_->leave(static_cast<std::uint32_t>(i))) {
      retry_ns_ = monotonic_ns() + kRetryNs;
      return;
    }
    ActorEntry& entry = context_.entry(share_ingress_[i]);
    const std::uint32_t next = entry.share_wanted.load(std::memory_order_acquire);
    entry.share_reader.store(next, std::memory_order_release);
    leaving_ &= ~(ShareSet{1} << i);
    tell_share(i, next);
  }
}

/// Its packets have waited since it was held, and go on waiting until the next one looks.
void IngressActor::tell_share(std::size_t share, std::uint32_t next) const noexcept {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "share %zu goes to %s, held for %.1f ms", share,
                context_.plan->actors[next].name.c_str(),
                static_cast<double>(monotonic_ns() - held_ns_) / 1e6);
  say(context_.plan->actors[context_.me.actor].name, text.data());
}

void IngressActor::join(std::uint32_t share) noexcept {
  if (shares_->join(share)) {
    admitted_ = false;  // its reader may have given it away before all were there
  } else {
    retry_ns_ = monotonic_ns() + kRetryNs;
  }
}

}  // namespace millrace
