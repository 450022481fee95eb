// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What a GPU kernel reads of the shared memories lies for nvcc where it lies for g++. `make check`
// compiles this file with both; the asserts are those of the headers, and below the numbers that
// the headers compute.

#include "shared/base/limits.hpp"
#include "shared/base/reason.hpp"
#include "shared/layout/batch.hpp"
#include "shared/layout/descriptor.hpp"
#include "shared/layout/mark.hpp"
#include "shared/layout/slot.hpp"
#include "shared/layout/slot_state.hpp"
#include "shared/layout/status_file.hpp"
#include "shared/ring/ring_layout.hpp"

namespace millrace {

// Words: which bits hold what.
static_assert(Descriptor{.slot = 0x1234, .stage = 0x56, .generation = 0x9abcdef012}.word() ==
              0x569abcdef0121234);
static_assert(Descriptor::from_word(0x569abcdef0121234).generation == 0x9abcdef012);
static_assert(Mark{.kind = MarkKind::kSlot, .number = 0x123456}.word() == 0x02123456);
static_assert(SlotState{.kind = SlotKind::kWorked, .stage = 7}.word() == 0x0703);
static_assert(Owner{.actor = 0x1234, .incarnation = 0x5678}.word() == 0x56781234);
static_assert(holder_word(Owner{.actor = 0x1234, .incarnation = 0x5678}, 0x9abcdef0) ==
              0x9abcdef056781234);

// Enumerators that are stored.
static_assert(sizeof(Verdict) == 1 && static_cast<int>(Verdict::kDrop) == 1);
static_assert(static_cast<int>(Verdict::kDone) == 2 && static_cast<int>(Verdict::kConsumed) == 3);
static_assert(sizeof(Reason) == 1 && static_cast<int>(Reason::kPunt) == 33);
static_assert(sizeof(SlotKind) == 1 && static_cast<int>(SlotKind::kFreeing) == 5);
static_assert(sizeof(ActorState) == 4 && static_cast<int>(ActorState::kQuarantined) == 6);

// Columns of a slot of the default capacity, and of the smallest and largest slot.
constexpr ColumnOffsets kColumns = column_offsets(kBatchCapacityDefault);
static_assert(kBatchCapacityDefault == 64);
static_assert(kColumns.buffer == 128 && kColumns.length == 384 && kColumns.offset == 512);
static_assert(kColumns.verdict == 640 && kColumns.output == 704 && kColumns.classes == 768);
static_assert(kColumns.reason == 1024 && kColumns.key == 1088 && kColumns.wire_length == 2112);
static_assert(kColumns.result == 2368 && kColumns.side == 4416 && kColumns.side_bytes == 5952);
static_assert(kColumns.slot_bytes == 10048);
static_assert(column_offsets(1).slot_bytes == 4928);
static_assert(column_offsets(kBatchCapacityMax).slot_bytes == 27584);
static_assert(sizeof(SideRecord) == 24 && kSideBytesMax == 4096);
static_assert(kBufferStrideDefault == 2176 && kBufferHeadroom == 128);

}  // namespace millrace
