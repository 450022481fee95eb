// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/actor/fused_loop.hpp"

#include <algorithm>
#include <array>

#include "shared/actor/wake.hpp"
#include "shared/base/check.hpp"
#include "shared/base/turn_clock.hpp"

namespace millrace {

FusedLoop::FusedLoop(std::span<const Member> members, const std::atomic<bool>& stop) : stop_(stop) {
  MILLRACE_CHECK(!members.empty());
  for (const Member& member : members) parts_.push_back(std::make_unique<Part>(member));
  const ActorContext& context = members.front().context;
  spin_ticks_ =
      TscScale(context.status.header().tsc_hz).to_ticks(spin_ns(*context.plan, context.me.actor));
}

void FusedLoop::run() noexcept {
  while (turn()) {
  }
}

bool FusedLoop::turn() noexcept {
  std::uint32_t done = 0;
  bool all_before = stop_.load(std::memory_order_relaxed);
  for (const auto& part : parts_) {
    if (part->finished) continue;
    if (all_before) part->stop.store(true, std::memory_order_relaxed);
    const std::optional<std::uint32_t> moved = part->loop.work();
    part->finished = !moved;
    all_before = all_before && part->finished;
    done += moved.value_or(1);
  }
  if (all_before) return false;
  if (done != 0) {
    idle_since_ = 0;
  } else {
    idle();
  }
  return true;
}

bool FusedLoop::may_sleep() noexcept {
  return std::ranges::none_of(
      parts_, [](const auto& part) { return !part->finished && part->loop.has_work(); });
}

void FusedLoop::idle() noexcept {
  const std::uint64_t now = turn_clock::last();
  if (idle_since_ == 0) idle_since_ = now;
  if (now - idle_since_ < spin_ticks_) {
    _mm_pause();
    return;
  }
  std::array<int, kSleepDescriptorsMax> descriptors;
  std::size_t count = 0;
  std::uint64_t longest_ns = kSleepMaxNs;
  for (const auto& part : parts_) {
    if (part->finished) continue;
    Actor& actor = part->loop.actor();
    actor.before_sleep();
    const int descriptor = actor.wait_descriptor();
    if (descriptor >= 0 && count < descriptors.size()) {
      descriptors[count++] = descriptor;
    } else {
      longest_ns = std::min(longest_ns, actor.idle_ns());
    }
  }
  // All producers are on this thread but recovery, whose batches may wait that long.
  if (!may_sleep()) return;
  sleep_on({descriptors.data(), count}, longest_ns);
  turn_clock::read();
}

}  // namespace millrace
