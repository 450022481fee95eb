// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/live_view.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "orchestration/cli/sgr.hpp"
#include "shared/config/plan_reasons.hpp"

namespace millrace {
namespace {

constexpr std::size_t kBarWidth = 12;

struct StateName {
  const char* name;
  const char* colour;
};
/// By ActorState.
constexpr StateName kStateNames[] = {{"-", sgr::kDim},          {"starting", sgr::kYellow},
                                     {"alive", sgr::kGreen},    {"draining", sgr::kYellow},
                                     {"dead", sgr::kRed},       {"recovering", sgr::kRed},
                                     {"quarantined", sgr::kRed}};

template <typename... Arguments>
std::string format(const char* text, Arguments... arguments) {
  char line[256];
  std::snprintf(line, sizeof line, text, arguments...);
  return line;
}

/// What moved between two looks, a second.
class Rates {
 public:
  Rates(const Snapshot& before, const Snapshot& after)
      : before_(before),
        after_(after),
        seconds_(static_cast<double>(std::max<std::uint64_t>(after.at_ns - before.at_ns, 1)) / 1e9),
        sum_before_(sum(before)),
        sum_after_(sum(after)) {}

  double of(std::uint64_t before, std::uint64_t after) const {
    return after < before ? 0 : static_cast<double>(after - before) / seconds_;
  }
  double actor(std::size_t actor, Counter id) const {
    return of(before_.actors[actor].counter(id), after_.actors[actor].counter(id));
  }
  double received() const { return of(sum_before_.received, sum_after_.received); }
  double transmitted() const {
    double all = 0;
    for (std::size_t port = 0; port < kPortCountMax; ++port) all += transmitted(port);
    return all;
  }
  double transmitted(std::size_t port) const {
    return of(sum_before_.transmitted[port], sum_after_.transmitted[port]);
  }
  using ByReason = std::uint64_t (LaneRecord::*)[kReasonCount];
  /// `counts`: dropped, consumed or generated.
  double of_reason(ByReason counts, std::size_t reason) const {
    return of((sum_before_.*counts)[reason], (sum_after_.*counts)[reason]);
  }
  /// Of all streams together.
  double latency(double quantile) const {
    Snapshot::Buckets before{}, after{};
    for (std::size_t s = 0; s < after_.latency.size(); ++s) {
      for (std::size_t i = 0; i < kLatencyBucketCount; ++i) {
        before[i] += before_.latency[s][i];
        after[i] += after_.latency[s][i];
      }
    }
    return latency_us(before, after, quantile);
  }

 private:
  static LaneRecord sum(const Snapshot& look) {
    LaneRecord sum{};
    for (const LaneRecord& stream : look.streams) sum = sum + stream;
    return sum;
  }

  const Snapshot& before_;
  const Snapshot& after_;
  double seconds_;
  LaneRecord sum_before_, sum_after_;
};

/// Empty when there are none.
std::string reasons_text(const Plan& plan, const Rates& rates, Rates::ByReason counts) {
  std::string text;
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    const double rate = rates.of_reason(counts, i);
    if (rate <= 0) continue;
    text += text.empty() ? "" : ", ";
    text += std::string(reason_text(plan.reasons, i)) + " " + rate_text(rate) + "/s";
  }
  return text;
}

std::string drops_text(const Plan& plan, const Rates& rates) {
  const std::string text = reasons_text(plan, rates, &LaneRecord::dropped);
  return text.empty() ? "none" : text;
}

/// What a router makes, and what ends for it; a line each where there is some.
std::string born_and_ended_text(const Plan& plan, const Rates& rates) {
  const std::string made = reasons_text(plan, rates, &LaneRecord::generated);
  const std::string consumed = reasons_text(plan, rates, &LaneRecord::consumed);
  return (made.empty() ? "" : "generated: " + made + "\n") +
         (consumed.empty() ? "" : "consumed: " + consumed + "\n");
}

nlohmann::ordered_json reasons_json(const Plan& plan, const Rates& rates, Rates::ByReason counts) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    const double rate = rates.of_reason(counts, i);
    if (rate > 0) json[reason_text(plan.reasons, i)] = rate;
  }
  return json;
}

std::string latency_text(const Rates& rates) {
  return format("p50 %.0f us, p99 %.0f us", rates.latency(0.5), rates.latency(0.99));
}

std::string bar(double share) {
  const auto full = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kBarWidth));
  std::string text;
  for (std::size_t i = 0; i < kBarWidth; ++i) text += i < full ? "█" : "·";
  return text;
}

struct PortRates {
  double received = 0, bits = 0, transmitted = 0;
};
PortRates port_rates(const Plan& plan, const Snapshot& before, const Snapshot& after,
                     const Rates& rates, std::size_t port) {
  PortRates moved{.transmitted = rates.transmitted(port)};
  for (std::size_t s = 0; s < plan.streams.size(); ++s) {
    if (plan.streams[s].port != port) continue;
    moved.received += rates.of(before.streams[s].received, after.streams[s].received);
    moved.bits += 8 * rates.of(before.streams[s].received_bytes, after.streams[s].received_bytes);
  }
  return moved;
}

double busy_share(const Rates& rates, std::size_t actor) {
  const double busy = rates.actor(actor, Counter::kBusyCycles);
  const double all = busy + rates.actor(actor, Counter::kIdleCycles);
  return all > 0 ? busy / all : 0;
}

std::string port_lines(const Plan& plan, const Snapshot& before, const Snapshot& after,
                       const Rates& rates) {
  std::string text =
      format("%-18s %14s %12s %14s\n", "port", "received/s", "Mbit/s", "transmitted/s");
  for (std::size_t port = 0; port < plan.ports.size(); ++port) {
    const PortRates moved = port_rates(plan, before, after, rates, port);
    text += format("%-18s %14s %12.1f %14s\n", plan.ports[port].name.c_str(),
                   rate_text(moved.received).c_str(), moved.bits / 1e6,
                   rate_text(moved.transmitted).c_str());
  }
  return text;
}

std::string actor_line(const Plan& plan, const Snapshot& after, const Rates& rates, std::size_t i,
                       bool colour) {
  const StateName& state = kStateNames[static_cast<std::size_t>(after.actors[i].state)];
  const double packets = rates.actor(i, Counter::kPackets);
  const double batches = rates.actor(i, Counter::kBatches);
  const double share = busy_share(rates, i);
  std::string text = format("%-18s ", plan.actors[i].name.c_str());
  text += (colour ? state.colour : "") + format("%-11s", state.name) + (colour ? sgr::kPlain : "");
  return text +
         format(" %11s %12.1f  ", rate_text(packets).c_str(),
                batches > 0 ? packets / batches : 0.0) +
         bar(share) + format(" %3.0f %%\n", share * 100);
}

/// Spare workers that were never started say nothing.
bool is_shown(const Plan& plan, const Snapshot& after, std::size_t actor) {
  const ActorKind kind = plan.actors[actor].kind;
  if (kind == ActorKind::kHub || kind == ActorKind::kStandby) return false;
  return after.actors[actor].state != ActorState::kVacant ||
         after.actors[actor].counter(Counter::kLoops) != 0 || plan.actors[actor].at_start;
}

}  // namespace

std::string rate_text(double value) {
  if (value < 999.5) return format("%.0f", value);
  const bool millions = value >= 999'500;
  const double scaled = value / (millions ? 1e6 : 1e3);
  const int digits = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
  return format("%.*f %s", digits, scaled, millions ? "M" : "k");
}

bool anybody_alive(const Snapshot& look) {
  return std::ranges::any_of(look.actors, [](const Snapshot::Actor& actor) {
    return actor.state == ActorState::kAlive || actor.state == ActorState::kDraining;
  });
}

std::string live_page(const Plan& plan, const Snapshot& before, const Snapshot& after,
                      bool colour) {
  const Rates rates(before, after);
  std::string text = "topology " + plan.name + "\n\n" + port_lines(plan, before, after, rates);
  text += "\ndropped: " + drops_text(plan, rates) + "\n" + born_and_ended_text(plan, rates) +
          "latency of batches: " + latency_text(rates) + "\n";
  text += format("\n%-18s %-11s %11s %12s  %s\n", "actor", "state", "packets/s", "a batch", "busy");
  for (std::size_t i = 0; i < plan.actors.size(); ++i) {
    if (is_shown(plan, after, i)) text += actor_line(plan, after, rates, i, colour);
  }
  return text;
}

std::string first_lines(const std::string& page, std::size_t count_max) {
  const auto lines = static_cast<std::size_t>(std::ranges::count(page, '\n'));
  if (lines <= count_max || count_max == 0) return page;
  std::size_t end = 0;
  for (std::size_t line = 1; line < count_max; ++line) end = page.find('\n', end) + 1;
  return page.substr(0, end) + "and " + std::to_string(lines - count_max + 1) + " lines more\n";
}

std::string first_columns(const std::string& page, std::size_t count_max) {
  std::string text;
  std::size_t columns = 0;
  bool colour = false;
  for (const char byte : page) {
    colour = colour || byte == '\033';
    if (byte == '\n') columns = 0;
    const bool more_of_one = (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;  // UTF-8
    if (byte != '\n' && !colour && !more_of_one) ++columns;
    if (byte == '\n' || colour || columns <= count_max) text += byte;
    if (byte == 'm') colour = false;
  }
  return text;
}

std::string live_line(const Plan& plan, const Snapshot& before, const Snapshot& after) {
  const Rates rates(before, after);
  std::string text = "received " + rate_text(rates.received()) + "/s, transmitted " +
                     rate_text(rates.transmitted()) + "/s, dropped " + drops_text(plan, rates) +
                     ", " + latency_text(rates);
  for (std::size_t i = 0; i < plan.actors.size(); ++i) {
    const ActorState state = after.actors[i].state;
    if (!is_shown(plan, after, i) || state == ActorState::kAlive || !plan.actors[i].at_start)
      continue;
    text += std::string(", ") + plan.actors[i].name + " " +
            kStateNames[static_cast<std::size_t>(state)].name;
  }
  return text;
}

nlohmann::ordered_json live_json(const Plan& plan, const Snapshot& before, const Snapshot& after) {
  using Json = nlohmann::ordered_json;
  const Rates rates(before, after);
  Json json = {{"topology", plan.name}, {"ports", Json::array()}, {"actors", Json::array()}};
  for (std::size_t port = 0; port < plan.ports.size(); ++port) {
    const PortRates moved = port_rates(plan, before, after, rates, port);
    json["ports"].push_back({{"name", plan.ports[port].name},
                             {"received_per_s", moved.received},
                             {"received_bits_per_s", moved.bits},
                             {"transmitted_per_s", moved.transmitted}});
  }
  for (std::size_t i = 0; i < plan.actors.size(); ++i) {
    if (!is_shown(plan, after, i)) continue;
    const std::size_t state = static_cast<std::size_t>(after.actors[i].state);
    json["actors"].push_back({{"name", plan.actors[i].name},
                              {"state", kStateNames[state].name},
                              {"packets_per_s", rates.actor(i, Counter::kPackets)},
                              {"batches_per_s", rates.actor(i, Counter::kBatches)},
                              {"busy_share", busy_share(rates, i)}});
  }
  json["dropped_per_s"] = reasons_json(plan, rates, &LaneRecord::dropped);
  json["generated_per_s"] = reasons_json(plan, rates, &LaneRecord::generated);
  json["consumed_per_s"] = reasons_json(plan, rates, &LaneRecord::consumed);
  json["latency_us"] = {{"p50", rates.latency(0.5)}, {"p99", rates.latency(0.99)}};
  return json;
}

}  // namespace millrace
