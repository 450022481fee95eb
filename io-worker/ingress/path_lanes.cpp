// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ingress/path_lanes.hpp"

namespace millrace {

PathLanes::PathLanes(const Plan& plan, std::uint32_t stream) {
  for (const PlanStreamPath& at : plan.streams[stream].paths) {
    const PlanPath& path = plan.paths[at.path];
    feeds_.push_back({path.filter, LaneChoice(path, plan.streams[stream].port), lane_count_});
    lane_count_ += path.lane_count;
    open_max_ += path.ordered ? path.lane_count : 1;
  }
}

}  // namespace millrace
