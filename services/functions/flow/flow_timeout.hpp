// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/flow/flow_entry.hpp"
#include "services/functions/flow/flow_settings.hpp"
#include "services/functions/flow/flow_tuple.hpp"

namespace millrace {

/// Seconds without a packet that a flow stays: by its protocol and what its packets were; one that
/// is translated stays as long as RFCs ask at least (translated_time.hpp). `tuple`: of direction 0
/// until it is answered, then of either.
std::uint32_t flow_timeout_s(const FlowTuple& tuple, const FlowOwn& own,
                             const FlowTimeouts& timeouts) noexcept;

}  // namespace millrace
