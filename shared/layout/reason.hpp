// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// What becomes of a packet, and why. Both are one byte in the batch's columns; the egress counts
/// each packet's end by them, and the names are label values of the metrics
/// (shared/metrics/metrics.yaml).

namespace millrace {

enum class Verdict : std::uint8_t {
  kPass = 0,  ///< goes on; transmitted at the end
  kDrop = 1,  ///< freed at the end; `reason` says why. No later function looks at it
};

/// Values are stable: they stand in shared memory and in saved captures. Add at the end.
enum class Reason : std::uint8_t {
  kNone = 0,
  kOversize = 1,      ///< ingress: longer than a buffer; egress: than the port can send
  kTruncated = 2,     ///< the capture holds less than the IP header says
  kMalformed = 3,     ///< a header contradicts itself or ends early
  kNotIpv4 = 4,       ///< route: another EtherType
  kBadChecksum = 5,   ///< route: IPv4 header checksum
  kTtlExpired = 6,    ///< route: TTL <= 1
  kNoRoute = 7,       ///< route: no prefix, or one without next hop
  kNotUnicast = 8,    ///< route: broadcast or multicast, or a source that may not be routed
  kOwnAddress = 9,    ///< route: addressed to this router
  kRule = 10,         ///< match, acl: a rule said drop
  kWorkerLost = 11,   ///< in the hands of a worker that died
  kEgressLost = 12,   ///< being sent when the egress died; some may have left
  kQuarantined = 13,  ///< with a process that could not be killed
  kTxFull = 14,       ///< the port took no more after the bounded retry
  kNoOutput = 15,     ///< the output port does not exist, or cannot send (its file is full)
  kNotForwarded =
      16,          ///< route: link-local protocol of another host (VLAN, ARP, ...), see its README
  kOverload = 17,  ///< a function's share was used up and `overload: drop`; ingress: the slots of
                   ///< a path with `overload` were used up
  kUnavailable = 18,  ///< the function is out of service and `unavailable: drop`
  kNoPath = 19,       ///< ingress: no path of the port has a `match` that takes it
  kCount
};

inline constexpr std::size_t kReasonCount = 32;  ///< room in the tables of shared memory
static_assert(static_cast<std::size_t>(Reason::kCount) <= kReasonCount);

// clang-format off
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Reason::kCount)> kReasonNames = {
    "none", "oversize", "truncated", "malformed", "not_ipv4", "bad_checksum", "ttl_expired", "no_route",
    "not_unicast", "own_address", "rule", "worker_lost", "egress_lost", "quarantined", "tx_full",
    "no_output", "not_forwarded", "overload", "unavailable", "no_path"};
// clang-format on

}  // namespace millrace
