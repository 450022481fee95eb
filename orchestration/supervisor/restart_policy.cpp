// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/restart_policy.hpp"

#include <algorithm>

namespace millrace {

void RestartPolicy::started(Time now) {
  started_at_ = now;
  if (ever_started_) {
    ++restarts_;
    recent_.push_back(now);
  }
  ever_started_ = true;
}

void RestartPolicy::found(Time now) {
  started_at_ = now;
  ever_started_ = true;
}

void RestartPolicy::ended(Time now) {
  was_healthy_ = now - started_at_ >= limits_.healthy_after;
  if (was_healthy_) delay_ = limits_.first_delay;
  ready_at_ = now + delay_;
  delay_ = std::min(2 * delay_, limits_.delay_max);
  // Starts after short lives come ever more slowly, so `window` would forget them as fast as they
  // come.
  if (was_healthy_) {
    std::erase_if(recent_, [&](Time start) { return now - start >= limits_.window; });
  }
  given_up_ = recent_.size() >= limits_.count_max;
}

void RestartPolicy::allow() {
  recent_.clear();
  delay_ = limits_.first_delay;
  ready_at_ = {};
  ever_started_ = false;
  given_up_ = false;
  was_healthy_ = true;
}

void RestartPolicy::resume(std::uint32_t restarts) {
  restarts_ = restarts;
  ever_started_ = true;
}

}  // namespace millrace
