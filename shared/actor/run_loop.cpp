// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/actor/run_loop.hpp"

#include <algorithm>

#include "shared/actor/wake.hpp"
#include "shared/base/turn_clock.hpp"

namespace millrace {
namespace {

// A thread with a core of its own looks for work this long before it sleeps: well above the gap
// between packets at 10 kpps. A thread on a shared core would only take time from the thread for
// which it waits.
constexpr std::uint64_t kSpinOwnCoreNs = 500'000;
constexpr std::uint64_t kSpinSharedCoreNs = 2'000;
constexpr std::uint64_t kStockNs = 10'000'000;
constexpr std::uint64_t kLeaveNs = 500'000'000;

}  // namespace

std::uint64_t spin_ns(const Plan& plan, std::uint32_t actor) {
  return shares_core(plan, actor) ? kSpinSharedCoreNs : kSpinOwnCoreNs;
}

RunLoop::RunLoop(const ActorContext& context, Actor& actor, const std::atomic<bool>& stop)
    : context_(context),
      actor_(actor),
      stop_(stop),
      fences_for_all_(fences_for_all(*context.plan, context.me.actor)),
      scale_(context.status.header().tsc_hz) {
  longest_ = PeakMark(context.status.actor_tally(context.me.actor).turn_ns);
  spin_ticks_ = scale_.to_ticks(spin_ns(*context.plan, context.me.actor));
  turn_clock::read();  // the first turn begins now
}

void RunLoop::run() noexcept {
  while (turn()) {
  }
}

std::optional<std::uint32_t> RunLoop::work() noexcept {
  ActorEntry& entry = context_.my_entry();
  turn_tsc_ = turn_clock::last();
  entry.heartbeat_tsc.store(turn_tsc_, std::memory_order_relaxed);
  if (context_.watch != nullptr) context_.watch->turn();
  const std::uint64_t epoch = context_.status.header().epoch.load(std::memory_order_acquire);
  if (epoch != seen_epoch_) [[unlikely]] {
    actor_.read_roster();
    seen_epoch_ = epoch;
    entry.acked_epoch.store(epoch, std::memory_order_release);
  }
  const bool draining = context_.state_of(context_.me.actor) == ActorState::kDraining;
  if (stop_.load(std::memory_order_relaxed) || draining) [[unlikely]] {
    if (stopped_tsc_ == 0 && !draining) stopped_tsc_ = turn_tsc_;
    actor_.stop();
    if (actor_.finished()) return std::nullopt;
  }
  if (turn_tsc_ >= stock_tsc_) [[unlikely]] {
    stock_tsc_ = turn_tsc_ + scale_.to_ticks(kStockNs);
    actor_.take_stock(turn_tsc_);
  }
  const std::uint32_t done = actor_.do_work();
  account(done, turn_tsc_);
  return done;
}

bool RunLoop::turn() noexcept {
  const std::optional<std::uint32_t> done = work();
  if (!done || leaves()) return false;
  if (*done != 0) {
    idle_since_ = 0;
  } else {
    idle(turn_tsc_);
  }
  return true;
}

bool RunLoop::leaves() noexcept {
  if (stopped_tsc_ == 0) [[likely]]
    return false;
  return turn_tsc_ - stopped_tsc_ > scale_.to_ticks(kLeaveNs) && actor_.may_leave();
}

bool RunLoop::has_work() noexcept {
  const std::uint64_t epoch = context_.status.header().epoch.load(std::memory_order_acquire);
  return actor_.has_work() || epoch != seen_epoch_;
}

void RunLoop::account(std::uint32_t done, std::uint64_t began) noexcept {
  const std::uint64_t now = turn_clock::end_turn(began);
  if (!metrics_kept()) return;
  const std::uint64_t cycles = now - began;
  ++context_.counter(Counter::kLoops);
  context_.counter(done != 0 ? Counter::kBusyCycles : Counter::kIdleCycles) += cycles;
  if (done == 0) return;
  const std::uint64_t ns = scale_.to_ns(cycles);
  context_.raise(Counter::kLongestLoopNs, ns);
  longest_.note(now, ns);
}

void RunLoop::idle(std::uint64_t now) noexcept {
  if (idle_since_ == 0) idle_since_ = now;
  if (now - idle_since_ < spin_ticks_) {
    _mm_pause();
    return;
  }
  ActorEntry& entry = context_.my_entry();
  actor_.before_sleep();
  const int descriptor = actor_.wait_descriptor();
  if (descriptor < 0) {
    announce_sleep(entry);
    if (fences_for_all_) fence_for_all();
  }
  if (has_work()) {
    cancel_sleep(entry);
    return;
  }
  ++context_.counter(Counter::kSleeps);
  const std::uint64_t asleep_since = turn_clock::last();
  if (descriptor < 0) {
    sleep(entry, actor_.idle_ns());
  } else {
    sleep_on({&descriptor, 1}, kSleepMaxNs);
  }
  context_.counter(Counter::kIdleCycles) += turn_clock::read() - asleep_since;
}

}  // namespace millrace
