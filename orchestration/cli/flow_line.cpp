// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/flow_line.hpp"

#include <cstdio>
#include <map>

#include "orchestration/cli/columns.hpp"
#include "services/events/json_line.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

bool is_of_icmp(const FlowTuple& tuple) { return ip_protocol::is_icmp(tuple.protocol); }

std::string end_text(const FlowTuple& tuple, const Ipv6Bytes& address, std::uint16_t port) {
  std::string host = json_line::address_text(tuple.version, address);
  if (is_of_icmp(tuple) || (tuple.source_port == 0 && tuple.destination_port == 0)) return host;
  return (tuple.version == 4 ? host : "[" + host + "]") + ":" + std::to_string(port);
}

/// "10.0.0.1:5000 > 192.0.2.9:53"; of ICMP "10.0.0.1 > 192.0.2.9 id 77".
std::string tuple_text(const FlowTuple& tuple, bool is_answer) {
  std::string text = end_text(tuple, tuple.source, tuple.source_port) + " > " +
                     end_text(tuple, tuple.destination, tuple.destination_port);
  if (is_of_icmp(tuple)) {
    text += " id " + std::to_string(is_answer ? tuple.destination_port : tuple.source_port);
  }
  return text;
}

std::string seconds_text(std::uint64_t ms) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%llu.%llus", static_cast<unsigned long long>(ms / 1000),
                static_cast<unsigned long long>(ms % 1000 / 100));
  return text.data();
}

std::string whole_text(double rate) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f", rate);
  return text.data();
}

nlohmann::ordered_json tuple_json(const FlowTuple& tuple, bool is_answer) {
  nlohmann::ordered_json json = {{"src", json_line::address_text(tuple.version, tuple.source)}};
  const bool icmp = is_of_icmp(tuple);
  const bool ports = !icmp && (tuple.source_port != 0 || tuple.destination_port != 0);
  if (ports) json["sport"] = tuple.source_port;
  json["dst"] = json_line::address_text(tuple.version, tuple.destination);
  if (ports) json["dport"] = tuple.destination_port;
  if (icmp) json["icmp_id"] = is_answer ? tuple.destination_port : tuple.source_port;
  if (icmp) json["icmp_type"] = is_answer ? tuple.source_port : tuple.destination_port;
  return json;
}

double in_seconds(std::uint64_t ms) { return static_cast<double>(ms) / 1000; }

double rank_of(const FlowTalker& talker, FlowOrder by) {
  switch (by) {
    case FlowOrder::kBytes:
      return static_cast<double>(talker.bytes);
    case FlowOrder::kPackets:
      return static_cast<double>(talker.packets);
    case FlowOrder::kFlows:
      return static_cast<double>(talker.flows);
    case FlowOrder::kRate:
      break;
  }
  return talker.bytes_s;
}

}  // namespace

std::span<const std::string_view> flow_state_names() {
  // By TcpState; the first is that of a flow without an answer.
  static constexpr std::array<std::string_view, 10> kNames = {
      "new",        "syn_sent", "syn_recv",  "established", "fin_wait",
      "close_wait", "last_ack", "time_wait", "close",       "syn_sent2"};
  return kNames;
}

std::string flow_protocol_name(std::uint8_t protocol) {
  switch (protocol) {
    case ip_protocol::kIcmp:
      return "ICMP";
    case ip_protocol::kTcp:
      return "TCP";
    case ip_protocol::kUdp:
      return "UDP";
    case ip_protocol::kIcmpv6:
      return "ICMPv6";
    default:
      return std::to_string(protocol);
  }
}

std::vector<FlowTalker> top_talkers(std::span<const FlowLine> lines, FlowOrder by,
                                    std::size_t count) {
  std::map<std::pair<std::uint8_t, Ipv6Bytes>, FlowTalker> by_source;
  for (const FlowLine& line : lines) {
    FlowTalker& talker = by_source[{line.tuple.version, line.tuple.source}];
    ++talker.flows;
    talker.packets += line.packets[0] + line.packets[1];
    talker.bytes += line.bytes[0] + line.bytes[1];
    talker.packets_s += line.packets_s;
    talker.bytes_s += line.bytes_s;
  }
  std::vector<FlowTalker> talkers;
  for (auto& [source, talker] : by_source) {
    talker.address = json_line::address_text(source.first, source.second);
    talkers.push_back(std::move(talker));
  }
  std::ranges::stable_sort(talkers, [&](const FlowTalker& a, const FlowTalker& b) {
    return rank_of(a, by) > rank_of(b, by);
  });
  if (talkers.size() > count) talkers.resize(count);
  return talkers;
}

std::string flows_text(std::span<const FlowLine> lines) {
  if (lines.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"proto", "first packet", "state", "packets",
                                                 "bytes", "age", "idle", "expires", "lane",
                                                 "answers, where translated"}};
  for (const FlowLine& line : lines) {
    rows.push_back({flow_protocol_name(line.tuple.protocol), tuple_text(line.tuple, false),
                    std::string(line.state),
                    std::to_string(line.packets[0]) + "/" + std::to_string(line.packets[1]),
                    std::to_string(line.bytes[0]) + "/" + std::to_string(line.bytes[1]),
                    seconds_text(line.age_ms()), seconds_text(line.idle_ms()),
                    seconds_text(line.expires_ms()), line.path + "." + std::to_string(line.lane),
                    line.is_translated() ? tuple_text(line.answer, true) : ""});
  }
  return columns_text(rows);
}

std::string flow_ends_text(const FlowLine& line) {
  return flow_protocol_name(line.tuple.protocol) + " " + tuple_text(line.tuple, false);
}

std::string flow_change_text(std::string_view what, const FlowLine& line) {
  std::string text(what);
  text += std::string(text.size() < 6 ? 6 - text.size() : 0, ' ') + flow_ends_text(line) + "  " +
          std::string(line.state) + "  packets " + std::to_string(line.packets[0]) + "/" +
          std::to_string(line.packets[1]) + ", bytes " + std::to_string(line.bytes[0]) + "/" +
          std::to_string(line.bytes[1]);
  if (line.is_translated()) text += "  answers " + tuple_text(line.answer, true);
  return text + "\n";
}

std::string talkers_text(std::span<const FlowTalker> talkers) {
  if (talkers.empty()) return "";
  std::vector<std::vector<std::string>> rows = {
      {"source", "connections", "packets", "bytes", "packets/s", "bytes/s"}};
  for (const FlowTalker& talker : talkers) {
    rows.push_back({talker.address, std::to_string(talker.flows), std::to_string(talker.packets),
                    std::to_string(talker.bytes), whole_text(talker.packets_s),
                    whole_text(talker.bytes_s)});
  }
  return columns_text(rows);
}

nlohmann::ordered_json flow_json(const FlowLine& line) {
  nlohmann::ordered_json json = {{"function", line.function},
                                 {"path", line.path},
                                 {"lane", line.lane},
                                 {"number", line.number},
                                 {"proto", flow_protocol_name(line.tuple.protocol)},
                                 {"first", tuple_json(line.tuple, false)},
                                 {"answer", tuple_json(line.answer, true)},
                                 {"translated", line.is_translated()},
                                 {"state", line.state},
                                 {"assured", line.is_assured},
                                 {"packets", line.packets},
                                 {"bytes", line.bytes}};
  json["age_s"] = in_seconds(line.age_ms());
  json["idle_s"] = in_seconds(line.idle_ms());
  json["expires_s"] = in_seconds(line.expires_ms());
  return json;
}

nlohmann::ordered_json talker_json(const FlowTalker& talker) {
  return {{"source", talker.address}, {"connections", talker.flows},   {"packets", talker.packets},
          {"bytes", talker.bytes},    {"packets_s", talker.packets_s}, {"bytes_s", talker.bytes_s}};
}

}  // namespace millrace
