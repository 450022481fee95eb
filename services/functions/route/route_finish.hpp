// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "services/functions/frames.hpp"
#include "services/functions/function.hpp"
#include "services/functions/route/route_group.hpp"
#include "services/functions/route/route_hops.hpp"

namespace millrace {

class Router;

/// Applies the words of route_compute(): verdict and reason, or TTL - 1, header checksum (RFC
/// 1624), MAC addresses and output column. Counts each packet that ends at next hop h,
/// forwarded or not, in counters.hits[h]; expired ones count nowhere. Words come from a GPU too:
/// one out of range drops its packet, reason `unavailable`.
/// A packet that ends at a group of `groups` goes to one of its members, and counts at both.
/// `router`: what becomes of packets that are not just passed on; null: they are dropped. `now`: as
/// `hops` were made. `frames`: where the packets lie, at most kFramesMax; null: not looked up yet.
void route_finish(std::span<const RouteRewrite> hops, const FinishContext& call,
                  Router* router = nullptr, const RouteGroups& groups = {}, const HopsNow& now = {},
                  const Frames* frames = nullptr) noexcept;

/// One hop less, of IPv4 with its checksum (RFC 1624), and of IPv6. Not from 0.
void decrement_ttl(std::byte* frame) noexcept;
void decrement_hop_limit(std::byte* frame) noexcept;

}  // namespace millrace
