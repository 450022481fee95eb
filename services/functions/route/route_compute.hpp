// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "services/functions/route/route_image.hpp"
#include "shared/layout/batch.hpp"

/// The fast pass of route: one word a packet, from its headers and the table alone. The same words
/// come from a GPU.

namespace millrace {

/// Word of a packet: kRouteDrop | Reason, or the number of its next hop, with kRouteTtlExpired when
/// it may not be forwarded any further.
inline constexpr std::uint32_t kRouteDrop = 1u << 31;
inline constexpr std::uint32_t kRouteTtlExpired = 1u << 30;
inline constexpr std::uint32_t kRouteHopMask = kRouteTtlExpired - 1;

/// Bytes of a frame that the pass may read: Ethernet and the longest IPv4 header.
inline constexpr std::uint32_t kRouteBytesRead = 14 + 60;

/// All checks of one frame, in the order of README.md: its word before the look-up (kRouteDrop |
/// Reason, kRouteTtlExpired, or 0). `wire_length` only tells a cut frame from a short one. Reads
/// nothing outside `frame`. The slow form; route_compute() asks it about what is not ordinary.
std::uint32_t route_check(std::span<const std::byte> frame, std::uint32_t wire_length,
                          const RouteTable& table) noexcept;

/// Writes results[p] for each of `packets`. RFC 1812 5.2.2, 5.3. Changes nothing else. The caller
/// has prefetched the frames; the table's entries are prefetched here.
void route_compute(const RouteTable& table, const Batch& batch,
                   std::span<const std::uint16_t> packets,
                   std::span<std::uint32_t> results) noexcept;

}  // namespace millrace
