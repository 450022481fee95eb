// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/watch/watch_point.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "shared/base/packet_filter.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace::test {
namespace {

constexpr std::uint32_t kPointActors = 5;
constexpr std::uint32_t kMe = 3;
constexpr std::uint64_t kRingBytes = 64 << 10;

class WatchPointTest : public testing::Test {
 protected:
  WatchPointTest() { point_.serve(name_, kPointActors, kMe, 7); }
  ~WatchPointTest() override { remove_watches(name_, true); }

  static WatchWish wish() {
    WatchWish wish;
    wish.actors.assign(kPointActors, false);
    wish.actors[kMe] = true;
    wish.port_in[2] = 0;
    wish.ring_bytes = kRingBytes;
    return wish;
  }
  WatchFile watch(const WatchWish& wish) { return WatchFile::create(name_, wish, ::geteuid()); }
  /// Both threads, until nothing changes any more.
  void settle() {
    for (int i = 0; i < 3; ++i) {
      point_.look();
      point_.turn();
    }
    point_.look();
  }
  void show(std::size_t length) {
    const std::vector<std::byte> bytes(length, std::byte{0x5a});
    point_.port_in(kMe, 2, {.bytes = bytes, .wire_length = 2000, .time_tsc = ++time_});
  }
  /// Reads all records as a watcher does.
  static std::vector<WatchRecord> read(const WatchFile& file) {
    std::vector<WatchRecord> records;
    WatchRing& ring = file.ring(0);
    std::uint64_t head = ring.head.load();
    while (head != ring.tail.load()) {
      const std::uint64_t at = head % kRingBytes;
      WatchRecord record{};
      if (kRingBytes - at >= sizeof record) {
        std::memcpy(&record, file.ring_base(0) + at, sizeof record);
      }
      const bool fills = record.record_bytes == 0 || record.point == kNoPoint;
      if (!fills) records.push_back(record);
      head += fills ? kRingBytes - at : record.record_bytes;
    }
    ring.head.store(head);
    return records;
  }

  /// "kind/result" of each step.
  static std::vector<std::string> read_steps(const WatchFile& file) {
    std::vector<std::string> steps;
    WatchRing& ring = file.ring(0);
    std::uint64_t head = ring.head.load();
    while (head != ring.tail.load()) {
      const std::byte* const at = file.ring_base(0) + head % kRingBytes;
      WatchRecord record{};
      TraceStep step{};
      std::memcpy(&record, at, sizeof record);
      std::memcpy(&step, at + sizeof record, sizeof step);
      EXPECT_EQ(record.point, kStepPoint);
      EXPECT_EQ(record.length, sizeof step);
      steps.push_back(std::to_string(static_cast<int>(step.kind)) + "/" +
                      std::to_string(step.result));
      head += record.record_bytes;
    }
    ring.head.store(head);
    return steps;
  }

  std::string name_ = "watch-test-" + std::to_string(::getpid());
  WatchPoint point_;
  std::uint64_t time_ = 0;
};

TEST_F(WatchPointTest, IsOffUntilSomebodyWatchesAndAfterHeHasGone) {
  settle();
  EXPECT_FALSE(point_.on());
  {
    const WatchFile file = watch(wish());
    settle();
    EXPECT_TRUE(point_.on());
    EXPECT_EQ(file.ring(0).attached.load(), 7U);
  }
  settle();
  EXPECT_FALSE(point_.on());
}

TEST_F(WatchPointTest, TheDataThreadDecidesWhenAWatchBegins) {
  const WatchFile file = watch(wish());
  point_.look();
  point_.look();
  EXPECT_FALSE(point_.on());
  EXPECT_EQ(file.ring(0).attached.load(), 0U);
  point_.turn();
  EXPECT_TRUE(point_.on());
  point_.look();
  EXPECT_EQ(file.ring(0).attached.load(), 7U);
}

TEST_F(WatchPointTest, PacketsAreCopiedUpToTheSnapLength) {
  WatchWish asked = wish();
  asked.snap_length = 50;
  const WatchFile file = watch(asked);
  settle();
  show(10);
  show(60);
  const std::vector<WatchRecord> records = read(file);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].length, 10U);
  EXPECT_EQ(records[0].time_tsc, 1U);
  EXPECT_EQ(records[1].length, 50U);
  EXPECT_EQ(records[1].wire_length, 2000U);
  EXPECT_EQ(file.ring_base(0)[sizeof(WatchRecord)], std::byte{0x5a});
}

TEST_F(WatchPointTest, AFullRingCountsWhatItMissesAndGoesOnWhenItIsRead) {
  const WatchFile file = watch(wish());
  settle();
  for (int i = 0; i < 100; ++i) show(1000);  // 1,024 bytes each with their record
  EXPECT_EQ(file.ring(0).missed[0].load(), 36U);
  EXPECT_EQ(read(file).size(), 64U);
  show(1000);
  EXPECT_EQ(read(file).size(), 1U);
}

TEST_F(WatchPointTest, RecordsOfAnyLengthSurviveTheEndOfTheRing) {
  const WatchFile file = watch(wish());
  settle();
  std::uint64_t shown = 0, time = 0;
  for (std::size_t length = 0; length < 3000; ++length) {
    show(length % 1500);
    ++shown;
    if (length % 3 != 0) continue;
    for (const WatchRecord& record : read(file)) {
      ASSERT_EQ(record.time_tsc, ++time);
      ASSERT_EQ(record.length, (time - 1) % 1500);
    }
  }
  EXPECT_EQ(time + read(file).size(), shown);
  EXPECT_EQ(file.ring(0).missed[0].load(), 0U);
}

TEST_F(WatchPointTest, OnlyWhatTheFilterTakesIsShown) {
  WatchWish asked = wish();
  asked.filter = {filter_word(0x80, 0, 0, 0),      // length of the packet
                  filter_word(0x15, 0, 1, 2000),   // 2,000?
                  filter_word(0x06, 0, 0, 65535),  // then all of it
                  filter_word(0x06, 0, 0, 0)};
  const WatchFile file = watch(asked);
  settle();
  show(10);
  const std::vector<std::byte> other(10);
  point_.port_in(kMe, 2, {.bytes = other, .wire_length = 10});
  EXPECT_EQ(read(file).size(), 1U);
}

TEST_F(WatchPointTest, PlacesThatNobodyAskedForShowNothing) {
  const WatchFile file = watch(wish());
  settle();
  const std::vector<std::byte> bytes(10);
  point_.port_in(kMe, 1, {.bytes = bytes, .wire_length = 10});
  point_.port_out(kMe, 2, {.bytes = bytes, .wire_length = 10});
  point_.dropped(kMe, {.bytes = bytes, .wire_length = 10});
  point_.port_in(kMe - 1, 2, {.bytes = bytes, .wire_length = 10});  // has no ring
  EXPECT_TRUE(read(file).empty());
}

TEST_F(WatchPointTest, ALinkShowsAllOfABatchWithWhatHasBecomeOfIt) {
  SmallWorld world;
  const std::uint32_t slot = world.make({.count = 3});
  const Batch batch = world.segment.batch(slot);
  batch.drop(1, Reason::kOverload);
  WatchWish asked = wish();
  asked.link[9] = 4;
  const WatchFile file = watch(asked);
  settle();
  point_.link(kMe, 9, batch);
  point_.link(kMe, 8, batch);
  const std::vector<WatchRecord> records = read(file);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].point, 4U);
  EXPECT_EQ(records[0].verdict, static_cast<std::uint8_t>(Verdict::kPass));
  EXPECT_EQ(records[1].verdict, static_cast<std::uint8_t>(Verdict::kDrop));
  EXPECT_EQ(records[1].reason, static_cast<std::uint8_t>(Reason::kOverload));
  EXPECT_EQ(records[2].reason, 0U);
}

TEST_F(WatchPointTest, ALinkShowsWhatHasLeftTheFunctionsByItsFate) {
  SmallWorld world;
  const std::uint32_t slot = world.make({.count = 3});
  const Batch batch = world.segment.batch(slot);
  batch.finish(0, 1);
  batch.finish(1, 1, Reason::kReply);
  batch.consume(2, Reason::kFragmented);
  WatchWish asked = wish();
  asked.link[9] = 4;
  const WatchFile file = watch(asked);
  settle();
  point_.link(kMe, 9, batch);
  const std::vector<WatchRecord> records = read(file);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].verdict, static_cast<std::uint8_t>(Verdict::kDone));
  EXPECT_EQ(records[0].reason, 0U);
  EXPECT_EQ(records[1].verdict, static_cast<std::uint8_t>(Verdict::kDone));
  EXPECT_EQ(records[1].reason, static_cast<std::uint8_t>(Reason::kReply));
  EXPECT_EQ(records[2].verdict, static_cast<std::uint8_t>(Verdict::kConsumed));
  EXPECT_EQ(records[2].reason, static_cast<std::uint8_t>(Reason::kFragmented));
}

TEST_F(WatchPointTest, AStepSaysByWhichPortItsPacketLeaves) {
  SmallWorld world;
  const std::uint32_t slot = world.make({.count = 3});
  const Batch batch = world.segment.batch(slot);
  WatchWish asked = wish();
  asked.trace_count = 2;
  asked.slot_count = world.segment.slot_count();
  WatchFile file = watch(asked);
  settle();
  file.begin_to_follow();
  batch.output[0] = kOutputDefault;
  batch.finish(1, 1, Reason::kReply);
  point_.sealed(kMe, 0, slot, batch);
  const WatchRing& ring = file.ring(0);
  std::vector<int> ports;
  for (std::uint64_t at = 0; at < ring.tail.load();) {
    WatchRecord record{};
    TraceStep step{};
    std::memcpy(&record, file.ring_base(0) + at, sizeof record);
    std::memcpy(&step, file.ring_base(0) + at + sizeof record, sizeof step);
    ports.push_back(step.port_after);
    at += record.record_bytes;
  }
  EXPECT_EQ(ports, (std::vector<int>{0, 2})) << "1 + the port, 0: the path's";
}

TEST_F(WatchPointTest, PacketsAreFollowedFromTheSealOnWhileTheBatchIsTheSame) {
  SmallWorld world;
  const std::uint32_t slot = world.make({.count = 3});
  const Batch batch = world.segment.batch(slot);
  EXPECT_EQ(world.segment.number_of(*batch.header), slot);
  WatchWish asked = wish();
  asked.trace_count = 2;
  asked.slot_count = world.segment.slot_count();
  WatchFile file = watch(asked);
  settle();
  point_.sealed(kMe, 0, slot, batch);
  EXPECT_FALSE(point_.follows(slot, batch.header->generation)) << "before the watcher says so";
  file.begin_to_follow();
  EXPECT_FALSE(point_.follows(slot, batch.header->generation));
  point_.sealed(kMe, 0, slot, batch);
  EXPECT_TRUE(point_.follows(slot, batch.header->generation));
  EXPECT_FALSE(point_.follows(slot, batch.header->generation + 1));
  EXPECT_FALSE(point_.follows(slot + 1, batch.header->generation));
  const std::uint32_t words[] = {10, 11, 12};
  const std::uint16_t selected[] = {1, 2};
  point_.step(kMe, slot, batch, {TraceKind::kFunction, 6, 0, words, selected});
  point_.device_step(kMe, slot, batch.header->generation, 0, 0, 5);
  EXPECT_EQ(read_steps(file),
            (std::vector<std::string>{"0/0", "0/0", "3/0", "3/11", "4/0", "4/0"}));
  ++batch.header->generation;  // the next batch: the two packets are all that are chosen
  point_.sealed(kMe, 0, slot, batch);
  point_.step(kMe, slot, batch, {TraceKind::kSent, 1, 0, {}, {}});
  EXPECT_TRUE(read_steps(file).empty());
}

TEST_F(WatchPointTest, SeveralWatchersSeeTheSame) {
  const WatchFile one = watch(wish());
  settle();
  show(10);
  {
    const WatchFile two = watch(wish());
    settle();
    show(20);
    EXPECT_EQ(read(two).size(), 1U);
  }
  settle();
  show(30);
  EXPECT_EQ(read(one).size(), 3U);
}

}  // namespace
}  // namespace millrace::test
