// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/actor/context.hpp"

/// Undoes what a lost batch has changed in its lane's state.

namespace millrace {

/// Restores the states of the stage to those before the batch, and lets its lane go on after it. A
/// state without a log of the whole batch is zeroed. The worker does not run any more.
void undo_lane_state(const ActorContext& context, const SlotHeader& header, std::uint8_t stage);

/// `stage`, or the first behind it that has state and so must see each batch; kEgressStage at the
/// end.
std::uint8_t first_that_must_see(const Plan& plan, std::uint8_t stage);

}  // namespace millrace
