// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/actor/context.hpp"

namespace millrace {

/// Settles the packets that a dead egress had sent to loops, by its ledgers, before they are
/// amended.
void settle_loops(const ActorContext& context, std::uint32_t egress);

}  // namespace millrace
