// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "shared/base/packet.hpp"

namespace millrace {

/// True for an ICMP type that tells of another packet and quotes it (RFC 792, RFC 4443 2.1).
/// `protocol`: 1 or 58; of others false.
bool is_icmp_error(std::uint8_t protocol, std::uint8_t type) noexcept;

/// The headers of the packet that an ICMP error quotes; offsets are from the start of `frame`, as
/// those in `headers`, which are parse_headers() of it. Nothing: it is no ICMP error, is a fragment
/// other than the first, or its quote does not begin with a whole IP header of its own version. A
/// quote is mostly cut: the ports of TCP are there, its header need not be.
std::optional<PacketHeaders> quoted_headers(std::span<const std::byte> frame,
                                            const PacketHeaders& headers) noexcept;

}  // namespace millrace
