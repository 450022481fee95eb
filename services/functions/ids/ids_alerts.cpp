// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_alerts.hpp"

#include <optional>
#include <utility>

#include "services/functions/ids/packets/packet_layers.hpp"
#include "services/functions/ids/signature_event.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/layout/event_text.hpp"

namespace millrace {
namespace {

/// With the addresses of what was looked at.
void tell(const FinishContext& call, const AlertedPacket& packet, const SignatureEvent& event,
          std::span<const std::byte> text) noexcept {
  if (packet.inner == nullptr) return call.events.signature(packet.packet, event, text);
  call.events.signature(packet.packet, event, packet.inner->frame, packet.inner->headers, text);
}

/// With those of the data, which are of a flow of TCP or UDP.
void tell_turned(const FinishContext& call, const AlertedPacket& packet,
                 const SignatureEvent& event, std::span<const std::byte> text) noexcept {
  EventRecord* const record = call.events.emit(EventKind::kSignature, packet.packet, text);
  if (record == nullptr) return;
  record->signature = event;
  record->signature.texts = texts_for(text);
  if (packet.inner != nullptr) {
    put_ends(ends_of(packet.inner->frame, packet.inner->headers), *record);
  }
  std::swap(record->source, record->destination);
  std::swap(record->source_port, record->destination_port);
}

void tell(const FinishContext& call, const AlertedPacket& packet, bool turned,
          const SignatureEvent& event, std::span<const std::byte> text) noexcept {
  return turned ? tell_turned(call, packet, event, text) : tell(call, packet, event, text);
}

/// The packet of the batch, where it is of IP and carries what the rule has matched.
std::optional<EventTunnel> tunnel_of(const FinishContext& call,
                                     const AlertedPacket& packet) noexcept {
  if (packet.inner == nullptr || packet.depth == 0) return std::nullopt;
  const std::span<const std::byte> frame = call.batch.bytes(packet.packet);
  const FlowTuple ends = ends_of(frame, parse_headers(frame));
  if (ends.version == 0) return std::nullopt;
  const bool has_ports = ip_protocol::has_ports(ends.protocol);
  return EventTunnel{.source = ends.source,
                     .destination = ends.destination,
                     .source_port = has_ports ? ends.source_port : std::uint16_t{0},
                     .destination_port = has_ports ? ends.destination_port : std::uint16_t{0},
                     .ip_version = ends.version,
                     .protocol = ends.protocol,
                     .depth = packet.depth,
                     .padding = 0};
}

FlowDirection turned_around(FlowDirection direction) noexcept {
  return direction == FlowDirection::kToServer ? FlowDirection::kToClient
                                               : FlowDirection::kToServer;
}

}  // namespace

bool is_turned(const AlertedPacket& packet, const MatchedRule& rule) noexcept {
  if (packet.direction == FlowDirection::kUnknown) return false;
  return (packet.direction == FlowDirection::kToClient) != (rule.direction == 1);
}

void tell_alert(const FinishContext& call, const AlertedPacket& packet, const MatchedRule& rule,
                const Signature& signature, EventAction action, const AlertBytes& bytes) noexcept {
  SignatureEvent event = signature_event(rule.signature, signature, action);
  const bool turned = is_turned(packet, rule);
  event.direction = turned ? turned_around(packet.direction) : packet.direction;
  event.scope = rule.by_stream ? SignatureScope::kStream : SignatureScope::kPacket;
  if (rule.transaction != kNoTransaction) {
    event.scope = SignatureScope::kTransaction;
    event.transaction = EventCount(rule.transaction);
  }
  if (packet.app != AppProtocol::kUnknown) EventWriter::put_name(name_of(packet.app), event.app);
  std::span<const std::byte> app;
  if (packet.log != nullptr && rule.transaction != kNoTransaction) {
    app = packet.log->text_of(rule.transaction);
  }
  const std::optional<EventTunnel> tunnel = tunnel_of(call, packet);
  if (bytes.payload == 0 && bytes.packet == 0 && !tunnel)
    return tell(call, packet, turned, event, app);
  EventTextWriter text;
  if (tunnel) {
    text.put(EventField::kTunnel, std::as_bytes(std::span(&*tunnel, 1)), sizeof *tunnel);
  }
  text.put_text(app);
  if (bytes.payload != 0 && !turned && !packet.payload.empty()) {
    text.put(EventField::kPayload, packet.payload, bytes.payload);
  }
  if (bytes.packet != 0) {
    text.put(EventField::kPacket, call.batch.bytes(packet.packet), bytes.packet);
  }
  tell(call, packet, turned, event, text.bytes());
}

}  // namespace millrace
