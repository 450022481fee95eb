// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/flow_records.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/unit/services/functions/lane_memory.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kRecords = 24;
constexpr std::uint64_t kRecordsAt = 3 * kCacheLine;

FlowTuple record_tuple(std::uint16_t number) {
  return {.source_port = number, .destination_port = 80, .protocol = 6, .version = 4};
}

struct RecordMemory {
  LaneMemory lane{
      {.state_bytes = kRecordsAt + FlowRecords::bytes_for(kRecords), .undo_lines = 1000}};
  std::uint64_t batch = 0;

  FlowRecords records() const { return {lane.state, kRecordsAt, kRecords, {1, 2}}; }
  void begin_batch() { lane.state.undo.begin(0, ++batch); }
};

/// Records that come and go, beside a map; batches that are taken back.
TEST(FlowRecords, AreThereUntilTheyEnd) {
  RecordMemory memory;
  std::mt19937 random(7);
  std::map<std::uint16_t, std::pair<std::uint64_t, std::uint64_t>> there;  // id, first bits
  std::uint64_t last_id = 0;
  for (int batch = 0; batch < 2000; ++batch) {
    memory.begin_batch();
    const auto before = memory.lane.copy();
    const auto there_before = there;
    const std::uint64_t id_before = last_id;
    FlowRecords records = memory.records();
    for (int step = 0; step < 5; ++step) {
      const std::uint16_t number = random() % 40;
      FlowRecord* const found = records.find(record_tuple(number));
      ASSERT_EQ(found != nullptr, there.contains(number));
      if (found != nullptr && random() % 2 == 0) {
        records.end(record_tuple(number));
        there.erase(number);
      } else if (found != nullptr) {
        ASSERT_EQ(found->id, there[number].first);
        ASSERT_EQ(found->flowbits[0], there[number].second);
        records.change_flowbits(*found);
        found->flowbits[0] = there[number].second = random();
      } else {
        FlowRecord* const begun = records.begin(record_tuple(number));
        ASSERT_EQ(begun == nullptr, there.size() == kRecords);
        if (begun == nullptr) continue;
        ASSERT_GT(begun->id, last_id);
        last_id = begun->id;
        there[number] = {begun->id, 0};
      }
    }
    ASSERT_EQ(records.count(), there.size());
    if (random() % 4 == 0) {  // the worker dies
      ASSERT_EQ(memory.lane.state.undo.undo(0, memory.batch), LaneUndoLog::Undone::kAll);
      ASSERT_EQ(memory.lane.copy(), before);
      there = there_before;
      last_id = id_before;
    }
  }
}

TEST(FlowRecords, EachLineIsChangedByItself) {
  RecordMemory memory;
  memory.begin_batch();
  FlowRecords records = memory.records();
  FlowRecord& record = *records.begin(record_tuple(1));
  records.set_names(record, 5);
  record.flowbits[7] = 1;
  memory.begin_batch();
  const auto before = memory.lane.copy();
  records.change_fate(record);
  record.fate = FlowFate::kDropped;
  records.change_parser(record);
  record.settled[1] = 77;
  record.is_over = 1;
  records.change_flowbits(record);
  record.flowbits[0] = 1;
  records.set_names(record, 6);
  EXPECT_EQ(record.flowbits[7], 0u);
  EXPECT_EQ(memory.lane.state.undo.undo(0, memory.batch), LaneUndoLog::Undone::kAll);
  EXPECT_EQ(memory.lane.copy(), before);
}

}  // namespace
}  // namespace millrace
