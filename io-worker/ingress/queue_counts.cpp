// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ingress/queue_counts.hpp"

#include <string>

namespace millrace {

void QueueCounts::count() noexcept {
  count_growth(Counter::kRxMissed, queue_.missed(), missed_);
  count_growth(Counter::kRxErrors, queue_.errors(), errors_);
}

void QueueCounts::count_growth(Counter id, std::uint64_t now, std::uint64_t& seen) noexcept {
  if (now == seen) return;
  context_.counter(id) += now - seen;
  seen = now;
}

void QueueCounts::tell(const char* what) noexcept {
  TroubleText text;
  const std::string& port = context_.plan->ports[context_.plan->streams[stream_].port].name;
  text.add("port '%s': %s", port.c_str(), what);
  tell_(text.view());
}

void QueueCounts::tell_trouble() noexcept {
  if (!tell_) return;
  if (queue_.has_recovered()) tell("it is open, and is read now");
  if (errors_ == errors_told_ || (errors_told_ != 0 && !queue_.exhausted())) return;
  errors_told_ = errors_;
  const TroubleText what = queue_.trouble();
  if (!what.empty()) tell(what.c_str());
}

}  // namespace millrace
