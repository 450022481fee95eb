// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/config/plan.hpp"

namespace millrace {

/// Batches of a lane that keep one worker busy: one in work, one that it reads ahead, and two on
/// their way to and from it.
inline constexpr std::uint32_t kBacklog = 4;

/// So many batches of one lane in flight keep its workers busy; a further one would only wait.
/// kBacklog for each worker that may have batches of the lane at the same time: with `dispatch:
/// any`, for as many workers as the group can have. At least kBacklog; UINT32_MAX for a path with a
/// GPU, which works on many batches of a lane at once. `path`: number in the plan. Start-up only.
std::uint32_t lane_backlog(const Plan& plan, std::uint32_t path);

}  // namespace millrace
