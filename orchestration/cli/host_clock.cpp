// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/host_clock.hpp"

#include <utility>

namespace millrace {
namespace {

constexpr std::uint64_t kLookIntervalNs = 50'000'000;
constexpr std::uint64_t kStepNs = 20'000'000;

}  // namespace

HostClock::HostClock(TscScale scale, std::function<std::uint64_t()> wall)
    : scale_(scale), wall_(std::move(wall)) {
  anchor();
}

/// Of some readings the one that took the least: this thread may lose its core between two.
void HostClock::anchor() {
  constexpr int kTries = 5;
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = tsc_now();
    const std::uint64_t wall_ns = wall_();
    const std::uint64_t ticks = tsc_now() - before;
    if (ticks >= least) continue;
    least = ticks;
    tsc_ = before + ticks / 2;
    wall_ns_ = wall_ns;
  }
}

void HostClock::look() {
  const std::uint64_t now = tsc_now();
  if (scale_.ns_between(looked_tsc_, now) < kLookIntervalNs) return;
  looked_tsc_ = now;
  HostClock fresh = *this;
  fresh.anchor();
  const std::uint64_t here = to_ns(fresh.tsc_);
  const std::uint64_t off = here > fresh.wall_ns_ ? here - fresh.wall_ns_ : fresh.wall_ns_ - here;
  if (off < kStepNs) return;
  tsc_ = fresh.tsc_;
  wall_ns_ = fresh.wall_ns_;
}

std::uint64_t HostClock::to_ns(std::uint64_t tsc) const noexcept {
  if (tsc >= tsc_) return wall_ns_ + scale_.to_ns(tsc - tsc_);
  return wall_ns_ - scale_.to_ns(tsc_ - tsc);
}

}  // namespace millrace
