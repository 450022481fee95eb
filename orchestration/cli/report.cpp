// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>

#include "io-worker/egress/latency.hpp"
#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/supervisor/leader_client.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/layout/status_layout.hpp"
#include "shared/metrics/counter_ids.hpp"

namespace millrace {
namespace {

/// What is read besides the audit: the plan, and the status file, read-only.
struct Running {
  Plan plan;
  Mapping mapping;
  StatusView status;
};

Running attach(const std::string& run_dir) {
  Running running;
  running.plan = load_plan(run_dir + "/plan.bin");
  running.mapping = Mapping::attach_status(status_file_name(running.plan.name), false);
  running.status =
      StatusView::attach(running.mapping.base(), running.mapping.bytes(), running.plan);
  return running;
}

double latency_us(const LatencyHistogram& histogram, double quantile) {
  std::uint64_t total = 0;
  for (const auto& count : histogram.count) total += count.load(std::memory_order_relaxed);
  auto left = static_cast<std::uint64_t>(static_cast<double>(total) * quantile);
  for (std::uint32_t bucket = 0; bucket < kLatencyBucketCount; ++bucket) {
    const std::uint64_t here = histogram.count[bucket].load(std::memory_order_relaxed);
    if (here > left) return static_cast<double>(latency_of_bucket(bucket)) / 1e3;
    left -= here;
  }
  return 0;
}

void print_ports(const Running& running) {
  std::printf("\n%-12s %12s %12s %10s %10s %10s  latency of batches, us\n", "port", "received",
              "transmitted", "p50", "p99", "p99.9");
  for (std::uint32_t port = 0; port < running.plan.ports.size(); ++port) {
    std::uint64_t received = 0, transmitted = 0;
    const LatencyHistogram* latency = nullptr;
    for (std::uint32_t s = 0; s < running.plan.streams.size(); ++s) {
      const bool mine = running.plan.streams[s].port == port;
      if (mine) latency = &running.status.latency(s);
      for (std::uint32_t lane = 0; lane < running.status.layout().lane_count; ++lane) {
        const LaneRecord record = read_record(running.status.ledger(s, lane));
        received += mine ? record.received : 0;
        transmitted += record.transmitted[port];
      }
    }
    std::printf("%-12s %12lu %12lu", running.plan.ports[port].name.c_str(), received, transmitted);
    for (const double quantile : {0.5, 0.99, 0.999}) {
      if (latency != nullptr) std::printf(" %10.1f", latency_us(*latency, quantile));
    }
    std::printf("\n");
  }
}

void print_lanes(const Running& running) {
  std::printf("\n%-12s %6s %12s %12s %12s\n", "stream of", "lane", "received", "batches",
              "dropped");
  for (std::uint32_t s = 0; s < running.plan.streams.size(); ++s) {
    for (std::uint32_t lane = 0; lane < running.status.layout().lane_count; ++lane) {
      const LaneRecord record = read_record(running.status.ledger(s, lane));
      if (record.batches == 0) continue;
      std::uint64_t dropped = 0;
      for (const std::uint64_t packets : record.dropped) dropped += packets;
      std::printf("%-12s %6u %12lu %12lu %12lu\n",
                  running.plan.ports[running.plan.streams[s].port].name.c_str(), lane,
                  record.received, record.batches, dropped);
    }
  }
}

void print_order(const Running& running) {
  std::uint64_t early = 0, reordered = 0, late = 0;
  for (std::uint32_t actor = 0; actor < running.plan.actors.size(); ++actor) {
    const std::uint64_t* counters = running.status.counters(actor);
    early += counters[static_cast<std::size_t>(Counter::kBatchesOutOfOrder)];
    reordered += counters[static_cast<std::size_t>(Counter::kCompletionsReordered)];
    late += counters[static_cast<std::size_t>(Counter::kCompletionsLate)];
  }
  std::printf(
      "\norder: %lu batches came to a window before their turn and waited there; the GPU "
      "completed %lu out of order; %lu stale completions ignored\n\n",
      early, reordered, late);
}

void report(const RunningOptions& options) {
  const std::string run_dir = running_dir(options);
  const Running running = attach(run_dir);
  const auto audit = ask_leader<AuditReply>(run_dir, AuditRequest{});
  print_ports(running);
  print_lanes(running);
  print_order(running);
  std::fflush(stdout);
  std::cout << audit_text(audit, wants_colour(STDOUT_FILENO)) << std::flush;
  if (!audit.exact) throw CLI::RuntimeError(kExitInvalid);
}

}  // namespace

void add_report(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "report", "what became of the packets: by port and lane, order, latency, audit");
  auto options = std::make_shared<RunningOptions>();
  add_running_options(*command, *options);
  command->callback([options] { run_command(Format::kText, [&] { report(*options); }); });
}

}  // namespace millrace
