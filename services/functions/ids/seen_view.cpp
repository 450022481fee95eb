// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/seen_view.hpp"

#include "services/functions/ids/detect/packet_tests.hpp"
#include "services/functions/stream/tcp_data.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/layout/payload_hint.hpp"

namespace millrace {

bool is_of_batch(const SeenPacket& seen) noexcept {
  return seen.has_flow && seen.layer != SeenPacket::Layer::kCarried;
}

bool is_put_together(const PacketHeaders& headers, FragmentUse use) noexcept {
  return headers.fragment && use == FragmentUse::kAssemble;
}

bool hides_what_it_carries(const SeenPacket& seen, FragmentUse use) noexcept {
  const PacketHeaders& headers = seen.headers;
  if (chain_breaks_off(headers)) return true;
  const bool has_ports = ip_protocol::has_ports(headers.protocol);
  if (seen.layer == SeenPacket::Layer::kDatagram && has_ports && !seen.has_flow) return true;
  if (is_put_together(headers, use)) {
    return has_ports && headers.first_fragment && headers.payload_offset == 0;
  }
  return headers.fragment && headers.protocol != ip_protocol::kTcp && use == FragmentUse::kDrop;
}

FlowDirection direction_of(const SeenPacket& seen) noexcept {
  if (!seen.has_flow) return FlowDirection::kUnknown;
  return seen.flow.direction == 0 ? FlowDirection::kToServer : FlowDirection::kToClient;
}

bool begins_connection(const SeenPacket& seen) noexcept {
  const PacketHeaders& headers = seen.headers;
  return headers.status == ParseStatus::kOk && !headers.fragment && headers.payload_offset != 0 &&
         is_tcp_syn(seen.frame, headers);
}

/// Of a packet that is invalid `flow` knows its flow too.
TcpStreams::Segment segment_of(const FinishContext& call, const SeenPacket& seen,
                               const OverlapPolicies& overlaps) noexcept {
  const FlowTuple* tuple = seen.tuple;
  if (seen.flow.flow != kNoFlow) tuple = &call.flows->tuple(seen.flow.flow, 0);
  const OverlapPolicy policy =
      tuple == nullptr ? OverlapPolicy::kNone : overlaps.of(*tuple, seen.flow.direction);
  const bool whole = seen.layer == SeenPacket::Layer::kPacket;
  return {seen.frame, seen.headers, seen.flow, tuple, whole, policy};
}

PacketView view_of(const FinishContext& call, const SeenPacket& seen) noexcept {
  return {.frame = seen.frame,
          .headers = seen.headers,
          .tuple = is_of_batch(seen) ? call.flows->tuple(seen.flow.flow, seen.flow.direction)
                                     : ends_of(seen.frame, seen.headers),
          .direction = seen.flow.direction,
          .has_flow = seen.has_flow,
          .is_established = seen.flow.state == FlowState::kEstablished,
          .payload = {}};
}

/// What is put together, or was in a tunnel, is not what the function in front has searched.
bool is_hinted_clean(const FinishContext& call, const SeenPacket& seen, const PacketView& view,
                     std::uint32_t literals) noexcept {
  const std::uint8_t protocol = seen.headers.protocol;
  const bool is_searched = protocol == ip_protocol::kTcp || protocol == ip_protocol::kUdp;
  if (seen.layer != SeenPacket::Layer::kPacket || !is_searched || seen.headers.fragment ||
      !is_hinted_clean(*call.batch.header, seen.packet, literals)) {
    return false;
  }
  const FlowTuple ends = ends_of(seen.frame, seen.headers);
  return ends.source_port == view.tuple.source_port &&
         ends.destination_port == view.tuple.destination_port;
}

bool ends_with_new_of(std::span<const std::byte> payload,
                      const StreamReader::Offer& offer) noexcept {
  const std::span<const std::byte> fresh = offer.text.subspan(offer.carry);
  return fresh.size() <= payload.size() && is_equal(payload.last(fresh.size()), fresh);
}

}  // namespace millrace
