// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/function.hpp"
#include "services/functions/ids/detect/packet_view.hpp"
#include "services/functions/ids/ids_settings.hpp"
#include "services/functions/ids/overlap_policies.hpp"
#include "services/functions/ids/packets/packet_layers.hpp"
#include "services/functions/stream/stream_reader.hpp"
#include "services/functions/stream/tcp_streams.hpp"
#include "shared/layout/event_record.hpp"

/// From what PacketLayers has of a packet to what detection asks for.

namespace millrace {

/// Its flow is one of `flow`.
bool is_of_batch(const SeenPacket& seen) noexcept;

/// A part of a datagram that is put together.
bool is_put_together(const PacketHeaders& headers, FragmentUse use) noexcept;

/// No rule can see what it carries, or of which flow it is.
bool hides_what_it_carries(const SeenPacket& seen, FragmentUse use) noexcept;

/// Unknown: it has no flow.
FlowDirection direction_of(const SeenPacket& seen) noexcept;

/// A whole segment of TCP with SYN: a side's first.
bool begins_connection(const SeenPacket& seen) noexcept;

/// Of a packet of TCP, and how its receiver treats overlaps. It borrows from the first two.
TcpStreams::Segment segment_of(const FinishContext& call, const SeenPacket& seen,
                               const OverlapPolicies& overlaps) noexcept;

/// Without payload and history. It borrows from both.
PacketView view_of(const FinishContext& call, const SeenPacket& seen) noexcept;

/// A function in front has found none of the literals in its payload (payload_hint.hpp), and it
/// still has the ports that `view` has. `literals`: PayloadLiterals::fingerprint.
bool is_hinted_clean(const FinishContext& call, const SeenPacket& seen, const PacketView& view,
                     std::uint32_t literals) noexcept;

/// All that is new of the text stands at the end of the payload too.
bool ends_with_new_of(std::span<const std::byte> payload,
                      const StreamReader::Offer& offer) noexcept;

}  // namespace millrace
