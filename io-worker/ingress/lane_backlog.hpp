// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/config/plan.hpp"

namespace millrace {

/// Batches of a lane at each place that works on them, which keep it busy: one that it works on,
/// one that it reads ahead, and two on their way to and from it.
inline constexpr std::uint32_t kBacklog = 4;

/// Batches of one lane in flight from which on a further one would only wait behind them: kBacklog
/// for each worker that may have batches of the lane at the same time, so for a stage of `dispatch:
/// any` for as many as its group can have. At least kBacklog; UINT32_MAX for a path with a GPU,
/// which works on many batches of a lane at once. `path`: number in the plan. Start-up only.
std::uint32_t lane_backlog(const Plan& plan, std::uint32_t path);

}  // namespace millrace
