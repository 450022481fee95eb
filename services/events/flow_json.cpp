// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/flow_json.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "services/events/json_line.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

using json_line::PacketEnd;
using json_line::put_end;
using json_line::put_flag;
using json_line::put_key;
using json_line::put_object;
using json_line::put_text;
using json_line::put_value;

constexpr std::uint64_t kMillisecondNs = 1'000'000;

bool is_icmp(const EventRecord& record) { return ip_protocol::is_icmp(record.protocol); }

bool has_addresses(const EventRecord& record) {
  return record.ip_version == 4 || record.ip_version == 6;
}

/// Ports, or what a flow of ICMP has instead of them, but for its identifier.
void put_tuple(const EventRecord& record, bool has_destination, std::string& out) {
  if (!has_addresses(record)) return;
  const bool ports = !is_icmp(record) && (record.source_port != 0 || record.destination_port != 0);
  if (has_destination) {
    json_line::put_ends(record, ports, out);
  } else {
    put_end(PacketEnd::kSource, record.ip_version, record.source,
            ports ? std::optional(record.source_port) : std::nullopt, out);
    put_text("proto", protocol_name(record.protocol), out);
  }
  if (!is_icmp(record) || !has_destination) return;
  put_value("icmp_type", record.destination_port, out);
  put_value("icmp_code", 0, out);
}

const char* state_of(FlowPhase phase) {
  switch (phase) {
    case FlowPhase::kNew:
      return "new";
    case FlowPhase::kEstablished:
      return "established";
    case FlowPhase::kClosed:
      return "closed";
  }
  return "unknown";
}

const char* reason_of(FlowEndReason reason) {
  switch (reason) {
    case FlowEndReason::kTimeout:
      return "timeout";
    case FlowEndReason::kClosed:
      return "closed";
    case FlowEndReason::kForced:
    case FlowEndReason::kEvicted:
      return "forced";
    case FlowEndReason::kShutdown:
      return "shutdown";
  }
  return "unknown";
}

/// As EVE calls them, which tells the two waits behind a FIN apart.
const char* tcp_state_of(FlowTcpState state) {
  constexpr std::array<const char*, static_cast<std::size_t>(FlowTcpState::kCount)> kNames = {
      "none",       "syn_sent", "syn_recv",  "established", "fin_wait1",
      "close_wait", "last_ack", "time_wait", "closed",      "syn_sent"};
  const auto at = static_cast<std::size_t>(state);
  return at < kNames.size() ? kNames[at] : "unknown";
}

void put_tcp(const FlowEvent& flow, std::string& out) {
  constexpr std::array<const char*, 8> kFlags = {"fin", "syn", "rst", "psh",
                                                 "ack", "urg", "ecn", "cwr"};
  const unsigned all = flow.tcp_flags[0] | flow.tcp_flags[1];
  const auto hexadecimal = [&](const char* key, unsigned flags) {
    std::array<char, 3> text{};
    std::snprintf(text.data(), text.size(), "%02x", flags & 0xffu);
    put_text(key, text.data(), out);
  };
  put_object("tcp", out, [&] {
    if (all != 0) {
      hexadecimal("tcp_flags", all);
      hexadecimal("tcp_flags_ts", flow.tcp_flags[0]);
      hexadecimal("tcp_flags_tc", flow.tcp_flags[1]);
      for (std::size_t bit = 0; bit < kFlags.size(); ++bit) {
        if ((all >> bit & 1) != 0) put_flag(kFlags[bit], true, out);
      }
    }
    put_text("state", tcp_state_of(flow.tcp), out);
  });
}

/// What was `ago_ms` before `time_ns`; 1970 where there is no such time.
std::uint64_t before(std::uint64_t time_ns, std::uint64_t ago_ms) {
  return time_ns - std::min(ago_ms, time_ns / kMillisecondNs) * kMillisecondNs;
}

const char* scope_of(TranslationScope scope) {
  switch (scope) {
    case TranslationScope::kSession:
      return "session";
    case TranslationScope::kBlock:
      return "block";
    case TranslationScope::kMapping:
      break;
  }
  return "mapping";
}

/// Of a mapping or a session, behind its source address: the port or identifier that it has
/// outside, and of a session the other end.
void put_outside_ports(const EventRecord& record, std::string& out) {
  const TranslationEvent& to = record.translation;
  const bool ports = !is_icmp(record) && (to.source_port != 0 || to.destination_port != 0);
  if (is_icmp(record)) put_value("icmp_id", to.source_port, out);
  if (ports) put_value("src_port", to.source_port, out);
  if (to.scope != TranslationScope::kSession) return;
  put_end(PacketEnd::kDestination, to.ip_version, to.destination,
          ports ? std::optional(to.destination_port) : std::nullopt, out);
}

}  // namespace

void put_flow(const EventRecord& record, std::uint64_t time_ns, EventTimes& times,
              std::string& out) {
  const FlowEvent& flow = record.flow;
  const std::uint64_t end_ns = before(time_ns, flow.idle_ms.number());
  const auto time = [&](const char* key, std::uint64_t at_ns) {
    put_key(key, out);
    out += '"';
    times.put(at_ns, out);
    out += '"';
  };
  put_tuple(record, true, out);
  put_object("flow", out, [&] {
    put_value("pkts_toserver", flow.packets[0].number(), out);
    put_value("pkts_toclient", flow.packets[1].number(), out);
    put_value("bytes_toserver", flow.bytes[0].number(), out);
    put_value("bytes_toclient", flow.bytes[1].number(), out);
    time("start", before(end_ns, flow.lasted_ms.number()));
    time("end", end_ns);
    put_value("age", flow.lasted_ms.number() / 1000, out);
    put_text("state", state_of(flow.phase), out);
    put_text("reason", reason_of(flow.reason), out);
    put_flag("alerted", flow.is_alerted != 0, out);
  });
  if (record.protocol == ip_protocol::kTcp) put_tcp(flow, out);
}

void put_flow_own(const EventRecord& record, std::string& out) {
  if (has_addresses(record) && is_icmp(record)) put_value("icmp_id", record.source_port, out);
  if (record.kind == EventKind::kFlow && record.flow.is_translated != 0) {
    put_flag("translated", true, out);
  }
}

std::uint8_t nat_event_of(const EventRecord& record) {
  const TranslationEvent& to = record.translation;
  const std::uint8_t removed = to.action == TranslationAction::kRemoved ? 1 : 0;
  const bool mapping = to.scope == TranslationScope::kMapping;
  if (to.ip_version != 4 || !has_addresses(record)) return 0;
  if (to.scope == TranslationScope::kBlock) return 16 + removed;
  if (record.ip_version == 4) return (mapping ? 8 : 4) + removed;  // NAT44
  return (mapping ? 10 : 6) + removed;                             // NAT64
}

void put_translation(const EventRecord& record, std::string& out) {
  const TranslationEvent& to = record.translation;
  if (to.scope != TranslationScope::kBlock) {
    put_tuple(record, to.scope == TranslationScope::kSession, out);
  } else if (has_addresses(record)) {
    put_end(PacketEnd::kSource, record.ip_version, record.source, std::nullopt, out);
  }
  put_object("nat", out, [&] {
    put_text("action", to.action == TranslationAction::kRemoved ? "removed" : "created", out);
    put_text("scope", scope_of(to.scope), out);
    if (const std::uint8_t event = nat_event_of(record); event != 0) {
      put_value("nat_event", event, out);
    }
    if (to.ip_version == 4 || to.ip_version == 6) {
      put_end(PacketEnd::kSource, to.ip_version, to.source, std::nullopt, out);
      if (to.scope == TranslationScope::kBlock) {
        put_value("first_port", to.source_port, out);
        put_value("last_port", to.destination_port, out);
      } else {
        put_outside_ports(record, out);
      }
    }
  });
}

}  // namespace millrace
