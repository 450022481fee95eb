// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "shared/base/reason.hpp"

namespace millrace {

/// Why route drops a packet: places in kRouteReasons. They stand in its images, and in the words of
/// compute, those of a GPU too; finish gives the plan's numbers. Add at the end.
enum class RouteReason : std::uint8_t {
  kNone = 0,  ///< of a next hop: it forwards
  kMalformed,
  kTruncated,
  kNotIpv4,
  kBadChecksum,
  kTtlExpired,
  kNoRoute,
  kNotUnicast,
  kOwnAddress,
  kNotForwarded,
  kUnavailable,
  kBadFragment,
  kPuntLimited,
  kUnreachable,
  kProhibited,
  kCount
};

/// Those with names of the core are the core's.
inline constexpr std::array<DeclaredReason, static_cast<std::size_t>(RouteReason::kCount)>
    kRouteReasons = {
        {{"none", ReasonCause::kLoss, "of no packet"},
         {"malformed", ReasonCause::kPacket, "a header contradicts itself or ends early"},
         {"truncated", ReasonCause::kPacket, "the capture holds less than the IP header says"},
         {"not_ipv4", ReasonCause::kPolicy, "another EtherType, or IPv6 without a route of it"},
         {"bad_checksum", ReasonCause::kPacket, "checksum of the IPv4 header"},
         {"ttl_expired", ReasonCause::kPolicy, "TTL or hop limit of 1 at most"},
         {"no_route", ReasonCause::kPolicy, "no prefix, or one without next hop"},
         {"not_unicast", ReasonCause::kPolicy,
          "broadcast or multicast, or a source that may not be routed"},
         {"own_address", ReasonCause::kPolicy, "addressed to this router"},
         {"not_forwarded", ReasonCause::kPolicy,
          "link-local protocol of another host (VLAN, ARP, ...)"},
         {"unavailable", ReasonCause::kLoss, "a word of compute that means nothing"},
         {"bad_fragment", ReasonCause::kPacket,
          "to this router, and overlaps or contradicts others, or what it is of is too long"},
         {"punt_limited", ReasonCause::kPolicy, "for the host behind a port, above punt_rate"},
         {"unreachable", ReasonCause::kPolicy, "a route of the kernel of type `unreachable`"},
         {"prohibited", ReasonCause::kPolicy, "a route of the kernel of type `prohibit`"}}};

}  // namespace millrace
