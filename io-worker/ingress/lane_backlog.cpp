// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/ingress/lane_backlog.hpp"

#include <algorithm>

namespace millrace {

std::uint32_t lane_backlog(const Plan& plan, std::uint32_t path) {
  std::uint32_t workers = 0;
  for (const PlanStage& stage : plan.stages) {
    if (stage.path != path) continue;
    const PlanGroup& group = plan.groups[stage.group];
    if (group.kind == GroupKind::kGpu) return UINT32_MAX;
    const bool one = group.dispatch == Dispatch::kFlow && plan.paths[path].ordered;
    workers += one ? 1 : group.max;
  }
  return kBacklog * std::max(workers, 1u);
}

}  // namespace millrace
