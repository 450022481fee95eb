// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/stats_json.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <string_view>

#include "services/events/json_line.hpp"
#include "services/functions/flow/flow_counter.hpp"
#include "shared/config/plan_reasons.hpp"
#include "shared/metrics/counter_ids.hpp"

namespace millrace {
namespace {

using json_line::put_key;
using json_line::put_object;
using json_line::put_text;
using json_line::put_value;

constexpr std::uint64_t kSecondNs = 1'000'000'000;

std::uint64_t load(std::uint64_t& word) noexcept {
  return std::atomic_ref(word).load(std::memory_order_relaxed);
}

/// Packets dropped by configuration or as malformed.
bool is_blocked(const Plan& plan, std::size_t reason) {
  if (reason == static_cast<std::size_t>(Reason::kMalformed)) return true;
  const PlanReason* const own = declared_reason(plan.reasons, reason);
  return own != nullptr && own->cause != ReasonCause::kLoss;
}

void add_drops(const Plan& plan, const LaneRecord& record, StatsSums& sums) {
  const struct {
    std::string_view reason;
    std::uint64_t* sum;
  } rows[] = {{"malformed", &sums.malformed},
              {"overload", &sums.refused},
              {"rule", &sums.by_rules},
              {"too_costly", &sums.by_rules},
              {"stream_conflict", &sums.by_stream_error},
              {"stream_full", &sums.by_stream_room},
              {"flow_table_full", &sums.by_flow_room}};
  for (std::size_t reason = 0; reason < kReasonCount; ++reason) {
    const std::uint64_t dropped = record.dropped[reason];
    if (dropped == 0) continue;
    if (is_blocked(plan, reason)) sums.blocked += dropped;
    const std::string_view name = reason_name(plan.reasons, reason);
    const auto* const row =
        std::ranges::find_if(rows, [&](auto& one) { return one.reason == name; });
    if (row != std::end(rows)) *row->sum += dropped;
  }
}

void add_streams(const Plan& plan, const StatusView& status, StatsSums& sums) {
  for (std::uint32_t stream = 0; stream < plan.streams.size(); ++stream) {
    for (const PlanStreamPath& at : plan.streams[stream].paths) {
      const PlanPath& path = plan.paths[at.path];
      for (std::uint32_t i = 0; i < path.lane_count; ++i) {
        const LaneRecord record = read_totals(status, stream, path.lane_first + i);
        sums.received += record.received;
        sums.received_bytes += record.received_bytes;
        sums.transmitted = std::accumulate(std::begin(record.transmitted),
                                           std::end(record.transmitted), sums.transmitted);
        add_drops(plan, record, sums);
      }
    }
  }
}

void add_flows(const Plan& plan, const StatusView& status, std::uint32_t function,
               StatsSums& sums) {
  constexpr auto kCount = static_cast<std::uint32_t>(FlowCounter::kCount);
  if (plan.functions[function].counter_count < kCount) return;
  const std::uint32_t first = function_counter_first(plan, function);
  std::array<std::uint64_t, kCount> counts{};
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    const auto words = status.function_counters(actor, first, kCount);
    for (std::uint32_t i = 0; i < kCount; ++i) counts[i] += load(words[i]);
  }
  const auto of = [&](FlowCounter counter) { return counts[static_cast<std::size_t>(counter)]; };
  sums.flows_begun += of(FlowCounter::kBegun);
  // A worker that was killed may have left a begin uncounted.
  sums.flows_active +=
      of(FlowCounter::kBegun) - std::min(of(FlowCounter::kBegun), of(FlowCounter::kEnded));
  sums.flows_expired += of(FlowCounter::kExpired);
  sums.flows_evicted += of(FlowCounter::kGivenUp);
  sums.flows_refused += of(FlowCounter::kTableFull);
}

/// Adds packets that ports could not take. A capture has none: it gives only what is asked for.
void add_missed(const Plan& plan, const StatusView& status, StatsSums& sums) {
  for (const PlanStream& stream : plan.streams) {
    const std::string& device = plan.ports[stream.port].device;
    if (device == "pcap" || device == "null") continue;
    std::uint64_t* const counters = status.counters(stream.ingress);
    sums.missed += load(counters[static_cast<std::size_t>(Counter::kRxMissed)]);
  }
}

void put_ips(const StatsSums& sums, std::string& out) {
  put_object("ips", out, [&] {
    put_value("accepted", sums.transmitted, out);
    put_value("blocked", sums.blocked, out);
    put_object("drop_reason", out, [&] {
      put_value("decode_error", sums.malformed, out);
      put_value("flow_memcap", sums.by_flow_room, out);
      put_value("rules", sums.by_rules, out);
      put_value("stream_error", sums.by_stream_error, out);
      put_value("stream_memcap", sums.by_stream_room, out);
    });
  });
}

void put_flow(const StatsSums& sums, std::string& out) {
  put_object("flow", out, [&] {
    put_value("total", sums.flows_begun, out);
    put_value("active", sums.flows_active, out);
    put_value("memcap", sums.flows_refused, out);
    put_object("mgr", out, [&] { put_value("flows_timeout", sums.flows_expired, out); });
    put_object("wrk", out, [&] { put_value("flows_evicted", sums.flows_evicted, out); });
  });
}

void put_engines(const std::vector<std::uint64_t>& rules, std::string& out) {
  put_key("engines", out);
  out += '[';
  for (std::size_t i = 0; i < rules.size(); ++i) {
    out += i == 0 ? "{" : ",{";
    put_value("id", i, out);
    put_value("rules_loaded", rules[i], out);
    out += '}';
  }
  out += ']';
}

void put_detect(const StatsSums& sums, const std::vector<std::uint64_t>& rules, std::string& out) {
  put_object("detect", out, [&] {
    if (!rules.empty()) put_engines(rules, out);
    put_value("alert", sums.alerts, out);
  });
}

}  // namespace

StatsSums stats_sums(const Plan& plan, const StatusView& status, std::uint64_t now_ns) {
  StatsSums sums;
  const std::uint64_t created_ns = status.header().created_ns;
  sums.uptime_s = (std::max(now_ns, created_ns) - created_ns) / kSecondNs;
  add_streams(plan, status, sums);
  add_missed(plan, status, sums);
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    for (std::uint32_t id = 0; id < plan.functions.size(); ++id) {
      sums.alerts += load(status.tally(actor, id).alerts);
    }
  }
  for (std::uint32_t id = 0; id < plan.functions.size(); ++id) {
    const bool is_flow = !plan.functions[id].gone && plan.functions[id].type == "flow";
    if (is_flow) add_flows(plan, status, id, sums);
  }
  return sums;
}

void put_stats(const StatsSums& sums, const std::vector<std::uint64_t>& rules, const Plan& plan,
               std::uint64_t time_ns, EventTimes& times, std::string& out) {
  out += "{\"timestamp\":\"";
  times.put(time_ns, out);
  out += '"';
  put_text("event_type", "stats", out);
  put_object("stats", out, [&] {
    put_value("uptime", sums.uptime_s, out);
    put_object("capture", out, [&] {
      put_value("kernel_packets", sums.received + sums.missed, out);
      put_value("kernel_drops", sums.missed + sums.refused, out);
    });
    put_object("decoder", out, [&] {
      put_value("pkts", sums.received, out);
      put_value("bytes", sums.received_bytes, out);
      put_value("invalid", sums.malformed, out);
      put_value("avg_pkt_size", sums.received == 0 ? 0 : sums.received_bytes / sums.received, out);
    });
    put_flow(sums, out);
    put_detect(sums, rules, out);
    put_ips(sums, out);
  });
  put_object("millrace", out, [&] { put_text("topology", plan.name, out); });
  out += "}\n";
}

}  // namespace millrace
