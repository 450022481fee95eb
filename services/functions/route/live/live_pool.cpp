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

bool LivePool::tend(ReaderGrace& grace) {
  const bool frees = !waiting_.empty() && grace.passed(moment_);
  if (frees) {
    free_.insert(free_.end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
  }
  if (!waiting_.empty() || retired_.empty()) return frees;
  waiting_.swap(retired_);
  moment_ = grace.now();
  return frees;
}

}  // namespace millrace
