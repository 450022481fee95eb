// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/flow_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>

namespace millrace {
namespace {

FlowTuple cached_tuple(std::uint16_t number) {
  return {.source_port = number, .protocol = 6, .version = 4};
}

/// Beside a list in the order of the last look.
TEST(FlowCache, TheOneThatWasAskedForLongestAgoMakesRoom) {
  constexpr std::size_t kFlows = 9;
  FlowCache cache(kFlows, SIZE_MAX);
  std::deque<std::uint16_t> model;  // the youngest one first
  std::mt19937 random(5);
  for (int step = 0; step < 20'000; ++step) {
    const auto number = static_cast<std::uint16_t>(random() % 20);
    const auto there = std::ranges::find(model, number);
    const bool is_there = there != model.end();
    if (is_there) model.erase(there);
    switch (random() % 4) {
      case 0:
        cache.forget(cached_tuple(number));
        break;
      case 1: {
        CachedFlow& begun = cache.begin(cached_tuple(number));
        ASSERT_EQ(begun.id, 0u);
        ASSERT_TRUE(begun.pending[1].empty());
        begun.id = number + 1u;
        begun.pending[1].push_back({});
        model.push_front(number);
        if (model.size() > kFlows) model.pop_back();
        break;
      }
      default: {
        const CachedFlow* const found = cache.find(cached_tuple(number));
        ASSERT_EQ(found != nullptr, is_there);
        if (!is_there) break;
        ASSERT_EQ(found->id, number + 1u);
        model.push_front(number);
      }
    }
  }
}

std::size_t room_of(const CachedFlow& flow) {
  return flow.pending[0].capacity() * sizeof(PendingRule);
}

/// Beside a list in the order of the last look, with the bytes of each.
TEST(FlowCache, OthersMakeRoomForBytes) {
  constexpr std::size_t kBytes = 100'000;
  struct Known {
    std::uint16_t number;
    std::size_t bytes;
    bool is_full;
  };
  FlowCache cache(9, kBytes);
  std::deque<Known> model;  // the youngest one first
  std::mt19937 random(6);
  std::uint64_t emptied = 0, replaced = 0;
  for (int step = 0; step < 20'000; ++step) {
    const auto number = static_cast<std::uint16_t>(random() % 14);
    const FlowTuple tuple = cached_tuple(number);
    const auto there = std::ranges::find(model, number, &Known::number);
    const bool is_there = there != model.end();
    const bool is_full = is_there && there->is_full;
    if (is_there) model.erase(there);
    if (random() % 10 == 0) {
      cache.forget(tuple);
      continue;
    }
    CachedFlow* flow = cache.find(tuple);
    ASSERT_EQ(flow != nullptr, is_there);
    ASSERT_EQ(flow != nullptr && flow->has_made_room, is_there && !is_full);
    ASSERT_EQ(flow != nullptr && flow->id == number + 1u, is_full);
    if (!is_full) {
      flow = &cache.begin(tuple);
      flow->id = number + 1u;
    }
    flow->pending[0].reserve(1 + random() % (random() % 50 == 0 ? 10'000 : 2'000));
    model.push_front({number, room_of(*flow), true});
    if (model.size() > 9) {
      model.pop_back();
      ++replaced;
    }
    cache.weigh(*flow);
    if (model.front().bytes > kBytes) {  // a sixteenth is less than the 512 KiB that one may have
      model.front() = {number, 0, false};
      ++emptied;
    }
    const auto held = [&] {
      std::size_t sum = 0;
      for (const Known& one : model) sum += one.bytes;
      return sum;
    };
    for (auto oldest = model.rbegin(); held() > kBytes; ++oldest) {
      emptied += oldest->is_full ? 1 : 0;
      oldest->is_full = false;
      oldest->bytes = 0;
    }
    ASSERT_EQ(cache.held(), held());
    ASSERT_EQ(cache.emptied(), emptied);
    ASSERT_EQ(cache.replaced(), replaced);
  }
  EXPECT_GT(emptied, 1000u);
  EXPECT_GT(replaced, 1000u);
}

TEST(FlowCache, OneThatWantsMoreThanItsShareMakesRoomItself) {
  constexpr std::size_t kShare = 1u << 20, kBytes = 16 * kShare;
  FlowCache cache(20, kBytes);
  const auto grow = [&](std::uint16_t number, std::size_t bytes) {
    CachedFlow& flow = cache.begin(cached_tuple(number));
    flow.pending[0] = {};
    flow.pending[0].reserve(bytes / sizeof(PendingRule));
    cache.weigh(flow);
  };
  for (std::uint16_t number = 0; number < 16; ++number) grow(number, kShare);
  EXPECT_EQ(cache.held(), kBytes);
  for (const std::size_t bytes : {kShare + sizeof(PendingRule), 2 * kBytes}) {
    grow(16, bytes);
    EXPECT_TRUE(cache.find(cached_tuple(16))->has_made_room);
    EXPECT_EQ(cache.held(), kBytes);
  }
  EXPECT_EQ(cache.emptied(), 2u);
  for (std::uint16_t number = 0; number < 16; ++number) {
    EXPECT_FALSE(cache.find(cached_tuple(number))->has_made_room);
  }
}

}  // namespace
}  // namespace millrace
