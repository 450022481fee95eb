// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "shared/base/clock.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/layout/latency.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/layout/status_layout.hpp"
#include "shared/metrics/counter_ids.hpp"
#include "tests/bench/instruction_counter.hpp"

/// What a running topology does in an interval: two looks at its status file, as JSON.

namespace millrace {
namespace {

using Json = nlohmann::json;

struct Look {
  std::uint64_t at_ns = 0;
  std::vector<std::vector<std::uint64_t>> counters;        ///< by actor
  std::vector<std::optional<std::uint64_t>> instructions;  ///< by actor: of its process
  std::vector<std::vector<std::uint64_t>> latency;         ///< by stream
  std::vector<std::vector<std::uint64_t>> stages;          ///< by stage: waiting and work
  std::vector<std::vector<std::uint64_t>> handovers;       ///< by stage: at a device
  std::vector<LaneRecord> streams;                         ///< sums over the lanes of a stream
};

std::uint64_t sum(const std::uint64_t* first, std::size_t count) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += first[i];
  return total;
}

/// Of the GPU workers, or of all others that ended a batch's visit to the stage.
std::vector<std::uint64_t> stage_buckets(const Plan& plan, const StatusView& status,
                                         std::uint32_t stage, bool gpu) {
  std::vector<std::uint64_t> sums(kLatencyBucketCount);
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    if ((plan.actors[actor].kind == ActorKind::kGpu) != gpu) continue;
    const LatencyHistogram& histogram = status.stage_latency(actor, stage);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += histogram.count[i].load();
  }
  return sums;
}

using Counters = std::vector<InstructionCounter>;

/// Of the process of each actor; those of actors that share one (`fused`) count the same.
Counters instruction_counters(const Plan& plan, const StatusView& status) {
  Counters counters;
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    counters.emplace_back(status.actor(actor).pid.load());
  }
  return counters;
}

Look look_at(const Plan& plan, const StatusView& status, const Counters& instructions) {
  Look look;
  look.at_ns = monotonic_ns();
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    look.instructions.push_back(instructions[actor].read());
    const std::uint64_t* first = status.counters(actor);
    look.counters.emplace_back(first, first + kActorCounterCount);
  }
  for (std::uint32_t stream = 0; stream < plan.streams.size(); ++stream) {
    auto& buckets = look.latency.emplace_back();
    for (const auto& count : status.latency(stream).count) buckets.push_back(count.load());
    LaneRecord total{};
    for (std::uint32_t lane = 0; lane < status.layout().lane_count; ++lane) {
      const LaneRecord record = read_totals(status, stream, lane);
      total.received += record.received;
      total.batches += record.batches;
      total.transmitted_bytes[0] += sum(record.transmitted_bytes, kPortCountMax);
      total.transmitted[0] += sum(record.transmitted, kPortCountMax);
      total.dropped[0] += sum(record.dropped, kReasonCount);
      total.unaccounted += record.unaccounted;
    }
    look.streams.push_back(total);
  }
  for (std::uint32_t stage = 0; stage < plan.stages.size(); ++stage) {
    look.stages.push_back(stage_buckets(plan, status, stage, false));
    look.handovers.push_back(stage_buckets(plan, status, stage, true));
  }
  return look;
}

std::uint64_t quantile_ns(const std::vector<std::uint64_t>& before,
                          const std::vector<std::uint64_t>& after, double q) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < after.size(); ++i) total += after[i] - before[i];
  auto left = static_cast<std::uint64_t>(static_cast<double>(total) * q);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const std::uint64_t here = after[i] - before[i];
    if (here > left) return latency_of_bucket(static_cast<std::uint32_t>(i));
    left -= here;
  }
  return 0;
}

constexpr const char* kKinds[] = {"hub", "standby", "ingress", "classifier", "gpu", "egress"};

Json actor_figures(const Plan& plan, std::size_t actor, const Look& a, const Look& b,
                   const TscScale& scale) {
  const auto moved = [&](Counter id) {
    const auto i = static_cast<std::size_t>(id);
    return b.counters[actor][i] - a.counters[actor][i];
  };
  const std::uint64_t packets = moved(Counter::kPackets);
  const std::uint64_t batches = moved(Counter::kBatches);
  const double busy_ns = static_cast<double>(scale.to_ns(moved(Counter::kBusyCycles)));
  const double all_ns = static_cast<double>(b.at_ns - a.at_ns);
  const std::optional<std::uint64_t>&before = a.instructions[actor], &after = b.instructions[actor];
  Json instructions;  // null: the host has no counters
  if (before && after && packets != 0) {
    instructions = static_cast<double>(*after - *before) / static_cast<double>(packets);
  }
  return {
      {"actor", plan.actors[actor].name},
      {"kind", kKinds[static_cast<std::size_t>(plan.actors[actor].kind)]},
      {"instructions_per_packet", instructions},
      {"core", plan.actors[actor].core},
      {"packets", packets},
      {"batches", batches},
      {"fill", batches != 0 ? static_cast<double>(packets) / static_cast<double>(batches) : 0.0},
      {"busy_share", busy_ns / all_ns},
      {"busy_ns_per_packet", packets != 0 ? busy_ns / static_cast<double>(packets) : 0.0},
      {"sleeps", moved(Counter::kSleeps)},
      {"slots_exhausted", moved(Counter::kSlotsExhausted)},
      {"out_of_order", moved(Counter::kBatchesOutOfOrder)}};
}

/// p50 and p99, in microseconds, of what came between two looks.
Json times_of(const std::vector<std::uint64_t>& before, const std::vector<std::uint64_t>& after) {
  const auto at = [&](double q) {
    return static_cast<double>(quantile_ns(before, after, q)) / 1e3;
  };
  return {{"p50_us", at(0.5)}, {"p99_us", at(0.99)}};
}

Json stage_figures(const Plan& plan, std::size_t stage, const Look& a, const Look& b) {
  const PlanGroup& group = plan.groups[plan.stages[stage].group];
  Json figures = times_of(a.stages[stage], b.stages[stage]);
  figures["group"] = group.name;
  if (group.kind == GroupKind::kGpu) {
    figures["handover"] = times_of(a.handovers[stage], b.handovers[stage]);
  }
  return figures;
}

Json stream_figures(const Plan& plan, std::size_t stream, const Look& a, const Look& b) {
  const LaneRecord& before = a.streams[stream];
  const LaneRecord& after = b.streams[stream];
  const auto packets = static_cast<double>(after.received - before.received);
  const auto batches = static_cast<double>(after.batches - before.batches);
  const auto missed = [&](const Look& look) {
    return look
        .counters[plan.streams[stream].ingress][static_cast<std::size_t>(Counter::kRxMissed)];
  };
  return {
      {"stream", stream},
      {"mpps", packets / static_cast<double>(b.at_ns - a.at_ns) * 1e3},
      {"missed_mpps",
       static_cast<double>(missed(b) - missed(a)) / static_cast<double>(b.at_ns - a.at_ns) * 1e3},
      {"transmitted", after.transmitted[0] - before.transmitted[0]},
      {"transmitted_bytes", after.transmitted_bytes[0] - before.transmitted_bytes[0]},
      {"dropped", after.dropped[0] - before.dropped[0]},
      {"unaccounted", after.unaccounted},
      {"fill", batches > 0 ? packets / batches : 0.0},
      {"p50_us", static_cast<double>(quantile_ns(a.latency[stream], b.latency[stream], 0.5)) / 1e3},
      {"p99_us",
       static_cast<double>(quantile_ns(a.latency[stream], b.latency[stream], 0.99)) / 1e3},
      {"p999_us",
       static_cast<double>(quantile_ns(a.latency[stream], b.latency[stream], 0.999)) / 1e3}};
}

Json figures(const std::string& plan_path, double seconds) {
  const Plan plan = load_plan(plan_path);
  const Mapping mapping = Mapping::attach_status(status_file_name(plan.name), false);
  const StatusView status = StatusView::attach(mapping.base(), mapping.bytes(), plan);
  const TscScale scale(status.header().tsc_hz);
  const Counters instructions = instruction_counters(plan, status);
  const Look a = look_at(plan, status, instructions);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const Look b = look_at(plan, status, instructions);
  Json result{{"seconds", static_cast<double>(b.at_ns - a.at_ns) / 1e9}};
  for (std::size_t s = 0; s < plan.streams.size(); ++s) {
    result["streams"].push_back(stream_figures(plan, s, a, b));
  }
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    result["stages"].push_back(stage_figures(plan, i, a, b));
  }
  for (std::size_t i = 0; i < plan.actors.size(); ++i) {
    const PlanActor& actor = plan.actors[i];
    if (actor.kind == ActorKind::kHub || actor.kind == ActorKind::kStandby || !actor.at_start)
      continue;
    result["actors"].push_back(actor_figures(plan, i, a, b, scale));
  }
  return result;
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: millrace-figures PLAN.bin SECONDS\n";
    return 2;
  }
  try {
    std::cout << millrace::figures(argv[1], std::stod(argv[2])).dump() << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "millrace-figures: " << error.what() << '\n';
    return 1;
  }
}
