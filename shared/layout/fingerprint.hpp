// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "shared/base/flow_key.hpp"
#include "shared/base/fnv.hpp"
#include "shared/base/reason.hpp"
#include "shared/layout/loop_ring.hpp"
#include "shared/layout/mark.hpp"
#include "shared/layout/neighbour_entry.hpp"
#include "shared/layout/side_list.hpp"
#include "shared/layout/slot.hpp"
#include "shared/layout/slot_state.hpp"

/// A number that changes when a struct of the segment does. It is part of the layout's hash, so two
/// builds that differ in it do not attach to one segment; and a test
/// (tests/unit/shared/layout/fingerprint_test.cpp) knows it together with kSegmentAbi: a change of
/// one is a change of the other.

namespace millrace {

inline constexpr std::uint64_t kSegmentFingerprint = fnv1a(
    {sizeof(SlotHeader), offsetof(SlotHeader, owner), offsetof(SlotHeader, state),
     offsetof(SlotHeader, generation), offsetof(SlotHeader, sequence),
     offsetof(SlotHeader, received_total), offsetof(SlotHeader, position),
     offsetof(SlotHeader, stream), offsetof(SlotHeader, lane), offsetof(SlotHeader, count),
     offsetof(SlotHeader, flags), offsetof(SlotHeader, received_bytes_total),
     offsetof(SlotHeader, gpu_holder), offsetof(SlotHeader, time_first_tsc),
     offsetof(SlotHeader, time_sealed_tsc), offsetof(SlotHeader, time_stage_tsc),
     offsetof(SlotHeader, side_count), offsetof(SlotHeader, side_bytes),
     offsetof(SlotHeader, hint_literals), offsetof(SlotHeader, hint_clean), kSlotHinted,
     // Columns, by one capacity.
     column_offsets(64).length, column_offsets(64).offset, column_offsets(64).verdict,
     column_offsets(64).output, column_offsets(64).wire_length, column_offsets(64).classes,
     column_offsets(64).reason, column_offsets(64).key, column_offsets(64).result,
     column_offsets(64).side, column_offsets(64).side_bytes, column_offsets(64).slot_bytes,
     // Side list.
     sizeof(SideRecord), offsetof(SideRecord, packet), offsetof(SideRecord, kind),
     offsetof(SideRecord, port), offsetof(SideRecord, argument), offsetof(SideRecord, bytes_at),
     offsetof(SideRecord, bytes), offsetof(SideRecord, why), offsetof(SideRecord, back),
     offsetof(SideRecord, quoted), offsetof(SideRecord, generation), offsetof(SideRecord, ask),
     offsetof(SideRecord, mtu), sizeof(NeighbourHeader), sizeof(NeighbourEntry),
     offsetof(NeighbourEntry, link), offsetof(NeighbourEntry, asked),
     // Rings of loops.
     sizeof(LoopHeader), offsetof(LoopHeader, intent_flips), offsetof(LoopHeader, intent_head),
     offsetof(LoopHeader, intent_stream), offsetof(LoopHeader, intent_lane),
     offsetof(LoopHeader, tail), sizeof(LoopEntry), offsetof(LoopEntry, wire_length),
     offsetof(LoopEntry, length),
     // Values that stand in it.
     sizeof(FlowKey), static_cast<std::uint64_t>(MarkKind::kSide),
     static_cast<std::uint64_t>(SlotKind::kFreeing), static_cast<std::uint64_t>(SideKind::kSend),
     static_cast<std::uint64_t>(Verdict::kConsumed), kCoreReasonCount, kReasonCount});

}  // namespace millrace
