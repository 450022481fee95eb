// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/actor/context.hpp"

/// What a batch that is lost has changed of its lane's state.

namespace millrace {

/// Makes the states of the stage what they were before the batch, and lets its lane go on behind
/// it. A state without a log that holds all of the batch is zeroed. The worker runs no more.
void undo_lane_state(const ActorContext& context, const SlotHeader& header, std::uint8_t stage);

/// `stage`, or the first behind it that has state and so must see each batch; kEgressStage at the
/// end.
std::uint8_t first_that_must_see(const Plan& plan, std::uint8_t stage);

}  // namespace millrace
