// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/flow/flow_entry.hpp"
#include "services/functions/flow/flow_settings.hpp"
#include "services/functions/flow/flow_tuple.hpp"

namespace millrace {

/// Seconds without a packet that a flow stays at least, because its mapping goes with it: 120 of
/// UDP (RFC 4787 REQ-5, RFC 6146 4), 240 of TCP that is not open or closes (RFC 5382 REQ-5), 60 of
/// questions of ICMP (RFC 5508 REQ-2). 0: RFCs ask for nothing; UDP to a port below 1,024 that is
/// not answered (RFC 4787 REQ-5a), TCP that is open or has been reset, and each time-out with
/// another value than its default, which then is the user's. `tuple`: as of flow_timeout_s().
std::uint32_t translated_seconds_min(const FlowTuple& tuple, const FlowOwn& own,
                                     const FlowTimeouts& timeouts) noexcept;

}  // namespace millrace
