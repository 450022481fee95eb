// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/route/route_image.hpp"

namespace millrace {

/// Word of a packet: kRouteDrop | Reason, or the number of its next hop, with kRouteTtlExpired when
/// it may not be forwarded any further.
inline constexpr std::uint32_t kRouteDrop = 1u << 31;
inline constexpr std::uint32_t kRouteTtlExpired = 1u << 30;
inline constexpr std::uint32_t kRouteHopMask = kRouteTtlExpired - 1;

/// All checks of one frame, in the order of README.md: its word before the look-up (kRouteDrop |
/// Reason, kRouteTtlExpired, or 0). `wire_length` only tells a cut frame from a short one. Reads
/// nothing outside `frame`. The slow form; route_compute() asks it about what is not ordinary.
std::uint32_t route_check(std::span<const std::byte> frame, std::uint32_t wire_length,
                          const RouteTable& table) noexcept;

}  // namespace millrace
