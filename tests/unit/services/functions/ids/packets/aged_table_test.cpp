// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packets/aged_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>

#include "tests/unit/services/functions/lane_memory.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kEntries = 24;
constexpr std::uint64_t kEntriesAt = 2 * kCacheLine;

FlowTuple aged_tuple(std::uint16_t number) { return {.source_port = number, .version = 4}; }

/// A list that holds the same, the oldest first.
struct AgedModel {
  struct One {
    std::uint16_t number;
    std::uint32_t seen_s;
    std::byte own;
  };
  std::list<One> all;

  auto find(std::uint16_t number) {
    return std::ranges::find(all, number, [](const One& one) { return one.number; });
  }
};

void step_once(AgedTable& table, AgedModel& model, std::mt19937& random, std::uint32_t now_s) {
  const std::uint16_t number = random() % 40;
  const auto known = model.find(number);
  AgedEntry* const found = table.find(aged_tuple(number));
  ASSERT_EQ(found != nullptr, known != model.all.end());
  if (found == nullptr) {
    AgedEntry* const begun = table.begin(aged_tuple(number), now_s);
    ASSERT_EQ(begun == nullptr, model.all.size() == kEntries);
    if (begun == nullptr) return;
    ASSERT_EQ(begun->own[63], std::byte{0});
    begun->own[63] = std::byte(number);
    model.all.push_back({number, now_s, std::byte(number)});
    return;
  }
  ASSERT_EQ(found->own[63], known->own);
  ASSERT_EQ(found->seen_s, known->seen_s);
  switch (random() % 3) {
    case 0:
      table.end(*found);
      model.all.erase(known);
      return;
    case 1:
      table.see(*found, now_s);
      // Within one second the order stays.
      if (known->seen_s != now_s) model.all.splice(model.all.end(), model.all, known);
      known->seen_s = now_s;
      return;
    default:
      table.change_own(*found);
      found->own[63] = known->own = std::byte(random() % 256);
  }
}

TEST(AgedTable, IsAListWithBatchesTakenBack) {
  LaneMemory lane{{.state_bytes = kEntriesAt + AgedTable::bytes_for(kEntries), .undo_lines = 100}};
  std::mt19937 random(11);
  AgedModel model;
  for (std::uint32_t batch = 1; batch < 4000; ++batch) {
    lane.state.undo.begin(0, batch);
    const auto before = lane.copy();
    const AgedModel model_before = model;
    AgedTable table(lane.state, kEntriesAt, kEntries, {1, 2});
    for (int i = 0; i < 5; ++i) step_once(table, model, random, batch / 2);
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    ASSERT_EQ(table.count(), model.all.size());
    const AgedEntry* const oldest = table.oldest();
    ASSERT_EQ(oldest == nullptr, model.all.empty());
    if (oldest != nullptr) {
      ASSERT_EQ(oldest->tuple.source_port, model.all.front().number);
    }
    if (random() % 4 != 0) continue;
    ASSERT_EQ(lane.state.undo.undo(0, batch), LaneUndoLog::Undone::kAll);
    ASSERT_EQ(lane.copy(), before);
    model = model_before;
  }
}

/// kLinesOfBegin and its like are what the undo log is made for.
TEST(AgedTable, ChangesNoMoreLinesThanItSays) {
  LaneMemory lane{{.state_bytes = AgedTable::bytes_for(kEntries), .undo_lines = 100}};
  lane.state.undo.begin(0, 1);
  AgedTable table(lane.state, 0, kEntries, {1, 2});
  for (std::uint16_t i = 0; i < 10; ++i) table.begin(aged_tuple(i), 1);
  const auto fits = [&](std::uint32_t lines, auto change) {
    LaneMemory small{{.state_bytes = lane.state.bytes.size(), .undo_lines = lines}};
    std::ranges::copy(lane.state.bytes, small.state.bytes.begin());
    small.state.undo.begin(0, 1);
    AgedTable other(small.state, 0, kEntries, {1, 2});
    change(other);
    return small.state.undo.undo(0, 1) == LaneUndoLog::Undone::kAll;
  };
  for (std::uint16_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(fits(AgedTable::kLinesOfEnd,
                     [&](AgedTable& other) { other.end(*other.find(aged_tuple(i))); }));
    EXPECT_TRUE(fits(AgedTable::kLinesOfSee,
                     [&](AgedTable& other) { other.see(*other.find(aged_tuple(i)), 2); }));
  }
  EXPECT_TRUE(
      fits(AgedTable::kLinesOfBegin, [&](AgedTable& other) { other.begin(aged_tuple(30), 2); }));
}

}  // namespace
}  // namespace millrace
