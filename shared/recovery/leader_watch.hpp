// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace millrace {

/// Watches the leader, or the process that may become it: if it hangs, nothing is recovered. The
/// standby watches the hub; the supervisor watches both, in case they hang together. Pure: told the
/// time, asks no clock.
class LeaderWatch {
 public:
  /// Heartbeat limits: a hub that starts a driver anew, or recovers many, does nothing else.
  static constexpr std::uint64_t kStandbysPatience = 5;
  static constexpr std::uint64_t kSupervisorsPatience = 8;

  LeaderWatch(std::uint64_t heartbeat_limit_ns, std::uint64_t patience)
      : limit_ns_(patience * heartbeat_limit_ns),
        break_ns_(std::max(heartbeat_limit_ns / 2, kTurnNs)) {}

  /// True when `beat` has been the same for too long. Time without a call does not count:
  /// then we were not running ourselves.
  bool hangs(std::uint64_t beat, std::uint64_t now_ns) {
    if (beat != beat_ || now_ns - asked_at_ns_ > break_ns_) beat_at_ns_ = now_ns;
    beat_ = beat;
    asked_at_ns_ = now_ns;
    return now_ns - beat_at_ns_ > limit_ns_;
  }

 private:
  static constexpr std::uint64_t kTurnNs = 500'000'000;  ///< callers ask more often

  std::uint64_t limit_ns_, break_ns_;
  std::uint64_t beat_ = 0, beat_at_ns_ = 0, asked_at_ns_ = 0;
};

}  // namespace millrace
