// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "io-worker/egress/burst_sender.hpp"
#include "io-worker/egress/side_pool.hpp"

namespace millrace {

/// Sends a frame of IPv4, or of IPv6 with a fragment header (untagged Ethernet), in fragments of
/// `mtu` bytes at most, each in a buffer of the pool. Each is generated{fragment}, and then
/// transmitted or dropped; the caller counts the frame itself. A frame that cannot be split counts
/// as one fragment, dropped as `oversize`. The sender has begun with `record`.
void send_fragments(BurstSender& sender, SidePool& pool, LaneRecord& record,
                    std::span<const std::byte> frame, std::uint32_t mtu,
                    std::uint8_t port) noexcept;

/// A buffer of the pool; sends first when all of them wait to be sent. SidePool::kNone when there
/// is none; the packet is then counted as dropped (`no_buffer`).
std::uint32_t take_side_buffer(BurstSender& sender, SidePool& pool, LaneRecord& record) noexcept;

}  // namespace millrace
