// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "shared/actor/context.hpp"
#include "shared/control/messages.hpp"
#include "shared/recovery/census.hpp"

namespace millrace {

/// The accounting law over the ledgers of all lanes, and the census of slots and buffers. Exact
/// when nothing is in flight; live, the parts are read one after the other and may differ by what
/// is in hand: `quiet` says so. `received_before`: received_packets() before the census was taken;
/// when more have come since, the census is of traffic, though all of it may have left. `reasons`:
/// of the plan as it is now, Plan::reasons. Any thread of the leader's process.
AuditReply audit(const ActorContext& context, const Census& census, std::uint64_t received_before,
                 std::span<const PlanReason> reasons);

/// Packets that all streams have received so far.
std::uint64_t received_packets(const ActorContext& context);

}  // namespace millrace
