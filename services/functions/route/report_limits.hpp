// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/token_bucket.hpp"
#include "shared/packet/icmp.hpp"
#include "shared/packet/icmpv6.hpp"

namespace millrace {

/// How much a worker says a second by itself, of each kind as much (RFC 1812 4.3.2.8, RFC 4443 2.4
/// (f)). One kind takes nothing from another: without word of the MTU connections hang, and that
/// must not be had by a flood of packets with a TTL of 1.
struct ReportLimits {
  /// As TokenBucket's.
  ReportLimits(std::uint32_t per_second, std::uint32_t burst)
      : others(per_second, burst),
        too_big(per_second, burst),
        redirects(per_second, burst),
        waiting(per_second, burst) {}

  TokenBucket& of(IcmpError error) noexcept {
    const IcmpError too_long = icmp_fragmentation_needed(0);
    return error.type == too_long.type && error.code == too_long.code ? too_big : others;
  }
  TokenBucket& of(Icmpv6Error error) noexcept {
    return error.type == Icmpv6Error::packet_too_big(0).type ? too_big : others;
  }

  TokenBucket others;     ///< errors, resets, answers to router solicitations, conflicts
  TokenBucket too_big;    ///< "fragmentation needed", "packet too big"
  TokenBucket redirects;  ///< of both versions
  TokenBucket waiting;    ///< written for packets that wait; sent when no neighbour answers
};

}  // namespace millrace
