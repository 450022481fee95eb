// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/range_list.hpp"

#include <gtest/gtest.h>

#include <bitset>
#include <cstdint>
#include <random>

namespace millrace {
namespace {

using Nibble = std::uint8_t;  // 0 to 31
constexpr Nibble kLast = 31;
std::optional<Nibble> next_nibble(Nibble value) {
  return value == kLast ? std::nullopt : std::optional(static_cast<Nibble>(value + 1));
}
std::optional<Nibble> previous_nibble(Nibble value) {
  return value == 0 ? std::nullopt : std::optional(static_cast<Nibble>(value - 1));
}

RangeList<Nibble> random_ranges(std::mt19937& random) {
  RangeList<Nibble> ranges;
  for (auto count = random() % 5; count > 0; --count) {
    const auto low = static_cast<Nibble>(random() % 32);
    ranges.emplace_back(low,
                        static_cast<Nibble>(std::min<std::uint32_t>(kLast, low + random() % 9)));
  }
  return ranges;
}
std::bitset<kLast + 1> values_of(const RangeList<Nibble>& ranges) {
  std::bitset<kLast + 1> values;
  for (const auto& [low, high] : ranges) {
    for (int value = low; value <= high; ++value) values.set(static_cast<std::size_t>(value));
  }
  return values;
}

TEST(RangeLists, JoinedHaveTheSameValuesAndGaps) {
  std::mt19937 random(5);
  for (int turn = 0; turn < 2000; ++turn) {
    const RangeList<Nibble> ranges = random_ranges(random), whole = joined(ranges, next_nibble);
    ASSERT_EQ(values_of(ranges), values_of(whole));
    for (std::size_t at = 1; at < whole.size(); ++at) {
      ASSERT_GT(int{whole[at].first}, whole[at - 1].second + 1);
    }
  }
}

TEST(RangeLists, DifferenceHasTheValuesOfOneAlone) {
  std::mt19937 random(6);
  for (int turn = 0; turn < 5000; ++turn) {
    const RangeList<Nibble> of = joined(random_ranges(random), next_nibble);
    const RangeList<Nibble> without = joined(random_ranges(random), next_nibble);
    const RangeList<Nibble> left = difference(of, without, next_nibble, previous_nibble);
    ASSERT_EQ(values_of(left), values_of(of) & ~values_of(without));
    for (const auto& [low, high] : left) ASSERT_LE(low, high);
  }
}

}  // namespace
}  // namespace millrace
