// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/event_json.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "services/events/alert_json.hpp"
#include "services/events/app_json.hpp"
#include "services/events/flow_identity.hpp"
#include "services/events/flow_json.hpp"
#include "services/events/json_line.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/mac.hpp"
#include "shared/layout/event_text.hpp"

namespace millrace {
namespace {

using json_line::put_object;
using json_line::put_text;
using json_line::put_value;

constexpr std::uint64_t kSecondNs = 1'000'000'000;

/// Bytes of the UTF-8 character at the start of `text`; 0: there is none (RFC 3629).
std::size_t character_bytes(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = at(0);
  if (first < 0x80) return 1;
  std::size_t bytes = 0;
  if (first >= 0xc2 && first < 0xe0) bytes = 2;
  if (first >= 0xe0 && first < 0xf0) bytes = 3;
  if (first >= 0xf0 && first < 0xf5) bytes = 4;
  if (bytes == 0 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  const bool is_long = (first == 0xe0 && at(1) < 0xa0) || (first == 0xf0 && at(1) < 0x90);
  const bool is_surrogate = first == 0xed && at(1) >= 0xa0;
  const bool is_beyond = first == 0xf4 && at(1) >= 0x90;
  return is_long || is_surrogate || is_beyond ? 0 : bytes;
}

void put_anomaly(const EventRecord& record, std::string& out) {
  const AnomalyEvent& anomaly = record.anomaly;
  const bool is_app = anomaly.type == AnomalyType::kAppUnreadable;
  if (is_app) put_app(anomaly.app, anomaly.direction, out);
  put_object("anomaly", out, [&] {
    if (is_app) {
      put_app(anomaly.app, FlowDirection::kUnknown, out);
      put_text("type", "applayer", out);
      put_text("event", "UNREADABLE", out);
      put_text("layer", "proto_parser", out);
    } else {
      put_text("type", record.ip_version == 6 ? "nd" : "arp", out);
      put_text("event",
               anomaly.type == AnomalyType::kAddressConflict ? "address_conflict" : "unknown", out);
      put_text("mac", mac_text(anomaly.mac), out);
    }
  });
}

const char* type_of(const EventRecord& record) {
  switch (record.kind) {
    case EventKind::kAlert:
    case EventKind::kSignature:
      return "alert";
    case EventKind::kAnomaly:
      return "anomaly";
    case EventKind::kFlow:
      return "flow";
    case EventKind::kTranslation:
      return "nat";
    case EventKind::kDrop:
      return "drop";
    case EventKind::kApp: {
      static constexpr std::array kNames = {"http", "dns", "tls", "ssh", "smtp"};
      static_assert(kNames.size() == static_cast<std::size_t>(EventApp::kCount));
      const auto app = static_cast<std::size_t>(record.app.app);
      return app < kNames.size() ? kNames[app] : "unknown";
    }
    case EventKind::kStream:
      return "stream";
    case EventKind::kText:
    case EventKind::kCount:
      break;
  }
  return "unknown";
}

/// Number of the transaction that the record is about.
std::optional<std::uint64_t> transaction_of(const EventRecord& record) {
  if (record.kind == EventKind::kApp) return record.app.transaction.number();
  if (record.kind != EventKind::kSignature) return std::nullopt;
  if (record.signature.scope != SignatureScope::kTransaction) return std::nullopt;
  return record.signature.transaction.number();
}

/// Adds the keys that only the record's kind has.
void put_payload(const EventRecord& record, const EventPlace& place, EventTimes& times,
                 std::string& out) {
  const auto transaction = transaction_of(record);
  if (record.kind == EventKind::kApp) put_value("tx_id", *transaction, out);
  if (record.kind == EventKind::kAlert) put_alert(record.alert, out);
  if (record.kind == EventKind::kSignature) put_signature(record.signature, place.signature, out);
  if (record.kind == EventKind::kDrop) put_drop(record.drop, place.signature, out);
  if (record.kind == EventKind::kAnomaly) put_anomaly(record, out);
  if (record.kind == EventKind::kFlow) put_flow(record, place.time_ns, times, out);
  if (record.kind == EventKind::kTranslation) put_translation(record, out);
  if (record.kind != EventKind::kStream) put_fields(place.text, transaction, out);
}

template <typename Item>
void put_name(const char* key, const std::vector<Item>& items, std::size_t number,
              std::string& out) {
  if (number < items.size()) return put_text(key, items[number].name, out);
  put_value(key, number, out);
}

void put_packet(const EventRecord& record, const Plan& plan, std::string& out) {
  if (record.stream < plan.streams.size()) {
    put_name("in_iface", plan.ports, plan.streams[record.stream].port, out);
  }
  if (record.ip_version != 4 && record.ip_version != 6) return;
  const bool is_icmp = ip_protocol::is_icmp(record.protocol);
  const bool ports = !is_icmp && (record.source_port != 0 || record.destination_port != 0);
  json_line::put_ends(record, ports, out);
  if (!is_icmp || record.kind == EventKind::kAnomaly) return;
  put_value("icmp_type", record.destination_port & 0xff, out);
  put_value("icmp_code", record.destination_port >> 8, out);
}

/// Adds flow_id and community_id, by which other lines, and other programs, name the connection.
void put_identity(const EventRecord& record, std::string& out) {
  if (record.kind == EventKind::kAnomaly && record.anomaly.type != AnomalyType::kAppUnreadable) {
    return;
  }
  if (record.kind == EventKind::kTranslation &&
      record.translation.scope != TranslationScope::kSession) {
    return;
  }
  if (const auto flow = flow_id_of(record)) put_value("flow_id", *flow, out);
  if (const std::string id = community_id_of(record); !id.empty()) {
    put_text("community_id", id, out);
  }
}

void put_path(std::uint16_t lane, const Plan& plan, std::string& out) {
  const auto has = [&](const PlanPath& path) {
    return lane >= path.lane_first && lane - path.lane_first < path.lane_count;
  };
  const auto at = std::ranges::find_if(plan.paths, has);
  if (at == plan.paths.end()) return put_value("lane", lane, out);
  put_text("path", at->name, out);
  put_value("lane", lane - at->lane_first, out);
}

}  // namespace

std::string protocol_name(std::uint8_t protocol) {
  switch (protocol) {
    case 1:
      return "ICMP";
    case 2:
      return "IGMP";
    case 4:
      return "IP-in-IP";
    case 6:
      return "TCP";
    case 17:
      return "UDP";
    case 47:
      return "GRE";
    case 50:
      return "ESP";
    case 51:
      return "AH";
    case 58:
      return "IPv6-ICMP";
    case 132:
      return "SCTP";
    default: {
      std::array<char, 4> digits{};
      std::snprintf(digits.data(), digits.size(), "%03u", unsigned{protocol});
      return digits.data();
    }
  }
}

void EventTimes::put(std::uint64_t time_ns, std::string& out) {
  const auto second = static_cast<std::time_t>(time_ns / kSecondNs);
  if (second != second_) {
    std::tm local{};
    ::localtime_r(&second, &local);
    std::array<char, 32> text{};
    text_.assign(text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &local));
    zone_.assign(text.data(), std::strftime(text.data(), text.size(), "%z", &local));
    second_ = second;
  }
  std::array<char, 8> micros{};
  std::snprintf(micros.data(), micros.size(), ".%06u",
                static_cast<unsigned>(time_ns % kSecondNs / 1000));
  out += text_;
  out += micros.data();
  out += zone_;
}

void put_json_text(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const auto first = static_cast<std::uint8_t>(text[0]);
    if (bytes == 0) {
      out += "\\ufffd";
    } else if (first < 0x20 || first == 0x7f) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", unsigned{first});
      out += code.data();
    } else {
      if (first == '"' || first == '\\') out += '\\';
      out += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  out += '"';
}

void put_event(const EventRecord& record, const EventPlace& place, const Plan& plan,
               EventTimes& times, std::string& out) {
  const bool of_packet = record.kind != EventKind::kFlow && record.kind != EventKind::kTranslation;
  out += "{\"timestamp\":\"";
  times.put(place.time_ns, out);
  out += '"';
  put_text("event_type", type_of(record), out);
  put_identity(record, out);
  if (of_packet) put_packet(record, plan, out);
  put_payload(record, place, times, out);
  put_object("millrace", out, [&] {
    put_name("function", plan.functions, record.function, out);
    put_path(record.lane, plan, out);
    put_text("actor", place.actor, out);
    put_value("record", place.number, out);
    if (const auto texts = texts_for(place.text); texts != 0) put_value("records", 1 + texts, out);
    if (record.kind != EventKind::kStream) put_cut_fields(place.text, out);
    if (of_packet) {
      put_value("batch", record.sequence, out);
      put_value("packet", record.packet, out);
    } else {
      put_flow_own(record, out);
    }
  });
  out += "}\n";
}

}  // namespace millrace
