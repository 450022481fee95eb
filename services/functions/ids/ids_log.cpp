// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_log.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <span>
#include <utility>

#include "services/functions/ids/app_text.hpp"
#include "services/functions/ids/packets/packet_layers.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

constexpr std::uint8_t kClient = 0, kServer = 1;

EventApp event_app_of(AppProtocol app) noexcept {
  switch (app) {
    case AppProtocol::kHttp:
    case AppProtocol::kHttp2:
      return EventApp::kHttp;
    case AppProtocol::kDns:
      return EventApp::kDns;
    case AppProtocol::kTls:
      return EventApp::kTls;
    case AppProtocol::kSsh:
      return EventApp::kSsh;
    case AppProtocol::kSmtp:
      return EventApp::kSmtp;
    default:
      return EventApp::kCount;
  }
}

/// As Suricata has it: of frames of a connection of HTTP/2, those with settings or an error.
bool says_something(Transaction& transaction) {
  if (transaction.protocol() != AppProtocol::kHttp2 || transaction.stream != 0) return true;
  for (const std::uint8_t direction : {kClient, kServer}) {
    if (!transaction.parts(direction, RuleBuffer::kHttp2Setting).empty() ||
        !transaction.parts(direction, RuleBuffer::kHttp2ErrorCode).empty()) {
      return true;
    }
  }
  return false;
}

FlowDirection direction_of(std::uint8_t direction) noexcept {
  return direction == kClient ? FlowDirection::kToServer : FlowDirection::kToClient;
}

/// As its header of IP says.
std::uint16_t bytes_of(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  constexpr std::size_t kIpv4LengthAt = 2, kIpv6LengthAt = 4, kIpv6HeaderBytes = 40;
  const bool is_ipv4 = headers.ip_version == 4;
  const std::size_t at = headers.network_offset + (is_ipv4 ? kIpv4LengthAt : kIpv6LengthAt);
  if (headers.ip_version == 0 || at + sizeof(std::uint16_t) > frame.size()) return 0;
  const std::size_t bytes = wire_bytes::u16(frame, at) + (is_ipv4 ? 0 : kIpv6HeaderBytes);
  return static_cast<std::uint16_t>(
      std::min<std::size_t>(bytes, std::numeric_limits<std::uint16_t>::max()));
}

/// Addresses and ports of what a packet carries, as a record has them.
void put_ends_of(std::span<const std::byte> frame, const PacketHeaders& headers,
                 EventRecord& record) noexcept {
  const FlowTuple ends = ends_of(frame, headers);
  put_ends(ends, record);
  const std::size_t at = headers.transport_offset;
  if (!ip_protocol::is_icmp(ends.protocol)) return;
  // Its type, low, and its code, which stand in this order.
  const bool is_there = at != 0 && at + sizeof(std::uint16_t) <= frame.size();
  record.destination_port = is_there
                                ? static_cast<std::uint16_t>(wire_bytes::u8(frame, at + 1) << 8 |
                                                             wire_bytes::u8(frame, at))
                                : std::uint16_t{0};
}

}  // namespace

bool IdsLog::wants(AppProtocol app) const noexcept {
  switch (app) {
    case AppProtocol::kHttp:
    case AppProtocol::kHttp2:
      return choice_.http;
    case AppProtocol::kDns:
      return choice_.dns;
    case AppProtocol::kTls:
      return choice_.tls;
    case AppProtocol::kSsh:
      return choice_.ssh;
    case AppProtocol::kSmtp:
      return choice_.smtp;
    default:
      return false;
  }
}

void IdsLog::begin() noexcept {
  lines_.clear();
  matched_.clear();
  texts_.clear();
  unreadable_.reset();
}

/// All that is there by now.
void IdsLog::put(Transaction& transaction, std::uint8_t direction) {
  text_.clear();
  switch (transaction.protocol()) {
    case AppProtocol::kHttp:
    case AppProtocol::kHttp2:
      return put_http(transaction, text_);
    case AppProtocol::kTls:
      return put_tls(transaction, text_);
    case AppProtocol::kSsh:
      return put_ssh(transaction, text_);
    case AppProtocol::kSmtp:
      return put_smtp(transaction, text_);
    case AppProtocol::kDns:
      put_dns(std::as_bytes(std::span(transaction.messages[direction])), 0, text_);
      return;
    default:
      return;
  }
}

void IdsLog::note_matched(Transaction& transaction, std::uint8_t direction) noexcept {
  if (!alert_app_) return;
  try {
    put(transaction, direction);
    keep(transaction, direction_of(direction), matched_);
  } catch (const std::bad_alloc&) {
    return;
  }
}

std::span<const std::byte> IdsLog::text_of(std::uint64_t transaction) const noexcept {
  const auto at =
      std::ranges::find(matched_.rbegin(), matched_.rend(), transaction,
                        [](const Line& line) { return line.event.transaction.number(); });
  if (at == matched_.rend()) return {};
  return std::span(texts_).subspan(at->begin, at->bytes);
}

void IdsLog::keep(const Transaction& transaction, FlowDirection direction,
                  std::vector<Line>& lines) {
  AppEvent event{};
  event.transaction = EventCount(transaction.number());
  event.direction = direction;
  event.app = event_app_of(transaction.protocol());
  const auto bytes = text_.bytes();
  const std::size_t begin = texts_.size();
  texts_.insert(texts_.end(), bytes.begin(), bytes.end());
  lines.push_back({.event = event, .begin = begin, .bytes = bytes.size()});
}

/// Of a query, each question is told of by itself, as Suricata does.
void IdsLog::note_messages(Transaction& transaction, std::uint8_t direction) {
  const std::string message = std::exchange(transaction.messages[direction], {});
  for (std::size_t question = 0;; ++question) {
    text_.clear();
    if (!put_dns(std::as_bytes(std::span(message)), question, text_)) return;
    keep(transaction, direction_of(direction), lines_);
    if (direction == kServer) return;
  }
}

void IdsLog::note(Transaction& transaction, std::uint8_t direction) noexcept {
  if (!wants(transaction.protocol())) return;
  try {
    if (transaction.protocol() == AppProtocol::kDns) return note_messages(transaction, direction);
    if (!transaction.is_complete(kClient) || !transaction.is_complete(kServer)) return;
    if (!says_something(transaction)) return;
    if (std::exchange(transaction.is_logged, true)) return;
    put(transaction, direction);
    keep(transaction, FlowDirection::kUnknown, lines_);
  } catch (const std::bad_alloc&) {
    return;
  }
}

void IdsLog::note_unreadable(AppProtocol app, std::uint8_t direction) noexcept {
  if (choice_.anomaly) unreadable_ = {app, direction_of(direction)};
}

void IdsLog::tell(const EventWriter& events, std::uint16_t packet,
                  const FlowTuple& client) noexcept {
  for (const Line& line : lines_) {
    events.app(packet, client, line.event, std::span(texts_).subspan(line.begin, line.bytes));
  }
  if (unreadable_) {
    if (EventRecord* const record = events.emit(EventKind::kAnomaly, packet)) {
      record->anomaly.type = AnomalyType::kAppUnreadable;
      record->anomaly.direction = unreadable_->direction;
      EventWriter::put_name(name_of(unreadable_->app), record->anomaly.app);
    }
  }
  begin();
}

void IdsLog::tell_drop(const FinishContext& call, const Dropped& what) const noexcept {
  DropEvent event{};
  const bool is_inner = !what.inner.empty();
  const std::span<const std::byte> frame = is_inner ? what.inner : call.batch.bytes(what.packet);
  const PacketHeaders headers = is_inner ? what.inner_headers : parse_headers(frame);
  event.bytes = bytes_of(frame, headers);
  event.reason = what.reason;
  event.direction = what.direction;
  if (what.rule) {
    const Signature& signature = signatures_[*what.rule];
    event.rule = *what.rule;
    event.sid = signature.sid;
    event.gid = signature.gid;
    event.revision = signature.revision;
    event.priority = signature.priority;
  }
  EventRecord* const record = call.events.emit(EventKind::kDrop, what.packet);
  if (record == nullptr) return;
  record->drop = event;
  if (is_inner) put_ends_of(frame, headers, *record);
}

}  // namespace millrace
