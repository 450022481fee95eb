// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/event_rings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "shared/layout/event_fingerprint.hpp"
#include "shared/layout/event_text.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/layout/status_layout.hpp"
#include "tests/unit/shared/layout/stop_before_store.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

/// Three rings in shared memory.
class EventRingsTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kRings = 3;

  /// Adds a record that has its number everywhere; false: no room.
  static bool add(EventLog& log, std::uint64_t number) {
    EventRecord* const record = log.add();
    if (record == nullptr) return false;
    *record = {};
    record->sequence = number;
    record->alert.rule = static_cast<std::uint32_t>(number);
    record->source.fill(static_cast<std::uint8_t>(number));
    return true;
  }
  static void expect_whole(const EventRecord& record) {
    EXPECT_EQ(record.alert.rule, record.sequence);
    for (const std::uint8_t byte : record.source) {
      EXPECT_EQ(byte, static_cast<std::uint8_t>(record.sequence));
    }
  }
  /// Numbers of all that can be read; lets go of them.
  std::vector<std::uint64_t> read(EventReader& reader) {
    std::vector<std::uint64_t> numbers;
    std::vector<EventRecord> out(kEventRingRecords);
    std::uint64_t skipped = 0;
    const std::uint32_t count = reader.peek(out, skipped);
    for (std::uint32_t i = 0; i < count; ++i) {
      expect_whole(out[i]);
      numbers.push_back(out[i].sequence);
    }
    reader.let_go_until(reader.head() + count);
    EXPECT_EQ(skipped, 0u);
    return numbers;
  }

  Mapping memory_ = Mapping::create_anonymous(event_rings_bytes(kRings));
  EventRings rings_{memory_.base(), kRings};
  EventRing& ring_ = rings_.ring(1);
};

TEST_F(EventRingsTest, WhatWasAddedIsThereWhenItIsPublished) {
  EventLog log(rings_, 1);
  EventReader reader(rings_, 1);
  ASSERT_TRUE(add(log, 1));
  ASSERT_TRUE(add(log, 2));
  EXPECT_TRUE(read(reader).empty());
  log.publish();
  EXPECT_EQ(read(reader), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(ring_.tail, 2u);
  EXPECT_EQ(ring_.head, 2u);
  EXPECT_EQ(rings_.ring(0).tail, 0u);
  EXPECT_EQ(rings_.ring(2).tail, 0u);
}

TEST_F(EventRingsTest, APeekTakesNothing) {
  EventLog log(rings_, 1);
  EventReader reader(rings_, 1);
  ASSERT_TRUE(add(log, 7));
  log.publish();
  std::vector<EventRecord> out(4);
  std::uint64_t skipped = 0;
  EXPECT_EQ(reader.peek(out, skipped), 1u);
  EXPECT_EQ(reader.peek(out, skipped), 1u);
  EventReader successor(rings_, 1);
  EXPECT_EQ(read(successor), (std::vector<std::uint64_t>{7}));
}

TEST_F(EventRingsTest, AFullRingCountsWhatItLosesAndGoesOn) {
  EventLog log(rings_, 1);
  EventReader reader(rings_, 1);
  for (std::uint64_t i = 0; i < kEventRingRecords; ++i) ASSERT_TRUE(add(log, i));
  EXPECT_FALSE(add(log, 99));
  EXPECT_FALSE(add(log, 99));
  log.publish();
  EXPECT_EQ(ring_.lost, 2u);
  EXPECT_EQ(ring_.tail, kEventRingRecords);
  std::vector<EventRecord> out(1);
  std::uint64_t skipped = 0;
  ASSERT_EQ(reader.peek(out, skipped), 1u);
  reader.let_go_until(1);
  EXPECT_TRUE(add(log, kEventRingRecords));
  EXPECT_FALSE(add(log, 99));
  log.publish();
  EXPECT_EQ(ring_.lost, 3u);
  const std::vector<std::uint64_t> numbers = read(reader);
  ASSERT_EQ(numbers.size(), kEventRingRecords);
  EXPECT_EQ(numbers.front(), 1u);
  EXPECT_EQ(numbers.back(), kEventRingRecords);
}

TEST_F(EventRingsTest, ASuccessorGoesOnBehindWhatWasPublished) {
  EventLog made_before(rings_, 1);  // while the first one still runs, as successors are
  {
    EventLog first(rings_, 1);
    ASSERT_TRUE(add(first, 1));
    first.publish();
    ASSERT_TRUE(add(first, 2));  // it dies over this batch
  }
  ASSERT_TRUE(add(made_before, 3));
  made_before.publish();
  EventReader reader(rings_, 1);
  EXPECT_EQ(read(reader), (std::vector<std::uint64_t>{1, 3}));
}

TEST_F(EventRingsTest, ASuccessorKeepsTheCountOfLostOnes) {
  EventLog first(rings_, 1);
  for (std::uint64_t i = 0; i <= kEventRingRecords; ++i) add(first, i);
  first.publish();
  EventLog second(rings_, 1);
  EXPECT_FALSE(add(second, 1));
  second.publish();
  EXPECT_EQ(ring_.lost, 2u);
}

/// Adds a line with `records` records of text; false: no room.
bool add_line(EventLog& log, std::uint8_t records) {
  EventTextWriter text;
  text.put(EventField::kHttpUrl, std::string(records * kEventTextBytes - 3, 'u'), SIZE_MAX);
  EventRecord* const record = log.add(text.bytes());
  if (record == nullptr) return false;
  *record = {};
  record->kind = EventKind::kApp;
  record->app.texts = records;
  return true;
}

TEST_F(EventRingsTest, ALineWithTextIsThereWholeOrLostWhole) {
  EventLog log(rings_, 1);
  for (std::uint64_t i = 0; i + 4 < kEventRingRecords; ++i) ASSERT_TRUE(add(log, i));
  EXPECT_FALSE(add_line(log, 4));
  EXPECT_TRUE(add_line(log, 2));
  EXPECT_FALSE(add_line(log, 1));
  EXPECT_TRUE(add(log, 7));
  log.publish();
  EXPECT_EQ(ring_.tail, kEventRingRecords);
  EXPECT_EQ(ring_.lines, kEventRingRecords - 2);
  EXPECT_EQ(ring_.lost, 2u);
}

TEST_F(EventRingsTest, APeekCutsNoLine) {
  EventLog log(rings_, 1);
  EventReader reader(rings_, 1);
  ring_.head = ring_.tail = kEventRingRecords - 2;  // a line lies across the ring's end
  ASSERT_TRUE(add(log, 7));
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(add_line(log, 3));
  log.publish();
  std::vector<EventRecord> out(kEventLineRecordsMax + 1);
  std::uint64_t skipped = 0;
  EXPECT_EQ(reader.peek(out, skipped), 17u);
  reader.let_go_until(reader.head() + 1);
  ASSERT_EQ(reader.peek(out, skipped), 16u);
  std::span<const EventRecord> rest(out.data(), 16);
  EventLine line;
  while (!rest.empty()) {
    next_line(rest, line);
    EXPECT_TRUE(line.is_whole);
  }
  reader.let_go_until(reader.head() + 16);
  EXPECT_EQ(reader.peek(out, skipped), 8u);
}

TEST_F(EventRingsTest, NobodyListensWhereThereIsNoRing) {
  EXPECT_FALSE(EventLog().on());
  EXPECT_FALSE(EventLog(rings_, kNoEventRing).on());
  EXPECT_FALSE(EventLog(EventRings(), 0).on());
  EXPECT_TRUE(EventLog(rings_, 2).on());
  EventLog off;
  off.publish();
}

TEST_F(EventRingsTest, WordsWithoutSenseHarmNeitherSide) {
  EventLog log(rings_, 1);
  ASSERT_TRUE(add(log, 1));
  log.publish();
  ring_.head = 5000;  // ahead of the tail: a consumer gone wrong
  for (std::uint64_t i = 0; i < 2 * kEventRingRecords; ++i) add(log, i);
  log.publish();
  EXPECT_EQ(ring_.tail + ring_.lost, 1 + 2 * std::uint64_t{kEventRingRecords});

  ring_.head = 3;
  ring_.tail = 3 + 10 * std::uint64_t{kEventRingRecords};  // a producer gone wrong
  EventReader reader(rings_, 1);
  std::vector<EventRecord> out(4);
  std::uint64_t skipped = 0;
  EXPECT_EQ(reader.peek(out, skipped), 0u);
  EXPECT_EQ(skipped, 10 * std::uint64_t{kEventRingRecords});
  EXPECT_EQ(ring_.head, ring_.tail);
  reader.let_go_until(UINT64_MAX);
  EXPECT_EQ(ring_.head, ring_.tail) << "no further than what is there";
}

TEST_F(EventRingsTest, AProducerAndAConsumerAtOnceLoseNothingUncounted) {
  constexpr std::uint64_t kCount = 400'000;
  std::thread producer([&] {
    EventLog log(rings_, 1);
    for (std::uint64_t i = 0; i < kCount; ++i) {
      add(log, i);
      if (i % 5 == 0) log.publish();
    }
    log.publish();
  });
  EventReader reader(rings_, 1);
  std::uint64_t seen = 0, last = 0;
  while (ring_.tail + ring_.lost < kCount || ring_.tail != ring_.head) {
    for (const std::uint64_t number : read(reader)) {
      EXPECT_TRUE(seen == 0 || number > last);
      last = number;
      ++seen;
    }
  }
  producer.join();
  EXPECT_EQ(seen + ring_.lost, kCount);
}

/// The memory of the rings, as it is when a producer is killed in front of its store number `store`
/// of two batches of three records each. True when it was, false when it came to its end.
bool killed_before(std::uint32_t store, const Mapping& memory, const EventRings& rings) {
  return killed_in_child([&] {
    EventLog log(rings, 1);
    const StopBeforeStore stop({memory.base(), memory.bytes()}, store);
    for (std::uint64_t batch = 0; batch < 2; ++batch) {
      for (std::uint64_t i = 1; i <= 3; ++i) {
        EventRecord* const record = log.add();
        record->sequence = batch * 3 + i;
        record->alert.rule = static_cast<std::uint32_t>(batch * 3 + i);
        record->source.fill(static_cast<std::uint8_t>(batch * 3 + i));
      }
      log.publish();
    }
  });
}

TEST_F(EventRingsTest, AProducerThatIsKilledLeavesNoHalfRecordAndNoHalfBatch) {
  std::uint32_t kills = 0;
  for (std::uint32_t store = 0;; ++store) {
    ring_.head = ring_.tail = ring_.lines = ring_.next_tail = ring_.next_lines = 0;
    std::ranges::fill(rings_.records(1), EventRecord{});
    const bool killed = killed_before(store, memory_, rings_);
    EventLog successor(rings_, 1);
    ASSERT_TRUE(add(successor, 100));
    successor.publish();
    EventReader reader(rings_, 1);
    std::vector<std::uint64_t> numbers = read(reader);
    ASSERT_FALSE(numbers.empty());
    EXPECT_EQ(numbers.back(), 100u);
    numbers.pop_back();
    EXPECT_TRUE(numbers.empty() || numbers == (std::vector<std::uint64_t>{1, 2, 3}) ||
                numbers == (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}))
        << numbers.size() << " records, killed before store " << store;
    EXPECT_EQ(ring_.lines, ring_.tail) << "killed before store " << store;
    if (!killed) break;
    ++kills;
  }
  EXPECT_GE(kills, 20u);
}

TEST(EventRings, ActorsThatFinishHaveOneEach) {
  Plan plan = test::plan_of_text(test::kTwoPaths);
  EXPECT_EQ(event_ring_count(plan), 0u);
  EXPECT_EQ(event_ring_of(plan, 4), kNoEventRing);
  EXPECT_EQ(status_layout(plan).event_ring_count, 0u);

  const std::uint64_t without = status_layout(plan).bytes;
  plan.events = PlanEvents{};
  const StatusLayout with = status_layout(plan);
  EXPECT_EQ(with.events % kEventAlignment, 0u);
  EXPECT_GE(with.events, without);
  EXPECT_EQ(with.bytes, with.events + event_rings_bytes(with.event_ring_count));
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    const ActorKind kind = plan.actors[actor].kind;
    const std::uint32_t number = event_ring_of(plan, actor);
    const bool finishes = kind == ActorKind::kClassifier || kind == ActorKind::kEgress;
    EXPECT_EQ(number != kNoEventRing, finishes) << plan.actors[actor].name;
    if (finishes) numbers.push_back(number);
  }
  ASSERT_EQ(numbers.size(), with.event_ring_count);
  for (std::uint32_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], i);
}

TEST(EventRings, AChangeOfTheirLayoutRaisesTheAbi) {
  EXPECT_EQ(kStatusAbi, 17u);
  EXPECT_EQ(kEventFingerprint, 0x70aa719633e72409u)
      << "the layout of events has changed: raise kStatusAbi, and put both numbers here";
}

TEST(EventRings, AreOfTheLayoutsHash) {
  Plan plan = test::plan_of_text(test::kTwoPaths);
  const std::uint64_t without = status_layout(plan).hash;
  plan.events = PlanEvents{};
  EXPECT_NE(status_layout(plan).hash, without);
}

}  // namespace
}  // namespace millrace
