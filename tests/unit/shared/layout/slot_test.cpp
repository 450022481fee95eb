// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/slot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace millrace {
namespace {

struct Column {
  std::uint32_t start;
  std::uint32_t bytes;
};

std::vector<Column> columns(std::uint32_t capacity) {
  const ColumnOffsets at = column_offsets(capacity);
  return {{0, sizeof(SlotHeader)},       {at.buffer, 4 * capacity},      {at.length, 2 * capacity},
          {at.offset, 2 * capacity},     {at.verdict, capacity},         {at.reason, capacity},
          {at.output, capacity},         {at.wire_length, 4 * capacity}, {at.classes, 4 * capacity},
          {at.key, 16 * capacity},       {at.result, 32 * capacity},     {at.side, 24 * capacity},
          {at.side_bytes, kSideBytesMax}};
}

TEST(Slot, ColumnsOfEveryCapacityLieApartOnLinesInsideTheSlot) {
  for (std::uint32_t capacity = 1; capacity <= kBatchCapacityMax; ++capacity) {
    std::vector<Column> all = columns(capacity);
    std::sort(all.begin(), all.end(),
              [](const Column& a, const Column& b) { return a.start < b.start; });
    std::uint32_t end = 0;
    for (const Column& column : all) {
      EXPECT_EQ(column.start % 64, 0u) << capacity;
      EXPECT_GE(column.start, end) << capacity;
      end = column.start + column.bytes;
    }
    EXPECT_LE(end, column_offsets(capacity).slot_bytes) << capacity;
  }
}

TEST(Slot, ConsecutiveSlotsStartInDifferentCacheSets) {
  for (std::uint32_t capacity = 1; capacity <= kBatchCapacityMax; ++capacity) {
    const std::uint32_t bytes = column_offsets(capacity).slot_bytes;
    EXPECT_EQ(bytes % 64, 0u) << capacity;
    EXPECT_EQ(bytes / 64 % 2, 1u) << capacity;
  }
}

TEST(Slot, NoLineIsWastedBeyondTheOddOne) {
  for (const std::uint32_t capacity : {1u, 16u, 64u, 255u, 256u}) {
    std::uint32_t lines = 0;
    for (const Column& column : columns(capacity)) lines += (column.bytes + 63) / 64;
    EXPECT_LE(column_offsets(capacity).slot_bytes / 64, lines + 1) << capacity;
  }
}

TEST(Slot, TheOwnerWordKeepsActorAndLife) {
  for (const std::uint16_t actor : {0, 1, 63, 0xffff}) {
    for (const std::uint16_t life : {1, 2, 0xffff}) {
      const Owner owner{actor, life};
      EXPECT_EQ(Owner::from_word(owner.word()), owner);
      EXPECT_NE(owner.word(), 0u) << "0 stands for nobody";
    }
  }
  EXPECT_NE((Owner{1, 2}.word()), (Owner{2, 1}.word()));
}

}  // namespace
}  // namespace millrace
