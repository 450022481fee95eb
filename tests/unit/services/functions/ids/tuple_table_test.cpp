// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/tuple_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/unit/services/functions/lane_memory.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kTupleEntries = 12;
constexpr std::uint64_t kTupleTableAt = kCacheLine;

struct NumberedEntry {
  FlowTuple tuple;
  std::uint32_t link;
  std::uint32_t number;
  std::uint8_t padding[16];
};
struct LastNumber {
  std::uint32_t number;
};
using NumberedTable = TupleTable<NumberedEntry, LastNumber>;

FlowTuple tuple_of_port(std::uint16_t port) { return {.source_port = port, .version = 4}; }

struct TupleLane {
  LaneMemory lane{
      {.state_bytes = kTupleTableAt + NumberedTable::bytes_for(kTupleEntries), .undo_lines = 100}};
  NumberedTable table() { return {lane.state, kTupleTableAt, kTupleEntries, {3, 4}}; }
};

/// By port, the number of its entry.
using TupleModel = std::map<std::uint16_t, std::uint32_t>;

void step_tuples(NumberedTable& table, TupleModel& model, std::mt19937& random) {
  const std::uint16_t port = random() % 20;
  const auto known = model.find(port);
  NumberedEntry* const found = table.find(tuple_of_port(port));
  ASSERT_EQ(found != nullptr, known != model.end());
  if (found != nullptr) {
    ASSERT_EQ(found->number, known->second);
    ASSERT_EQ(&table.entry(table.reference_of(*found)), found);
    if (random() % 2 == 0) {
      table.end(*found);
    } else {
      table.end(tuple_of_port(port));
    }
    model.erase(known);
    return;
  }
  table.end(tuple_of_port(port));  // there is none
  NumberedEntry* const begun = table.begin(tuple_of_port(port));
  ASSERT_EQ(begun == nullptr, model.size() == kTupleEntries);
  if (begun == nullptr) return;
  ASSERT_EQ(begun->number, 0u) << "what an earlier one has left is gone";
  begun->number = ++table.own().number;
  model[port] = begun->number;
}

TEST(TupleTable, IsAMapWithBatchesTakenBack) {
  TupleLane memory;
  std::mt19937 random(5);
  TupleModel model;
  for (std::uint32_t batch = 1; batch < 3000; ++batch) {
    memory.lane.state.undo.begin(0, batch);
    const auto before = memory.lane.copy();
    const TupleModel model_before = model;
    NumberedTable table = memory.table();
    for (int i = 0; i < 5; ++i) step_tuples(table, model, random);
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    ASSERT_EQ(table.count(), model.size());
    if (random() % 4 != 0) continue;
    ASSERT_EQ(memory.lane.state.undo.undo(0, batch), LaneUndoLog::Undone::kAll);
    ASSERT_EQ(memory.lane.copy(), before);
    model = model_before;
  }
}

TEST(TupleTable, KeepsTheFirstSecret) {
  TupleLane memory;
  const auto bytes = std::as_bytes(std::span("text"));
  const std::uint64_t hash = memory.table().hash(bytes);
  const NumberedTable later(memory.lane.state, kTupleTableAt, kTupleEntries, {9, 9});
  EXPECT_EQ(later.hash(bytes), hash);
}

TEST(TupleTableDeathTest, EndsNoEntryThatThereIsNot) {
  TupleLane memory;
  NumberedTable table = memory.table();
  NumberedEntry* const begun = table.begin(tuple_of_port(1));
  table.end(*begun);
  EXPECT_DEATH(table.end(*begun), "");
}

}  // namespace
}  // namespace millrace
