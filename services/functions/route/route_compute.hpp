// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "services/functions/frames.hpp"
#include "services/functions/route/route_check.hpp"
#include "services/functions/route/route_image.hpp"
#include "shared/layout/batch.hpp"

/// The fast pass of route: one word a packet, from its headers and the table alone. The same words
/// come from a GPU.

namespace millrace {

/// Bytes of a frame that the pass may read: Ethernet and the longest IPv4 header.
inline constexpr std::uint32_t kRouteBytesRead = 14 + 60;
/// Of most: hardly a packet has options of IPv4, and IPv6's header ends in the frame's first line.
inline constexpr std::uint32_t kRouteBytesUsual = 14 + 40;

/// Writes results[p] for each of `packets`, which ascend. RFC 1812 5.2.2, 5.3. Changes nothing
/// else. The caller has prefetched the frames; the table's entries are prefetched here. Eight
/// packets are checked side by side; whole eights with consecutive numbers are the quick case.
void route_compute(const RouteTable& table, const Batch& batch,
                   std::span<const std::uint16_t> packets,
                   std::span<std::uint32_t> results) noexcept;
/// The same of 1..kFramesMax packets, which lie at `frames`.
void route_compute(const RouteTable& table, const Batch& batch,
                   std::span<const std::uint16_t> packets, const Frames& frames,
                   std::span<std::uint32_t> results) noexcept;

}  // namespace millrace
