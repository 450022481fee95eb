// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/layout/batch.hpp"
#include "shared/packet/ipv6_extensions.hpp"

namespace millrace {

/// Takes out the extension headers of a packet that has reached its destination, as far as they say
/// nothing to what is behind them: options, a routing header that has been gone through, the header
/// of an atomic fragment. `chain`: of the packet; it ends at the upper layer, without problems.
/// True: what is behind them stands behind the IPv6 header now. False, and nothing changed: there
/// are none, or others.
bool take_extensions_out(const Batch& batch, std::uint16_t packet,
                         const Ipv6Extensions& chain) noexcept;

}  // namespace millrace
