// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/sampler.hpp"

#include <gtest/gtest.h>

#include <array>

namespace millrace {
namespace {

TEST(Sampler, TakesAllAtFirst) {
  Sampler sampler(1);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(sampler.takes());
}

TEST(Sampler, EachPlaceOfARoundIsTakenAsOftenAsTheOthers) {
  constexpr std::uint32_t kRounds = 40'000, kPlaces = 8;
  for (const std::uint32_t each : {2u, 8u, 16u}) {
    Sampler sampler(each);
    sampler.take_one_of(each);
    std::array<double, kPlaces> taken{};
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      for (double& place : taken) place += sampler.takes() ? 1 : 0;
    }
    for (const double place : taken) EXPECT_NEAR(place, kRounds / each, 0.06 * kRounds / each);
  }
}

TEST(Sampler, TakesAllAgainWhenItIsTold) {
  Sampler sampler(7);
  sampler.take_one_of(16);
  sampler.take_one_of(1);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(sampler.takes());
}

}  // namespace
}  // namespace millrace
