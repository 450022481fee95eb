// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/siphash_many.hpp"

#include <gtest/gtest.h>

#include <random>

#include "shared/base/siphash.hpp"

namespace millrace {
namespace {

TEST(SiphashMany, SaysOfEachWhatSiphashSays) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    const std::array<std::uint64_t, 2> key = {random(), random()};
    Siphash13Eight::Words first, second, hashes;
    for (std::size_t i = 0; i < first.size(); ++i) first[i] = random(), second[i] = random();
    Siphash13Eight(key).hash(first.data(), second.data(), hashes.data());
    for (std::size_t i = 0; i < first.size(); ++i) {
      ASSERT_EQ(hashes[i], siphash13(std::array{first[i], second[i]}, key)) << i;
    }
  }
}

}  // namespace
}  // namespace millrace
