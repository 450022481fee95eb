// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "shared/packet/icmp.hpp"
#include "shared/packet/icmpv6.hpp"

/// Which error of ICMPv6 says what one of ICMP says, and the other way (RFC 7915 4.2 and 5.2).
/// Nothing: there is none, and the error is dropped. MTUs differ by the 20 bytes that the headers
/// differ; the one of a next hop of this router is not looked at, as route reports by it.

namespace millrace {

/// `quoted_bytes`: total length of the quoted packet, from which an MTU is guessed that a router
/// of before RFC 1191 does not say. An MTU is 1,280 at least (RFC 8200 5).
std::optional<Icmpv6Error> icmpv6_counterpart(IcmpError error, std::uint16_t quoted_bytes) noexcept;
std::optional<IcmpError> icmp_counterpart(Icmpv6Error error) noexcept;

}  // namespace millrace
