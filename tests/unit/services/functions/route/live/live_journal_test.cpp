// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/live/live_journal.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace millrace {
namespace {

/// An image that is words, and a journal of 64 records.
struct JournalWorld {
  JournalWorld() {
    table.live = &live;
    table.journal = records;
  }
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(1000);
  std::vector<LiveRecord> records = std::vector<LiveRecord>(64);
  RouteLive live{};
  RouteTable table;
};

TEST(LiveJournal, SaysWhatHasChangedInOrder) {
  JournalWorld world;
  LiveJournalReader reader(world.table);
  LiveJournal journal(world.words, world.records, world.live);
  std::array<LiveRecord, 8> room;
  EXPECT_TRUE(reader.read(room)->empty());
  journal.fill(world.words[7], 0x80000001);
  journal.store(world.words[5], 0x80000007);
  journal.grace();
  journal.store(world.words[6], 9);
  EXPECT_EQ(world.words[7], 0x80000001u);
  EXPECT_EQ(world.words[5], 0x80000007u);
  const auto records = *reader.read(room);
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].place, 7u) << "nothing leads to it yet";
  EXPECT_EQ(records[0].value, 0x80000001u);
  EXPECT_EQ(records[1].place, 5u | kRecordLeads);
  EXPECT_EQ(records[1].value, 0x80000007u);
  EXPECT_EQ(records[2].place, kRecordGrace);
  EXPECT_EQ(records[3].place, 6u);
  reader.taken(3);
  ASSERT_EQ(reader.read(room)->size(), 1u);
  reader.taken(1);
  EXPECT_TRUE(reader.read(room)->empty());
}

TEST(LiveJournal, WithoutRoomForRecordsOnlyWordsChange) {
  std::uint32_t word = 0;
  LiveJournal journal;
  journal.store(word, 5);
  EXPECT_EQ(word, 5u);
  journal.fill(word, 6);
  EXPECT_EQ(word, 6u);
  journal.grace();
}

TEST(LiveJournal, WhatWasOverwrittenIsLostUntilAReaderBeginsAnew) {
  JournalWorld world;
  LiveJournal journal(world.words, world.records, world.live);
  LiveJournalReader reader(world.table);
  std::vector<LiveRecord> room(64);
  for (std::uint32_t i = 0; i < 63; ++i) journal.store(world.words[i], i);
  EXPECT_EQ(reader.read(room)->size(), 63u);
  journal.store(world.words[63], 63);
  EXPECT_FALSE(reader.read(room)) << "the writer may be at the first of them";
  reader.begin();
  EXPECT_TRUE(reader.read(room)->empty());
}

TEST(LiveJournal, AWriterThatDiedMayHaveNotedTooLittle) {
  JournalWorld world;
  LiveJournalReader reader(world.table);
  std::array<LiveRecord, 8> room;
  LiveJournal first(world.words, world.records, world.live);
  first.store(world.words[1], 1);
  EXPECT_EQ(reader.read(room)->size(), 1u) << "there was none before the first";
  LiveJournal second(world.words, world.records, world.live);
  second.store(world.words[2], 2);
  EXPECT_EQ(world.live.journal_end, 2u);
  EXPECT_FALSE(reader.read(room));
  reader.begin();
  second.store(world.words[3], 3);
  ASSERT_EQ(reader.read(room)->size(), 1u);
  EXPECT_EQ((*reader.read(room))[0].place, 3u);
}

TEST(LiveJournal, AReaderBesideTheWriterGetsEachRecordWholeOrNone) {
  JournalWorld world;
  LiveJournal journal(world.words, world.records, world.live);
  LiveJournalReader reader(world.table);
  std::atomic<bool> ended = false;
  std::thread writer([&] {
    for (std::uint32_t i = 0; i < 200'000; ++i) journal.store(world.words[i % 1000], i);
    ended = true;
  });
  std::array<LiveRecord, 16> room;
  std::uint64_t wrong = 0;
  std::int64_t last = -1;
  for (bool all = false; !all;) {
    const bool had_ended = ended;
    const auto records = reader.read(room);
    if (!records) {
      reader.begin();
      continue;
    }
    for (const LiveRecord& record : *records) {
      if (record.place != record.value % 1000 || record.value <= last) ++wrong;
      last = record.value;
    }
    reader.taken(records->size());
    all = had_ended && records->empty();
  }
  writer.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace millrace
