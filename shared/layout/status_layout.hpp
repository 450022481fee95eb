// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "shared/config/plan.hpp"
#include "shared/layout/event_rings.hpp"
#include "shared/layout/status_file.hpp"

namespace millrace {

/// Where the regions of the status file start, in bytes from its start. Computed alike by all
/// from the plan.
struct StatusLayout {
  std::uint64_t actors, counters, ledgers, ingress_lanes, lane_maps, latency, function_counters,
      skips, stage_latency, tallies, drops, actor_tallies, stream_peaks, links, ports, events,
      bytes;
  std::uint32_t actor_count, stream_count, lane_count, group_count, function_counter_count,
      function_count, stage_count, path_count, event_ring_count;
  std::uint64_t hash;  ///< of all of the above and of the ABI
};
StatusLayout status_layout(const Plan& plan);

/// First entry of function `function` in an actor's function counters.
std::uint32_t function_counter_first(const Plan& plan, std::uint32_t function);

/// View of a mapped status file. Borrowed from a Mapping (mapping.hpp); indexes are checked by the
/// plan's limits.
class StatusView {
 public:
  StatusView() = default;
  StatusView(std::byte* base, const StatusLayout& layout) : base_(base), at_(layout) {}
  /// Hub: writes the header; the memory is zeroed. `tsc_hz`: measured rate of the time stamp
  /// counter.
  static StatusView create(std::byte* base, const Plan& plan, std::uint64_t tsc_hz);
  /// Others. Throws Error that says what is awaited.
  static StatusView attach(std::byte* base, std::size_t bytes, const Plan& plan);
  StatusHeader& header() const { return *reinterpret_cast<StatusHeader*>(base_); }
  ActorEntry& actor(std::uint32_t id) const {
    return reinterpret_cast<ActorEntry*>(base_ + at_.actors)[id];
  }
  std::uint64_t* counters(std::uint32_t actor) const {
    return reinterpret_cast<std::uint64_t*>(base_ + at_.counters) +
           std::size_t{actor} * kActorCounterCount;
  }
  LaneLedger& ledger(std::uint32_t stream, std::uint32_t lane) const {
    return reinterpret_cast<LaneLedger*>(base_ + at_.ledgers)[stream * at_.lane_count + lane];
  }
  IngressLane& ingress_lane(std::uint32_t stream, std::uint32_t lane) const {
    return reinterpret_cast<IngressLane*>(base_ +
                                          at_.ingress_lanes)[stream * at_.lane_count + lane];
  }
  LaneMap& lane_map(std::uint32_t group) const {
    return reinterpret_cast<LaneMap*>(base_ + at_.lane_maps)[group];
  }
  LatencyHistogram& latency(std::uint32_t stream) const {
    return reinterpret_cast<LatencyHistogram*>(base_ + at_.latency)[stream];
  }
  std::span<std::uint64_t> function_counters(std::uint32_t actor, std::uint32_t first,
                                             std::uint32_t count) const {
    return {reinterpret_cast<std::uint64_t*>(base_ + at_.function_counters) +
                std::size_t{actor} * at_.function_counter_count + first,
            count};
  }
  /// Packets that a function would have looked at, had the actor handed it their batch.
  std::uint64_t& skipped(std::uint32_t actor, std::uint32_t function, SkipReason why) const {
    const std::size_t number = std::size_t{actor} * at_.function_count + function;
    return reinterpret_cast<std::uint64_t*>(
        base_ + at_.skips)[number * kSkipReasonCount + static_cast<std::size_t>(why)];
  }
  /// Batches from the step before until the end of `stage`, by the actor that ended it; of a gpu
  /// incarnation: from its device's submission to its result.
  LatencyHistogram& stage_latency(std::uint32_t actor, std::uint32_t stage) const {
    return reinterpret_cast<LatencyHistogram*>(
        base_ + at_.stage_latency)[actor * (at_.stage_count + at_.path_count) + stage];
  }
  /// Of an ingress (first arrival to seal) or an egress (last step to release).
  LatencyHistogram& port_latency(std::uint32_t actor, std::uint32_t path) const {
    return stage_latency(actor, at_.stage_count + path);
  }
  FunctionTally& tally(std::uint32_t actor, std::uint32_t function) const {
    return reinterpret_cast<FunctionTally*>(base_ +
                                            at_.tallies)[actor * at_.function_count + function];
  }
  DropTally& drops(std::uint32_t actor, std::uint32_t path, std::uint32_t function) const {
    const std::size_t row = std::size_t{actor} * at_.path_count + path;
    return reinterpret_cast<DropTally*>(base_ + at_.drops)[row * at_.function_count + function];
  }
  ActorTally& actor_tally(std::uint32_t actor) const {
    return reinterpret_cast<ActorTally*>(base_ + at_.actor_tallies)[actor];
  }
  StreamPeaks& stream_peaks(std::uint32_t stream) const {
    return reinterpret_cast<StreamPeaks*>(base_ + at_.stream_peaks)[stream];
  }
  LinkTally& link(std::uint32_t number) const {
    return reinterpret_cast<LinkTally*>(base_ + at_.links)[number];
  }
  PortTally& port(std::uint32_t number) const {
    return reinterpret_cast<PortTally*>(base_ + at_.ports)[number];
  }
  /// Without any where the topology has no `events`.
  EventRings events() const { return {base_ + at_.events, at_.event_ring_count}; }
  const StatusLayout& layout() const { return at_; }

 private:
  std::byte* base_ = nullptr;
  StatusLayout at_{};
};

/// Copy of the complete record of a ledger, consistent also while its writer runs. Any thread.
LaneRecord read_record(const LaneLedger& ledger) noexcept;

/// The same, with what the ingress refused among `received` and `dropped`: a lane's totals as
/// observers show them.
LaneRecord read_totals(const StatusView& status, std::uint32_t stream, std::uint32_t lane) noexcept;

/// "/millrace-<topology>.status": the name for shm_open.
std::string status_file_name(const std::string& topology);

}  // namespace millrace
