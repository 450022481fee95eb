// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/event_writer.hpp"
#include "services/functions/nat/nat_settings.hpp"
#include "services/functions/nat/port_pool.hpp"

/// Which events of RFC 8158 a translation is, as `log` wants them: with mappings a collector knows
/// who had each port; with blocks it knows that too, by a fraction of the records.

namespace millrace {

/// `tuple`: of the packet from inside that began it.
void log_opening(NatLog wanted, const EventWriter& events, const FlowTuple& tuple,
                 const PortPool::Opening& opened) noexcept;
void log_closing(NatLog wanted, const EventWriter& events,
                 const PortPool::Closing& closed) noexcept;

}  // namespace millrace
