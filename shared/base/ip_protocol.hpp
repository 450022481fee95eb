// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Numbers of the protocol field of IPv4 and of the next header field of IPv6, as IANA assigns
/// them ("Assigned Internet Protocol Numbers"). The same for CPU and GPU.

namespace millrace::ip_protocol {

inline constexpr std::uint8_t kIcmp = 1, kTcp = 6, kUdp = 17, kDccp = 33, kIcmpv6 = 58, kSctp = 132,
                              kUdpLite = 136;

/// Extension headers of IPv6 (RFC 8200 4), and the end of a chain without a protocol.
inline constexpr std::uint8_t kHopByHop = 0, kRouting = 43, kFragment = 44, kNoNextHeader = 59,
                              kDestinationOptions = 60;

/// ICMP of either version.
constexpr bool is_icmp(std::uint8_t protocol) { return protocol == kIcmp || protocol == kIcmpv6; }

/// Its header begins with the ports of both ends.
constexpr bool has_ports(std::uint8_t protocol) {
  return protocol == kTcp || protocol == kUdp || protocol == kDccp || protocol == kSctp ||
         protocol == kUdpLite;
}

}  // namespace millrace::ip_protocol
