// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/schedule.hpp"

#include <algorithm>

namespace millrace {

Schedule::Schedule(double rate_mpps, std::uint64_t count, std::uint64_t tsc_hz) : count_(count) {
  if (rate_mpps <= 0) return;
  ticks_per_packet_ = static_cast<double>(tsc_hz) / (rate_mpps * 1e6);
  ns_per_tick_ = 1e9 / static_cast<double>(tsc_hz);
}

std::uint32_t Schedule::ready(std::uint64_t now_tsc, std::uint32_t wanted) noexcept {
  std::uint64_t able = wanted;
  if (count_ != 0) able = std::min(able, count_ - std::min(count_, ordinal_));
  if (!has_rate()) return static_cast<std::uint32_t>(able);

  if (start_tsc_ == 0) start_tsc_ = now_tsc;
  const auto due =
      static_cast<std::uint64_t>(static_cast<double>(now_tsc - start_tsc_) / ticks_per_packet_) + 1;
  if (due <= position_) return 0;
  if (due - position_ > kDueMax) {
    missed_ += due - position_ - kDueMax;
    position_ = due - kDueMax;
  }
  return static_cast<std::uint32_t>(std::min(able, due - position_));
}

std::uint64_t Schedule::next_ready_ns(std::uint64_t now_tsc) const noexcept {
  if (!has_rate() || start_tsc_ == 0) return 0;
  const std::uint64_t due = due_tsc(position_);
  if (due <= now_tsc) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(due - now_tsc) * ns_per_tick_);
}

}  // namespace millrace
