// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/status_layout.hpp"

#include <cstring>

#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/fnv.hpp"
#include "shared/layout/event_fingerprint.hpp"

namespace millrace {

StatusLayout status_layout(const Plan& plan) {
  StatusLayout at{};
  std::uint64_t end = sizeof(StatusHeader);
  const auto place = [&](std::uint64_t bytes) {
    const std::uint64_t start = end;
    end = (end + bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    return start;
  };
  at.actor_count = static_cast<std::uint32_t>(plan.actors.size());
  at.stream_count = static_cast<std::uint32_t>(plan.streams.size());
  at.group_count = static_cast<std::uint32_t>(plan.groups.size());
  for (const PlanPath& path : plan.paths) at.lane_count += path.lane_count;
  at.function_counter_count = plan.spare_counters;
  for (const PlanFunction& function : plan.functions) {
    at.function_counter_count += function.counter_count;
  }
  const std::uint64_t ledger_count = std::uint64_t{at.stream_count} * at.lane_count;
  at.actors = place(at.actor_count * sizeof(ActorEntry));
  at.counters = place(std::uint64_t{at.actor_count} * kActorCounterCount * sizeof(std::uint64_t));
  at.ledgers = place(ledger_count * sizeof(LaneLedger));
  at.ingress_lanes = place(ledger_count * sizeof(IngressLane));
  at.lane_maps = place(at.group_count * sizeof(LaneMap));
  at.latency = place(at.stream_count * sizeof(LatencyHistogram));
  at.function_counters =
      place(std::uint64_t{at.actor_count} * at.function_counter_count * sizeof(std::uint64_t));
  at.function_count = kFunctionPlaceMax;  // others may come
  at.skips = place(std::uint64_t{at.actor_count} * at.function_count * kSkipReasonCount *
                   sizeof(std::uint64_t));
  at.stage_count = static_cast<std::uint32_t>(plan.stages.size());
  at.path_count = static_cast<std::uint32_t>(plan.paths.size());
  at.stage_latency = place(std::uint64_t{at.actor_count} * (at.stage_count + at.path_count) *
                           sizeof(LatencyHistogram));
  at.tallies = place(std::uint64_t{at.actor_count} * at.function_count * sizeof(FunctionTally));
  at.drops =
      place(std::uint64_t{at.actor_count} * at.path_count * at.function_count * sizeof(DropTally));
  at.actor_tallies = place(at.actor_count * sizeof(ActorTally));
  at.stream_peaks = place(at.stream_count * sizeof(StreamPeaks));
  at.links = place(plan.links.size() * sizeof(LinkTally));
  at.ports = place(plan.ports.size() * sizeof(PortTally));
  at.event_ring_count = event_ring_count(plan);
  if (at.event_ring_count != 0) {
    end = (end + kEventAlignment - 1) / kEventAlignment * kEventAlignment;
  }
  at.events = place(event_rings_bytes(at.event_ring_count));
  at.bytes = end;
  at.hash = fnv1a({at.actors,
                   at.counters,
                   at.ledgers,
                   at.ingress_lanes,
                   at.lane_maps,
                   at.latency,
                   at.function_counters,
                   at.skips,
                   at.stage_latency,
                   at.tallies,
                   at.drops,
                   at.actor_tallies,
                   at.stream_peaks,
                   at.links,
                   at.ports,
                   at.events,
                   at.bytes,
                   at.lane_count,
                   at.event_ring_count,
                   kEventFingerprint,
                   kStatusAbi});
  return at;
}

std::uint32_t function_counter_first(const Plan& plan, std::uint32_t function) {
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < function; ++i) first += plan.functions[i].counter_count;
  return first;
}

namespace {

/// Queues that a port has from the start read the shares of those that it may get, in turn.
std::uint32_t first_reader(const Plan& plan, const PlanStream& share) {
  std::vector<std::uint32_t> readers;
  for (const PlanStream& stream : plan.streams) {
    const bool runs = stream.port == share.port && plan.actors[stream.ingress].at_start;
    if (runs) readers.push_back(stream.ingress);
  }
  return readers.empty() ? share.ingress : readers[share.queue % readers.size()];
}

}  // namespace

StatusView StatusView::create(std::byte* base, const Plan& plan, std::uint64_t tsc_hz) {
  StatusView view(base, status_layout(plan));
  StatusHeader& header = view.header();
  const StatusLayout& at = view.at_;
  header.abi = kStatusAbi;
  header.actor_count = at.actor_count;
  header.layout_hash = at.hash;
  header.bytes = at.bytes;
  header.stream_count = at.stream_count;
  header.lane_count = at.lane_count;
  header.group_count = at.group_count;
  header.function_counters = at.function_counter_count;
  header.tsc_hz = tsc_hz;
  header.tsc_origin = tsc_now();
  header.clock_origin_ns = header.created_ns = system_clock_ns();
  plan.name.copy(header.name, sizeof header.name - 1);
  for (std::uint32_t group = 0; group < at.group_count; ++group) {
    for (auto& worker : view.lane_map(group).worker) worker = kNoWorker;
  }
  for (const PlanStream& stream : plan.streams) {
    view.actor(stream.ingress).share_reader = first_reader(plan, stream);
  }
  std::atomic_ref(header.magic).store(kStatusMagic, std::memory_order_release);
  return view;
}

StatusView StatusView::attach(std::byte* base, std::size_t bytes, const Plan& plan) {
  StatusView view(base, status_layout(plan));
  const StatusHeader& header = view.header();
  if (std::atomic_ref(const_cast<std::uint64_t&>(header.magic)).load() != kStatusMagic) {
    throw Error("the status file is not ready: awaits magic MIRSTAT1 of the hub");
  }
  if (header.layout_hash != view.at_.hash || header.bytes != bytes) {
    throw Error("this build awaits status layout " + std::to_string(view.at_.hash) +
                ", the file has " + std::to_string(header.layout_hash) +
                "; end the topology and start it with one build");
  }
  return view;
}

void RefusedLedger::add(std::uint64_t packets, std::uint64_t bytes,
                        std::uint64_t position) noexcept {
  const std::uint64_t now = flips.load(std::memory_order_relaxed);
  const RefusedRecord& last = record[now & 1];
  RefusedRecord& next = record[(now + 1) & 1];
  constexpr auto relaxed = std::memory_order_relaxed;
  next.packets.store(last.packets.load(relaxed) + packets, relaxed);
  next.bytes.store(last.bytes.load(relaxed) + bytes, relaxed);
  next.position.store(position, relaxed);
  flips.store(now + 1, std::memory_order_release);
}

LaneRecord read_record(const LaneLedger& ledger) noexcept {
  LaneRecord copy;
  std::uint64_t before = 0;
  do {
    before = ledger.flips.load(std::memory_order_acquire);
    std::memcpy(&copy, &ledger.record[before & 1], sizeof copy);
    std::atomic_thread_fence(std::memory_order_acquire);
  } while (ledger.flips.load(std::memory_order_relaxed) != before);
  return copy;
}

LaneRecord read_totals(const StatusView& status, std::uint32_t stream,
                       std::uint32_t lane) noexcept {
  LaneRecord totals = read_record(status.ledger(stream, lane));
  const IngressLane& ingress = status.ingress_lane(stream, lane);
  const RefusedRecord& record = ingress.refused.complete();
  const std::uint64_t refused = record.packets.load(std::memory_order_relaxed);
  totals.received += refused;
  totals.received_bytes += record.bytes.load(std::memory_order_relaxed);
  totals.dropped[static_cast<std::size_t>(Reason::kOverload)] += refused;
  return totals;
}

std::string status_file_name(const std::string& topology) {
  return "/millrace-" + topology + ".status";
}

}  // namespace millrace
