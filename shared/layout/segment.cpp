// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/segment.hpp"

#include <algorithm>
#include <bit>
#include <random>
#include <string>
#include <utility>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/base/fnv.hpp"
#include "shared/config/known_devices.hpp"
#include "shared/layout/fingerprint.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::uint64_t hash_of(const ColumnOffsets& at) {
  return fnv1a({at.buffer, at.length, at.offset, at.verdict, at.output, at.wire_length, at.classes,
                at.reason, at.key, at.result, at.side, at.side_bytes, at.slot_bytes});
}

std::uint64_t random_secret() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

/// Hands out regions one behind the other.
class Placer {
 public:
  explicit Placer(std::uint64_t start) : end_(start) {}
  std::uint64_t place(std::uint64_t bytes, std::uint64_t alignment = kCacheLine) {
    const std::uint64_t start = round_up(end_, alignment);
    end_ = start + bytes;
    return start;
  }
  std::uint64_t end() const { return end_; }

 private:
  std::uint64_t end_;
};

void place_rings(const Plan& plan, SegmentLayout& at, Placer& placer) {
  for (const PlanLink& link : plan.links) {
    at.links.push_back(placer.place(SpscRing<std::uint64_t>::bytes(link.depth)));
  }
  for (const PlanStream& stream : plan.streams) {
    at.slot_return_depth.push_back(std::bit_ceil(stream.slot_count + 1));
    at.buffer_return_depth.push_back(std::bit_ceil(stream.buffer_count + 1));
    for (std::uint32_t i = 0; i < kReturnerCount; ++i) {
      at.slot_returns.push_back(
          placer.place(SpscRing<std::uint64_t>::bytes(at.slot_return_depth.back())));
      at.buffer_returns.push_back(
          placer.place(SpscRing<std::uint32_t>::bytes(at.buffer_return_depth.back())));
    }
  }
}

/// Of one lane: the state, and behind it what is kept to undo a batch.
std::uint64_t lane_state_stride(const PlanFunction& function) {
  return round_up(function.lane_state_bytes, kCacheLine) +
         LaneUndoLog::bytes_for(function.lane_undo_lines);
}

/// Lanes [first, second) have its state: those of the paths that run it, and what lies between.
std::pair<std::uint32_t, std::uint32_t> lanes_with(const Plan& plan, std::uint32_t function) {
  std::uint32_t first = UINT32_MAX, end = 0;
  for (const PlanStage& stage : plan.stages) {
    if (std::ranges::find(stage.functions, function) == stage.functions.end()) continue;
    const PlanPath& path = plan.paths[stage.path];
    first = std::min(first, path.lane_first);
    end = std::max(end, path.lane_first + path.lane_count);
  }
  return first < end ? std::pair(first, end) : std::pair(0u, 0u);
}

void place_lane_states(const Plan& plan, SegmentLayout& at, Placer& placer) {
  std::uint32_t stateful = 0;
  for (const PlanStage& stage : plan.stages) {
    at.stateful_index.push_back(stage.stateful ? stateful++ : UINT32_MAX);
  }
  at.lane_windows =
      placer.place(std::uint64_t{stateful} * at.stream_count * at.lane_count * sizeof(LaneWindow));
  std::uint32_t most = 0;
  for (const PlanStream& stream : plan.streams) most = std::max(most, stream.slot_count);
  for (const PlanStage& stage : plan.stages) {
    if (!stage.stateful || !may_be_skipped(plan, stage)) continue;
    at.skip_depth = std::bit_ceil(most + plan.stand_in_slot_count + 1);
  }
  at.skip_notes = placer.place(std::uint64_t{stateful} * at.stream_count * at.lane_count *
                               at.skip_depth * sizeof(std::uint64_t));
  std::uint64_t state_bytes = 0;
  for (std::uint32_t i = 0; i < plan.functions.size(); ++i) {
    const auto [first, end] = lanes_with(plan, i);
    at.function_state.push_back(state_bytes);
    at.function_lane.push_back(first);
    at.function_lanes.push_back(end - first);
    state_bytes += lane_state_stride(plan.functions[i]) * (end - first);
  }
  at.lane_states = placer.place(state_bytes);
}

void place_loops(const Plan& plan, SegmentLayout& at, Placer& placer) {
  at.loops = loop_places(plan);
  for (LoopPlace& place : at.loops) {
    const std::uint64_t bytes = loop_ring_bytes(place.depth, plan.buffer_stride);
    place.start = placer.place(bytes);
    at.loop_bytes += bytes;
  }
}

}  // namespace

std::vector<SendHeaders> send_headers(const Plan& plan) {
  const auto egresses = std::count_if(plan.actors.begin(), plan.actors.end(),
                                      [](const auto& a) { return a.kind == ActorKind::kEgress; });
  std::vector<SendHeaders> all;
  SendHeaders next;
  for (; next.port < plan.ports.size(); ++next.port) {
    const PlanPort& port = plan.ports[next.port];
    if (!is_dpdk(port)) continue;
    next.count = port_number(port, "tx_descriptors") + kBatchCapacityMax;
    for (next.egress = 0; next.egress < egresses; ++next.egress) {
      all.push_back(next);
      next.first += next.count;
    }
  }
  return all;
}

SegmentLayout segment_layout(const Plan& plan) {
  SegmentLayout at;
  at.stream_count = static_cast<std::uint32_t>(plan.streams.size());
  for (const PlanPath& path : plan.paths) at.lane_count += path.lane_count;
  at.slot_count = plan.slot_count + plan.stand_in_slot_count;
  at.columns = column_offsets(plan.batch_capacity);
  at.gpu_result_bytes =
      plan.batch_capacity * kStageFunctionCountMax * kResultWordBytes + kGpuEditionBytes;
  Placer placer(sizeof(SegmentHeader));
  place_rings(plan, at, placer);
  at.marks = placer.place(std::uint64_t{plan.buffer_count} * sizeof(std::uint32_t));
  at.slots = placer.place(std::uint64_t{at.slot_count} * at.columns.slot_bytes);
  place_lane_states(plan, at, placer);
  at.neighbour_bytes = neighbour_table_bytes(plan.neighbour_count);
  at.neighbours = placer.place(at.neighbour_bytes);
  place_loops(plan, at, placer);
  const auto gpus = std::count_if(plan.actors.begin(), plan.actors.end(),
                                  [](const PlanActor& a) { return a.kind == ActorKind::kGpu; });
  at.gpu_results =
      placer.place(static_cast<std::uint64_t>(gpus) * at.slot_count * at.gpu_result_bytes);
  if (uses_dpdk(plan)) {
    const SendHeaders last = send_headers(plan).back();
    at.mbufs = placer.place(std::uint64_t{plan.buffer_count} * kMbufBytes);
    at.send_mbufs = placer.place(std::uint64_t{last.first + last.count} * kMbufBytes);
  }
  at.buffers = placer.place(std::uint64_t{plan.buffer_count} * plan.buffer_stride, kHugePage);
  at.bytes = round_up(placer.end(), kHugePage);
  at.hash = fnv1a({at.marks,
                   at.slots,
                   at.lane_windows,
                   at.skip_notes,
                   at.lane_states,
                   at.neighbours,
                   at.gpu_results,
                   at.buffers,
                   at.bytes,
                   at.slot_count,
                   at.lane_count,
                   at.stream_count,
                   hash_of(at.columns),
                   plan.buffer_stride,
                   plan.batch_capacity,
                   plan.side_first,
                   plan.side_count,
                   plan.links.size(),
                   kSegmentFingerprint,
                   kSegmentAbi});
  for (const LoopPlace& place : at.loops) {
    at.hash = fnv1a({at.hash, place.stream, place.egress, place.depth, place.start});
  }
  if (at.mbufs != 0) at.hash = fnv1a({at.hash, at.mbufs, at.send_mbufs, kMbufBytes});
  return at;
}

SegmentView::SegmentView(std::byte* base, const Plan& plan)
    : base_(base),
      capacity_(plan.batch_capacity),
      buffer_count_(plan.buffer_count),
      at_(segment_layout(plan)) {
  slots_ = base_ + at_.slots;
  marks_ = reinterpret_cast<std::uint32_t*>(base_ + at_.marks);
  buffers_ = {base_ + at_.buffers, plan.buffer_stride};
}

SegmentView SegmentView::create(std::byte* base, const Plan& plan) {
  SegmentView view(base, plan);
  const SegmentLayout& at = view.at_;
  for (std::size_t i = 0; i < plan.links.size(); ++i) {
    const std::string name = "link." + std::to_string(i);
    SpscRing<std::uint64_t>::create(base + at.links[i], name.c_str(), plan.links[i].depth);
  }
  for (std::uint32_t s = 0; s < plan.streams.size(); ++s) {
    for (std::uint32_t r = 0; r < kReturnerCount; ++r) {
      const std::string number = std::to_string(s) + "." + std::to_string(r);
      SpscRing<std::uint64_t>::create(base + at.slot_returns[s * kReturnerCount + r],
                                      ("slots." + number).c_str(), at.slot_return_depth[s]);
      SpscRing<std::uint32_t>::create(base + at.buffer_returns[s * kReturnerCount + r],
                                      ("buffers." + number).c_str(), at.buffer_return_depth[s]);
    }
    const PlanStream& stream = plan.streams[s];
    // Everything starts in the ingress's hand; its first life finds it there by the same scan as
    // any later one.
    for (std::uint32_t i = 0; i < stream.slot_count; ++i) {
      view.slot(stream.slot_first + i).owner =
          Owner{static_cast<std::uint16_t>(stream.ingress), 0}.word();
    }
    for (std::uint32_t i = 0; i < stream.buffer_count; ++i) {
      view.mark(stream.buffer_first + i) = Mark{MarkKind::kHand, stream.ingress}.word();
    }
  }
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    if (plan.actors[actor].kind != ActorKind::kEgress) continue;
    const std::uint32_t first = side_buffers_of(plan, plan.actors[actor].index);
    for (std::uint32_t i = 0; i < plan.side_count; ++i) {
      view.mark(first + i) = Mark{MarkKind::kHand, actor}.word();
    }
  }
  view.neighbours().init(random_secret());
  auto& header = *reinterpret_cast<SegmentHeader*>(base);
  header.abi = kSegmentAbi;
  header.layout_hash = at.hash;
  header.bytes = at.bytes;
  header.magic.store(kSegmentMagic, std::memory_order_release);
  return view;
}

SegmentView SegmentView::attach(std::byte* base, std::size_t bytes, const Plan& plan) {
  SegmentView view(base, plan);
  const auto& header = *reinterpret_cast<const SegmentHeader*>(base);
  if (header.magic.load(std::memory_order_acquire) != kSegmentMagic) {
    throw Error("the segment is not ready: awaits magic MIRSEG1 of the hub");
  }
  if (header.abi != kSegmentAbi) {
    throw Error("this build awaits segment ABI " + std::to_string(kSegmentAbi) +
                ", the segment has " + std::to_string(header.abi) +
                "; end the topology and start it with one build");
  }
  if (header.layout_hash != view.at_.hash || header.bytes != bytes) {
    throw Error("this build awaits layout " + std::to_string(view.at_.hash) + ", the segment has " +
                std::to_string(header.layout_hash) +
                "; end the topology and start it with one build");
  }
  return view;
}

namespace {

std::size_t window_number(const SegmentLayout& at, std::uint32_t stage, std::uint32_t stream,
                          std::uint32_t lane) {
  return (std::size_t{at.stateful_index[stage]} * at.stream_count + stream) * at.lane_count + lane;
}

}  // namespace

LaneWindow& SegmentView::lane_window(std::uint32_t stage, std::uint32_t stream,
                                     std::uint32_t lane) const {
  return reinterpret_cast<LaneWindow*>(base_ +
                                       at_.lane_windows)[window_number(at_, stage, stream, lane)];
}

std::atomic<std::uint64_t>& SegmentView::skip_note(std::uint32_t stage, std::uint32_t stream,
                                                   std::uint32_t lane,
                                                   std::uint64_t sequence) const {
  auto* notes = reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + at_.skip_notes);
  return notes[window_number(at_, stage, stream, lane) * at_.skip_depth +
               (sequence & (at_.skip_depth - 1))];
}

std::span<std::byte> SegmentView::lane_state(const Plan& plan, std::uint32_t function,
                                             std::uint32_t lane) const {
  const PlanFunction& of = plan.functions[function];
  if (of.lane_state_bytes == 0) return {};
  const std::uint32_t number = lane - at_.function_lane[function];
  MILLRACE_CHECK(number < at_.function_lanes[function]);
  return {base_ + at_.lane_states + at_.function_state[function] + lane_state_stride(of) * number,
          of.lane_state_bytes};
}

LaneUndoLog SegmentView::lane_undo(const Plan& plan, std::uint32_t function,
                                   std::uint32_t lane) const {
  const PlanFunction& of = plan.functions[function];
  const std::span<std::byte> state = lane_state(plan, function, lane);
  if (of.lane_undo_lines == 0) return {};
  return {{state.data() + round_up(state.size(), kCacheLine),
           LaneUndoLog::bytes_for(of.lane_undo_lines)},
          of.lane_undo_lines,
          state};
}

std::uint32_t gpu_number(const Plan& plan, std::uint32_t actor) {
  std::uint32_t number = 0;
  for (std::uint32_t i = 0; i < actor; ++i)
    number += plan.actors[i].kind == ActorKind::kGpu ? 1 : 0;
  return number;
}

}  // namespace millrace
