// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shared/config/plan.hpp"
#include "shared/layout/batch.hpp"
#include "shared/layout/descriptor.hpp"
#include "shared/layout/lane_undo_log.hpp"
#include "shared/layout/loop_ring.hpp"
#include "shared/layout/mark.hpp"
#include "shared/layout/neighbour_table.hpp"
#include "shared/layout/slot.hpp"
#include "shared/layout/slot_state.hpp"
#include "shared/ring/spsc_ring.hpp"

/// The segment: rings, slots, marks, lane state, GPU results and packet buffers in one file of huge
/// pages, mapped at one address by all packet processes. Regions in this order, each on a cache
/// line, buffers on a huge page:
///
/// SegmentHeader | batch links | return links | marks: uint32[buffer_count] | slots | lane windows
/// | notes of skipped batches | lane states | neighbours | rings of loops
///     | GPU result areas | mbuf headers, with DPDK ports only: 128 bytes[buffer_count], then those
///     of transmit queues (SendHeaders) | buffers
///
/// Each process computes the offsets from the plan; the header's hash tells whether the hub
/// computed the same.

namespace millrace {

inline constexpr std::uint64_t kSegmentMagic = 0x31474553'52494dull;  ///< "MIRSEG1"
inline constexpr std::uint32_t kSegmentAbi = 7;

struct alignas(kCacheLine) SegmentHeader {
  std::atomic<std::uint64_t> magic;  ///< written last: the segment is complete
  std::uint32_t abi;
  std::uint32_t padding_0;
  std::uint64_t layout_hash;
  std::uint64_t bytes;
  std::uint64_t padding_1[4];
};
static_assert(sizeof(SegmentHeader) == 64);
static_assert(offsetof(SegmentHeader, magic) == 0 && offsetof(SegmentHeader, abi) == 8);
static_assert(offsetof(SegmentHeader, layout_hash) == 16 && offsetof(SegmentHeader, bytes) == 24);

/// Entry window of one (stateful stage, stream, lane): the lane's state of sequence, kept with the
/// lane.
struct alignas(kCacheLine) LaneWindow {
  /// Last sequence that the stage has worked on; the next is one more.
  std::atomic<std::uint64_t> released;
  std::atomic<std::uint32_t> dirty;  ///< 1 while the lane's state is being changed
  std::uint32_t padding_0;
  std::uint64_t padding_1[6];
};
static_assert(sizeof(LaneWindow) == 64);
static_assert(offsetof(LaneWindow, released) == 0 && offsetof(LaneWindow, dirty) == 8);

/// What returns slots and buffers to an ingress; each over links of its own.
enum class Returner : std::uint8_t { kEgress = 0, kHub = 1, kStandby = 2 };
inline constexpr std::uint32_t kReturnerCount = 3;

/// Behind the results of a slot: a line with their edition.
inline constexpr std::uint32_t kGpuEditionBytes = static_cast<std::uint32_t>(kCacheLine);

struct SegmentLayout {
  std::vector<std::uint64_t> links;           ///< by plan.links
  std::vector<std::uint64_t> slot_returns;    ///< [stream * kReturnerCount + returner]
  std::vector<std::uint64_t> buffer_returns;  ///< likewise
  std::vector<std::uint32_t> slot_return_depth, buffer_return_depth;  ///< by stream; powers of two
  std::uint64_t marks = 0, slots = 0, lane_windows = 0, skip_notes = 0, lane_states = 0,
                neighbours = 0, gpu_results = 0, mbufs = 0, send_mbufs = 0, buffers = 0, bytes = 0;
  std::uint32_t skip_depth = 0;  ///< notes of a lane window, a power of two; 0: none is skipped
  std::vector<std::uint32_t> stateful_index;  ///< by stage: among stateful ones; UINT32_MAX: none
  std::vector<std::uint64_t> function_state;  ///< by function: its states, from lane_states on
  std::vector<std::uint32_t> function_lane;   ///< by function: the first lane that has one
  std::vector<std::uint32_t> function_lanes;  ///< by function: lanes that have one, from it on
  std::uint32_t lane_count = 0, stream_count = 0;
  std::uint32_t slot_count = 0;        ///< stand-in slots included
  std::uint32_t gpu_result_bytes = 0;  ///< of one slot
  std::uint64_t neighbour_bytes = 0;
  std::vector<LoopPlace> loops;  ///< rings of ports of device `loop`
  std::uint64_t loop_bytes = 0;  ///< of all of them
  ColumnOffsets columns{};
  std::uint64_t hash = 0;
};
SegmentLayout segment_layout(const Plan& plan);

/// The headers of one transmit queue of a DPDK port: as many as its ring holds, and a batch more.
/// They are the egress's own, so that no header's lines go from core to core with its packet.
struct SendHeaders {
  std::uint32_t port = 0, egress = 0;
  std::uint32_t first = 0, count = 0;
};
/// Of all such queues of the topology.
std::vector<SendHeaders> send_headers(const Plan& plan);

/// View of a mapped segment; borrowed from a Mapping. Numbers are checked by what reads them
/// from a ring.
class SegmentView {
 public:
  SegmentView() = default;
  SegmentView(std::byte* base, const Plan& plan);
  /// Hub: lays out rings, frees all slots and buffers, writes the header. The memory is zeroed and
  /// no other's.
  static SegmentView create(std::byte* base, const Plan& plan);
  /// Others. Throws Error that says what differs: "awaits layout X, the segment has Y".
  static SegmentView attach(std::byte* base, std::size_t bytes, const Plan& plan);

  /// All of it.
  std::span<std::byte> memory() const { return {base_, at_.bytes}; }
  std::uint32_t slot_count() const { return at_.slot_count; }
  std::uint32_t buffer_count() const { return buffer_count_; }
  std::uint32_t capacity() const { return capacity_; }
  const SegmentLayout& layout() const { return at_; }
  SlotHeader& slot(std::uint32_t number) const {
    return *reinterpret_cast<SlotHeader*>(slots_ + std::size_t{number} * at_.columns.slot_bytes);
  }
  std::uint32_t number_of(const SlotHeader& header) const {
    return static_cast<std::uint32_t>((reinterpret_cast<const std::byte*>(&header) - slots_) /
                                      at_.columns.slot_bytes);
  }
  Batch batch(std::uint32_t slot_number, std::uint32_t count) const {
    return view_of(slots_ + std::size_t{slot_number} * at_.columns.slot_bytes, at_.columns,
                   capacity_, count, buffers_);
  }
  Batch batch(std::uint32_t slot_number) const {
    return batch(slot_number, slot(slot_number).count);
  }
  std::uint32_t& mark(std::uint32_t buffer) const { return marks_[buffer]; }
  BufferArea buffers() const { return buffers_; }
  /// What is known of the hosts beside the ports.
  NeighbourTableView neighbours() const {
    return NeighbourTableView({base_ + at_.neighbours, at_.neighbour_bytes});
  }
  /// Ring number `number` of layout().loops.
  LoopRing loop(std::size_t number) const {
    const LoopPlace& place = at_.loops[number];
    return {base_ + place.start, place.depth, buffers_.stride};
  }
  /// Table of rte_mbuf, one for each buffer (shared/driver/mbufs.hpp): the one place with
  /// addresses. Null without DPDK ports.
  std::byte* mbufs() const { return at_.mbufs == 0 ? nullptr : base_ + at_.mbufs; }
  /// Those of transmit queues, by SendHeaders.
  std::byte* send_mbufs() const { return at_.mbufs == 0 ? nullptr : base_ + at_.send_mbufs; }
  SpscRing<std::uint64_t> link(std::uint32_t number) const {
    return SpscRing<std::uint64_t>(reinterpret_cast<rte_ring*>(base_ + at_.links[number]));
  }
  SpscRing<std::uint64_t> slot_return(std::uint32_t stream, Returner from) const {
    return SpscRing<std::uint64_t>(reinterpret_cast<rte_ring*>(
        base_ + at_.slot_returns[stream * kReturnerCount + static_cast<std::uint32_t>(from)]));
  }
  SpscRing<std::uint32_t> buffer_return(std::uint32_t stream, Returner from) const {
    return SpscRing<std::uint32_t>(reinterpret_cast<rte_ring*>(
        base_ + at_.buffer_returns[stream * kReturnerCount + static_cast<std::uint32_t>(from)]));
  }
  LaneWindow& lane_window(std::uint32_t stage, std::uint32_t stream, std::uint32_t lane) const;
  /// Where a batch that does not visit a stage with state leaves its sequence number
  /// (skipping.hpp). As many as can be in flight: none is overwritten before it is passed.
  std::atomic<std::uint64_t>& skip_note(std::uint32_t stage, std::uint32_t stream,
                                        std::uint32_t lane, std::uint64_t sequence) const;
  /// State of one lane, of a path that runs the function: PlanFunction::lane_state_bytes, zeroed at
  /// start.
  std::span<std::byte> lane_state(const Plan& plan, std::uint32_t function,
                                  std::uint32_t lane) const;
  /// What recovery takes a batch back with; without lines (PlanFunction::lane_undo_lines) there is
  /// none.
  LaneUndoLog lane_undo(const Plan& plan, std::uint32_t function, std::uint32_t lane) const;
  /// Which tables computed those results (stage_edition()): behind them, by the incarnation, before
  /// it announces them.
  std::uint32_t& gpu_edition(std::uint32_t gpu_number, std::uint32_t slot_number) const {
    return gpu_results(gpu_number, slot_number)[capacity_ * kStageFunctionCountMax];
  }
  /// Results of a GPU incarnation (by actor) for a slot: result words as in the slot's result
  /// column.
  std::uint32_t* gpu_results(std::uint32_t gpu_number, std::uint32_t slot_number) const {
    return reinterpret_cast<std::uint32_t*>(
        base_ + at_.gpu_results +
        (std::size_t{gpu_number} * at_.slot_count + slot_number) * at_.gpu_result_bytes);
  }

 private:
  std::byte* base_ = nullptr;
  std::byte* slots_ = nullptr;
  std::uint32_t* marks_ = nullptr;
  BufferArea buffers_;
  std::uint32_t capacity_ = 0;
  std::uint32_t buffer_count_ = 0;
  SegmentLayout at_;
};

/// Number of a gpu actor among the plan's gpu actors: the index of its result area.
std::uint32_t gpu_number(const Plan& plan, std::uint32_t actor);

}  // namespace millrace
