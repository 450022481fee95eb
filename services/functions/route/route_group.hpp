// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/route/route_image.hpp"
#include "shared/config/plan.hpp"

/// Routes with several next hops: which of them a packet takes (ECMP, RFC 2991, 2992).

namespace millrace {

/// Of all that the packets of a flow have in common: both addresses and the protocol, the ports of
/// TCP and UDP, and of IPv6 without those the flow label (RFC 6438). Of fragments only what all
/// fragments of a datagram have: addresses and protocol, of IPv6 addresses and flow label. A frame
/// that route_check() did not drop. All bits are as good, and differ for each `seed`.
std::uint32_t route_flow_hash(std::span<const std::byte> frame, std::uint64_t seed) noexcept;

/// What the hash of a router starts from: its ports' MAC and IP addresses. So all its workers send
/// a flow the same way, also after a restart, while two routers in a row share flows out by
/// different hashes: by one hash the second would use but one of its next hops.
std::uint64_t route_flow_seed(std::span<const PlanPort> ports) noexcept;

/// The groups of a table. Borrows the table.
class RouteGroups {
 public:
  RouteGroups() = default;  ///< there are none
  RouteGroups(const RouteTable& table, std::uint64_t seed)
      : hops_(table.hops), members_(table.members), seed_(seed) {}

  static constexpr std::uint32_t kNone = UINT32_MAX;
  /// Number of the next hop that the frame takes, of those of group `number`; kNone: there is no
  /// such group.
  std::uint32_t member_of(std::uint32_t number, std::span<const std::byte> frame) const noexcept;

 private:
  std::span<const RouteHop> hops_;
  std::span<const RouteMember> members_;
  std::uint64_t seed_ = 0;
};

}  // namespace millrace
