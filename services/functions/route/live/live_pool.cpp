// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/route/live/live_pool.hpp"

namespace millrace {

std::uint32_t LivePool::take() {
  if (free_.empty()) return kNone;
  const std::uint32_t number = free_.back();
  free_.pop_back();
  return number;
}

void LivePool::tend(ReaderGrace& grace) {
  if (!waiting_.empty() && grace.passed(moment_)) {
    free_.insert(free_.end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
  }
  if (!waiting_.empty() || retired_.empty()) return;
  waiting_.swap(retired_);
  moment_ = grace.now();
}

}  // namespace millrace
