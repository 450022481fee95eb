// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/flow_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
  FlowCache cache(kFlows);
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

}  // namespace
}  // namespace millrace
