// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/event_writer.hpp"

#include <algorithm>
#include <cstring>

#include "services/functions/flow/flow_tuple.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet.hpp"
#include "shared/layout/event_text.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

constexpr std::size_t kIpv4Bytes = 4, kIpv6Bytes = 16;
constexpr std::size_t kIpv4AddressesAt = 12, kIpv6AddressesAt = 8;

void put_addresses(std::span<const std::byte> frame, const PacketHeaders& headers,
                   EventRecord& record) noexcept {
  const bool old = headers.ip_version == 4;
  const std::size_t bytes = old ? kIpv4Bytes : kIpv6Bytes;
  const std::size_t at = headers.network_offset + (old ? kIpv4AddressesAt : kIpv6AddressesAt);
  std::memcpy(record.source.data(), frame.data() + at, bytes);
  std::memcpy(record.destination.data(), frame.data() + at + bytes, bytes);
  record.ip_version = headers.ip_version;
  record.protocol = headers.protocol;
}

/// Type, code and, of a question or its answer, the identifier.
void put_icmp(std::span<const std::byte> message, EventRecord& record) noexcept {
  constexpr std::uint8_t kWithIdentifier[] = {0, 8, 13, 14, 15, 16, 17, 18};
  constexpr std::uint8_t kWithIdentifierV6[] = {128, 129};
  if (message.size() < 8) return;
  const std::uint8_t type = wire_bytes::u8(message, 0), code = wire_bytes::u8(message, 1);
  record.destination_port = static_cast<std::uint16_t>(code << 8 | type);
  const bool has_identifier = record.protocol == ip_protocol::kIcmp
                                  ? std::ranges::count(kWithIdentifier, type) != 0
                                  : std::ranges::count(kWithIdentifierV6, type) != 0;
  if (has_identifier) record.source_port = wire_bytes::u16(message, 4);
}

void put_ports(std::span<const std::byte> frame, const PacketHeaders& headers,
               EventRecord& record) noexcept {
  const std::size_t at = headers.transport_offset;
  if (at == 0 || at + 4 > frame.size()) return;
  if (ip_protocol::is_icmp(headers.protocol)) return put_icmp(frame.subspan(at), record);
  if (!ip_protocol::has_ports(headers.protocol)) return;
  record.source_port = wire_bytes::u16(frame, at);
  record.destination_port = wire_bytes::u16(frame, at + 2);
}

}  // namespace

EventRecord* EventWriter::add(EventKind kind, std::span<const std::byte> text) const noexcept {
  EventRecord* const record = log_->add(text);
  if (record == nullptr) return nullptr;
  *record = {};
  const SlotHeader& header = *batch_->header;
  record->time_tsc = header.time_first_tsc;
  record->sequence = header.sequence;
  record->lane = header.lane;
  record->stream = static_cast<std::uint8_t>(header.stream);
  record->kind = kind;
  record->function = static_cast<std::uint8_t>(function_);
  return record;
}

EventRecord* EventWriter::begin(EventKind kind, std::uint32_t packet,
                                std::span<const std::byte> text) const noexcept {
  EventRecord* const record = add(kind, text);
  if (record == nullptr) return nullptr;
  record->packet = static_cast<std::uint8_t>(packet);
  const std::span<const std::byte> frame = batch_->bytes(packet);
  const PacketHeaders headers = parse_headers(frame);
  if (headers.ip_version == 0) return record;
  put_addresses(frame, headers, *record);
  put_ports(frame, headers, *record);
  return record;
}

void put_ends(const FlowTuple& ends, EventRecord& record) noexcept {
  record.source = ends.source;
  record.destination = ends.destination;
  record.source_port = ends.source_port;
  record.destination_port = ends.destination_port;
  record.ip_version = ends.version;
  record.protocol = ends.protocol;
}

EventRecord* EventWriter::begin_flow(EventKind kind, const FlowTuple& tuple,
                                     std::span<const std::byte> text) const noexcept {
  EventRecord* const record = log_ == nullptr ? nullptr : add(kind, text);
  if (record == nullptr) return nullptr;
  put_ends(tuple, *record);
  return record;
}

void EventWriter::flow_ended(const FlowTuple& tuple, const FlowEvent& what) const noexcept {
  if (EventRecord* const record = begin_flow(EventKind::kFlow, tuple)) record->flow = what;
}

void EventWriter::translation(const FlowTuple& inside, const FlowTuple& outside,
                              TranslationAction action, TranslationScope scope) const noexcept {
  EventRecord* const record = begin_flow(EventKind::kTranslation, inside);
  if (record == nullptr) return;
  record->translation = {.source = outside.source,
                         .destination = outside.destination,
                         .source_port = outside.source_port,
                         .destination_port = outside.destination_port,
                         .ip_version = outside.version,
                         .action = action,
                         .scope = scope,
                         .padding = {}};
}

void EventWriter::signature(std::uint32_t packet, const SignatureEvent& what,
                            std::span<const std::byte> text) const noexcept {
  EventRecord* const record = emit(EventKind::kSignature, packet, text);
  if (record == nullptr) return;
  record->signature = what;
  record->signature.texts = texts_for(text);
}

void EventWriter::app(std::uint32_t packet, const FlowTuple& client, const AppEvent& what,
                      std::span<const std::byte> text) const noexcept {
  EventRecord* const record = begin_flow(EventKind::kApp, client, text);
  if (record == nullptr) return;
  record->packet = static_cast<std::uint8_t>(packet);
  record->app = what;
  record->app.texts = texts_for(text);
}

bool EventWriter::stream(const FlowTuple& tuple, const StreamEvent& what,
                         std::span<const std::byte> text) const noexcept {
  EventRecord* const record = begin_flow(EventKind::kStream, tuple, text);
  if (record == nullptr) return false;
  record->tcp_stream = what;
  record->tcp_stream.texts = texts_for(text);
  return true;
}

void EventWriter::drop(std::uint32_t packet, const DropEvent& what) const noexcept {
  if (EventRecord* const record = emit(EventKind::kDrop, packet)) record->drop = what;
}

void EventWriter::signature(std::uint32_t packet, const SignatureEvent& what,
                            std::span<const std::byte> frame, const PacketHeaders& headers,
                            std::span<const std::byte> text) const noexcept {
  EventRecord* const record = log_ == nullptr ? nullptr : add(EventKind::kSignature, text);
  if (record == nullptr) return;
  record->packet = static_cast<std::uint8_t>(packet);
  put_addresses(frame, headers, *record);
  put_ports(frame, headers, *record);
  record->signature = what;
  record->signature.texts = texts_for(text);
}

void EventWriter::put_name(std::string_view name, std::span<char> to) noexcept {
  constexpr std::string_view kCut = "...";
  if (name.size() <= to.size()) {
    std::ranges::copy(name, to.begin());
    return;
  }
  std::ranges::copy(kCut, to.begin());
  std::ranges::copy(name.substr(name.size() - (to.size() - kCut.size())),
                    to.begin() + static_cast<std::ptrdiff_t>(kCut.size()));
}

}  // namespace millrace
