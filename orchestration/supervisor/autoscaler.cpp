// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/autoscaler.hpp"

#include <algorithm>

#include "shared/base/check.hpp"

namespace millrace {

void Autoscaler::forget() {
  before_.clear();
  above_ = below_ = 0;
}

std::uint32_t Autoscaler::look(const std::vector<Spent>& workers) {
  MILLRACE_CHECK(limits_.min <= limits_.max);
  const auto count = static_cast<std::uint32_t>(workers.size());
  double busy = 0;  // workers' worth
  bool known = !workers.empty();
  for (const Spent& now : workers) {
    const auto at = before_.find(now.worker);
    const bool grows =
        at != before_.end() && now.busy >= at->second.busy && now.idle >= at->second.idle;
    const std::uint64_t worked = grows ? now.busy - at->second.busy : 0;
    const std::uint64_t all = grows ? worked + now.idle - at->second.idle : 0;
    known = known && all != 0;
    if (all != 0) busy += static_cast<double>(worked) / static_cast<double>(all);
  }
  before_.clear();
  for (const Spent& now : workers) before_[now.worker] = now;
  if (count < limits_.min || count > limits_.max) {
    return std::clamp(count, limits_.min, limits_.max);
  }
  if (!known) return count;
  const double up = count * limits_.up / 100.0, down = (count - 1.0) * limits_.down / 100.0;
  above_ = busy > up ? above_ + 1 : 0;
  below_ = count > 1 && busy < down ? below_ + 1 : 0;
  const bool grows = above_ >= kUpLooks && count < limits_.max;
  const bool shrinks = below_ >= kDownLooks && count > limits_.min;
  if (grows || shrinks) above_ = below_ = 0;  // each step has its own looks
  return grows ? count + 1 : shrinks ? count - 1 : count;
}

}  // namespace millrace
