// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/cli/snapshot.hpp"
#include "orchestration/supervisor/leader_client.hpp"
#include "orchestration/supervisor/unread_inputs.hpp"
#include "shared/base/run_words.hpp"

namespace millrace {
namespace {

struct PortTotals {
  std::uint64_t received = 0, transmitted = 0;
};

PortTotals totals_of(const Plan& plan, const Snapshot& look, std::uint32_t port) {
  PortTotals totals;
  for (std::uint32_t s = 0; s < plan.streams.size(); ++s) {
    if (plan.streams[s].port == port) totals.received += look.streams[s].received;
    totals.transmitted += look.streams[s].transmitted[port];
  }
  return totals;
}

/// Of all queues of a port; nothing when packets do not come in there.
std::optional<Snapshot::Buckets> latency_of(const Plan& plan, const Snapshot& look,
                                            std::uint32_t port) {
  std::optional<Snapshot::Buckets> sum;
  for (std::uint32_t s = 0; s < plan.streams.size(); ++s) {
    if (plan.streams[s].port != port) continue;
    if (!sum) sum.emplace();
    for (std::size_t i = 0; i < kLatencyBucketCount; ++i) (*sum)[i] += look.latency[s][i];
  }
  return sum;
}

void print_ports(const Plan& plan, const Snapshot& look) {
  std::printf("\n%-12s %12s %12s %10s %10s %10s  latency of batches, us\n", "port", "received",
              "transmitted", "p50", "p99", "p99.9");
  for (std::uint32_t port = 0; port < plan.ports.size(); ++port) {
    const auto [received, transmitted] = totals_of(plan, look, port);
    const auto latency = latency_of(plan, look, port);
    std::printf("%-12s %12lu %12lu", plan.ports[port].name.c_str(), received, transmitted);
    for (const double quantile : {0.5, 0.99, 0.999}) {
      if (latency) std::printf(" %10.1f", latency_us({}, *latency, quantile));
    }
    std::printf("\n");
  }
}

std::vector<UnreadInput> unread_of(const Plan& plan, const Snapshot& look) {
  return unread_inputs(
      plan, [&](std::uint32_t actor) { return look.actors[actor].counter(Counter::kRxErrors); });
}

void print_unread(const Plan& plan, const Snapshot& look, const std::string& run_dir) {
  for (const UnreadInput& input : unread_of(plan, look)) {
    std::printf("\nnot read whole: %s of port '%s'; why: millrace status %s\n", input.path.c_str(),
                input.port.c_str(), words_for_run(plan.name, run_dir).c_str());
  }
}

void print_lanes(const Observed& running) {
  std::printf("\n%-12s %6s %12s %12s %12s\n", "stream of", "lane", "received", "batches",
              "dropped");
  for (std::uint32_t s = 0; s < running.plan.streams.size(); ++s) {
    for (std::uint32_t lane = 0; lane < running.status.layout().lane_count; ++lane) {
      const LaneRecord record = read_totals(running.status, s, lane);
      if (record.batches == 0) continue;
      std::uint64_t dropped = 0;
      for (const std::uint64_t packets : record.dropped) dropped += packets;
      std::printf("%-12s %6u %12lu %12lu %12lu\n",
                  running.plan.ports[running.plan.streams[s].port].name.c_str(), lane,
                  record.received, record.batches, dropped);
    }
  }
}

void print_order(const Snapshot& look) {
  std::uint64_t early = 0, reordered = 0, late = 0;
  for (const Snapshot::Actor& actor : look.actors) {
    early += actor.counter(Counter::kBatchesOutOfOrder);
    reordered += actor.counter(Counter::kCompletionsReordered);
    late += actor.counter(Counter::kCompletionsLate);
  }
  std::printf(
      "\norder: %lu batches came to a window before their turn and waited there; the GPU "
      "completed %lu out of order; %lu stale completions ignored\n\n",
      early, reordered, late);
}

void report(const RunningOptions& options) {
  const std::string run_dir = running_dir(options);
  const Observed running = observe(run_dir);
  const Snapshot look = look_at(running);
  const auto audit = ask_leader<AuditReply>(run_dir, AuditRequest{});
  if (options.json) {
    auto ports = nlohmann::ordered_json::array();
    for (std::uint32_t port = 0; port < running.plan.ports.size(); ++port) {
      const auto [received, transmitted] = totals_of(running.plan, look, port);
      ports.push_back({{"name", running.plan.ports[port].name},
                       {"received", received},
                       {"transmitted", transmitted}});
    }
    auto unread = nlohmann::ordered_json::array();
    for (const UnreadInput& input : unread_of(running.plan, look)) unread.push_back(input.path);
    const nlohmann::ordered_json json = {
        {"ok", true}, {"ports", ports}, {"not_read_whole", unread}, {"audit", audit_json(audit)}};
    std::cout << json_text(json) << '\n';
    if (!audit.exact) throw CLI::RuntimeError(kExitInvalid);
    return;
  }
  print_ports(running.plan, look);
  print_unread(running.plan, look, run_dir);
  print_lanes(running);
  print_order(look);
  std::fflush(stdout);
  std::cout << audit_text(audit, wants_colour(STDOUT_FILENO)) << std::flush;
  if (!audit.exact) throw CLI::RuntimeError(kExitInvalid);
}

}  // namespace

void add_report(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "report", "show what became of the packets: by port and lane, order, latency, audit");
  auto options = std::make_shared<RunningOptions>();
  add_running_options(*command, *options);
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { report(*options); });
  });
}

}  // namespace millrace
