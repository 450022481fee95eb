// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/stream_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "tests/unit/services/functions/stream/stream_memory.hpp"

namespace millrace {
namespace {

std::vector<std::uint32_t> sequences(const StreamTable& table, const StreamSide& side) {
  std::vector<std::uint32_t> found;
  std::uint32_t before = 0;
  for (std::uint32_t at = side.first; at != 0; at = table.block(at)->next) {
    EXPECT_EQ(table.block(at)->before, before);
    found.push_back(table.block(at)->sequence);
    before = at;
  }
  EXPECT_EQ(side.last, before);
  EXPECT_EQ(side.blocks, found.size());
  return found;
}

constexpr auto kFilled = static_cast<std::uint32_t>(sizeof(StreamBlock::data));

/// All of a block's data, with bytes that its sequence says.
void fill(const StreamTable& table, std::uint32_t reference) {
  StreamBlock& block = *table.block(reference);
  std::ranges::fill(block.data, static_cast<std::byte>(block.sequence % 251));
  block.bytes = kFilled;
}

bool all_filled(const StreamTable& table, const StreamSide& side) {
  for (std::uint32_t at = side.first; at != 0; at = table.block(at)->next) {
    const StreamBlock& block = *table.block(at);
    const auto right = static_cast<std::byte>(block.sequence % 251);
    if (block.bytes != kFilled || std::ranges::count(block.data, right) != kFilled) return false;
  }
  return true;
}

TEST(StreamTable, FindsWhatHasBegunUntilItEnds) {
  StreamMemory memory({.streams = 4, .blocks = 4});
  StreamTable table = memory.table();
  for (std::uint16_t i = 0; i < 4; ++i) {
    EXPECT_EQ(table.find(tuple_number(i)), nullptr);
    ASSERT_NE(table.begin(tuple_number(i)), nullptr);
  }
  EXPECT_EQ(table.begin(tuple_number(9)), nullptr);
  table.end(tuple_number(2));
  table.end(tuple_number(2));
  EXPECT_EQ(table.find(tuple_number(2)), nullptr);
  EXPECT_EQ(table.streams(), 3u);
  ASSERT_NE(table.begin(tuple_number(9)), nullptr);
  EXPECT_EQ(table.find(tuple_number(9))->tuple, tuple_number(9));
  for (const std::uint16_t there : {0, 1, 3}) EXPECT_NE(table.find(tuple_number(there)), nullptr);
}

TEST(StreamTable, TheOneThatWasFoundLastIsGoneWhenItEnds) {
  StreamMemory memory({.streams = 2, .blocks = 1});
  StreamTable table = memory.table();
  Stream* const begun = table.begin(tuple_number(1));
  ASSERT_EQ(table.find(tuple_number(1)), begun);
  EXPECT_EQ(table.find(tuple_number(2)), nullptr);
  ASSERT_EQ(table.find(tuple_number(1)), begun);
  ASSERT_EQ(table.find(tuple_number(1)), begun);
  table.end(tuple_number(1));
  EXPECT_EQ(table.find(tuple_number(1)), nullptr);
  ASSERT_NE(table.begin(tuple_number(2)), nullptr);
  EXPECT_EQ(table.find(tuple_number(1)), nullptr);
  EXPECT_EQ(table.find(tuple_number(2))->tuple, tuple_number(2));
}

TEST(StreamTable, KeepsBlocksInOrderAndGivesThemBack) {
  StreamMemory memory({.streams = 2, .blocks = 3});
  StreamTable table = memory.table();
  Stream& stream = *table.begin(tuple_number(1));
  StreamSide& side = table.change_side(stream, 1);
  const std::uint32_t first = table.put_block(side, 0, 100);
  const std::uint32_t last = table.put_block(side, first, 300);
  table.put_block(side, first, 200);
  EXPECT_EQ(sequences(table, side), (std::vector<std::uint32_t>{100, 200, 300}));
  EXPECT_EQ(side.last, last);
  EXPECT_EQ(table.free_blocks(), 0u);
  table.release(side, 2);
  EXPECT_EQ(sequences(table, side), (std::vector<std::uint32_t>{300}));
  table.put_block(side, 0, 50);
  EXPECT_EQ(sequences(table, side), (std::vector<std::uint32_t>{50, 300}));
  table.end(tuple_number(1));
  EXPECT_EQ(table.free_blocks(), 3u);
}

/// Against a map, with batches that are taken back: as a worker dies at any time.
TEST(StreamTable, ABatchThatIsTakenBackLeavesNothing) {
  std::mt19937 random(7);
  StreamMemory memory({.streams = 20, .blocks = 40});
  std::map<std::uint16_t, std::vector<std::uint32_t>> model;  // of side 0
  const auto change = [&](std::map<std::uint16_t, std::vector<std::uint32_t>>& to) {
    StreamTable table = memory.table();
    const auto number = static_cast<std::uint16_t>(random() % 30);
    Stream* stream = table.find(tuple_number(number));
    ASSERT_EQ(stream != nullptr, to.contains(number));
    if (stream == nullptr) {
      stream = table.begin(tuple_number(number));
      if (stream != nullptr) to[number] = {};
      return;
    }
    std::vector<std::uint32_t>& blocks = to[number];
    StreamSide& side = table.change_side(*stream, 0);
    switch (random() % 4) {
      case 0:
        table.end(tuple_number(number));
        to.erase(number);
        return;
      case 1: {
        const auto count = static_cast<std::uint32_t>(random() % (blocks.size() + 1));
        table.release(side, count);
        blocks.erase(blocks.begin(), blocks.begin() + count);
        return;
      }
      default: {
        if (table.free_blocks() == 0) return;
        const std::uint32_t sequence = random() % 1'000'000;
        const auto place = std::ranges::upper_bound(blocks, sequence);
        std::uint32_t before = 0;
        for (auto i = blocks.begin(); i != place; ++i) {
          before = before == 0 ? side.first : table.block(before)->next;
        }
        fill(table, table.put_block(side, before, sequence));
        blocks.insert(place, sequence);
      }
    }
  };
  for (int batch = 0; batch < 2000; ++batch) {
    memory.begin_batch();
    auto next = model;
    for (unsigned i = random() % 8; i > 0; --i) change(next);
    if (random() % 3 == 0) {
      ASSERT_EQ(memory.take_back(), LaneUndoLog::Undone::kAll);
    } else {
      model = next;
    }
    const StreamTable table = memory.table();
    std::uint32_t blocks = 0;
    for (std::uint16_t number = 0; number < 30; ++number) {
      const Stream* const stream = table.find(tuple_number(number));
      ASSERT_EQ(stream != nullptr, model.contains(number)) << batch;
      if (stream == nullptr) continue;
      ASSERT_EQ(sequences(table, stream->side[0]), model[number]) << batch;
      ASSERT_TRUE(all_filled(table, stream->side[0])) << batch;
      blocks += stream->side[0].blocks;
    }
    ASSERT_EQ(table.free_blocks(), 40 - blocks);
    ASSERT_EQ(table.streams(), model.size());
  }
}

}  // namespace
}  // namespace millrace
