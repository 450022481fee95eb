// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "services/functions/function.hpp"
#include "services/functions/route/route_group.hpp"
#include "services/functions/route/route_image.hpp"

namespace millrace {

class Router;

/// A next hop as one worker applies it: private memory, made once from image and ports.
struct alignas(16) RouteRewrite {
  std::array<std::uint8_t, 12>
      macs;             ///< of the frame: destination (next hop), source (output port)
  std::uint8_t output;  ///< port number
  std::uint8_t reason;  ///< Reason; kNone: forward
  std::uint8_t kind;    ///< RouteHopKind
  std::uint8_t padding;
};
static_assert(sizeof(RouteRewrite) == 16);

/// Resolves the image's port names against the topology's ports; without ports (`millrace try`) a
/// port's number is its place in the image and its MAC 02:00:00:00:00:<number + 1>. Throws Error
/// for a name that is no port.
std::vector<RouteRewrite> resolve_hops(const RouteTable& table, std::span<const PlanPort> ports);

/// Applies the words of route_compute(): verdict and reason, or TTL - 1, header checksum (RFC
/// 1624), MAC addresses and output column. Counts each packet that ends at next hop h,
/// forwarded or not, in counters.hits[h]; expired ones count nowhere. Words come from a GPU too:
/// one out of range drops its packet, reason `unavailable`.
/// A packet that ends at a group of `groups` goes to one of its members, and counts at both.
/// `router`: what becomes of packets that are not just passed on; null: they are dropped.
void route_finish(std::span<const RouteRewrite> hops, const FinishContext& call,
                  Router* router = nullptr, const RouteGroups& groups = {}) noexcept;

/// One hop less, of IPv4 with its checksum (RFC 1624), and of IPv6. Not from 0.
void decrement_ttl(std::byte* frame) noexcept;
void decrement_hop_limit(std::byte* frame) noexcept;

}  // namespace millrace
