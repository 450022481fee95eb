// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "shared/actor/context.hpp"

namespace millrace {

/// A process takes its actor's place: waits until the entry is vacant, enters pid, start time and a
/// new incarnation, and waits until the leader grants kAlive; only then may it touch a ring. Throws
/// Error that says what it awaited ("actor front.0 is still fenced: its last life is being
/// recovered") after `limit_ns`. `give_up` is asked meanwhile. Returns the owner stamp of this
/// life.
Owner enrol(const Plan& plan, const StatusView& status, std::uint32_t actor, std::uint64_t limit_ns,
            const std::function<bool()>& give_up);

/// The hub takes its own place without a grant: the first hub at once (`limit_ns` 0), a successor
/// when the hub before it has ended, for which it waits up to `limit_ns`. Throws Error also when
/// the standby lives then: it leads, and there is one leader. The standby must not start meanwhile.
Owner enrol_hub(const Plan& plan, const StatusView& status, std::uint64_t limit_ns,
                const std::function<bool()>& give_up);

/// Notes that this process ends in order, as it was told to: the next one is no restart after a
/// crash.
void note_end(const ActorContext& context) noexcept;

}  // namespace millrace
