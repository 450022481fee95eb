// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "shared/control/endpoint.hpp"
#include "shared/recovery/leader_watch.hpp"

namespace millrace {

/// Whether a supervisor lives while it deals with something that may take long: it answers other
/// questions meanwhile. One that is merely slow is never taken for one that hangs.
class Pulse {
 public:
  static constexpr std::chrono::milliseconds kQuietMax{15'000};

  /// `asker`: for these questions alone. `otherwise`: what look() says when there is no answer.
  Pulse(ControlClient asker, std::string otherwise, std::chrono::milliseconds quiet_max = kQuietMax)
      : asker_(std::move(asker)),
        otherwise_(std::move(otherwise)),
        watch_(static_cast<std::uint64_t>(quiet_max.count()) * 1'000'000 / kPatience, kPatience) {}

  /// Call several times a second; does not block. Throws Error when nothing has been answered for
  /// `quiet_max`; time without a call does not count.
  void look();

 private:
  static constexpr std::uint64_t kPatience = 5;

  bool is_answered();

  ControlClient asker_;
  std::string otherwise_;
  LeaderWatch watch_;
  std::uint64_t question_ = 0;  ///< that waits for its answer; 0: none
  std::uint64_t answers_ = 0;
  std::uint64_t answered_ns_ = 0;
};

}  // namespace millrace
