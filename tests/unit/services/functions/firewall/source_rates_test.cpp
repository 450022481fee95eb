// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/source_rates.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace millrace {
namespace {

using Taken = SourceRates::Taken;
constexpr std::uint64_t kSecond = 1'000'000'000;

AclRule twice_a_second() {
  AclRule rule{};
  rule.limit_interval = 500'000;
  rule.limit_burst = 2;
  return rule;
}

SourceRates::Source from(std::uint32_t host, std::uint32_t group = 0) {
  SourceRates::Source source{.group = group, .version = 4};
  std::memcpy(source.address.data(), &host, sizeof host);
  return source;
}

TEST(SourceRates, EachSourceHasItsOwn) {
  SourceRates rates(100);
  const AclRule rule = twice_a_second();
  EXPECT_EQ(rates.take(from(1), rule, kSecond), Taken::kBelow);
  EXPECT_EQ(rates.take(from(1), rule, kSecond), Taken::kBelow);
  EXPECT_EQ(rates.take(from(1), rule, kSecond), Taken::kAbove);
  EXPECT_EQ(rates.take(from(2), rule, kSecond), Taken::kBelow);
  EXPECT_EQ(rates.take(from(1, 7), rule, kSecond), Taken::kBelow) << "of another limit";
  EXPECT_EQ(rates.take(from(1), rule, kSecond + kSecond / 2), Taken::kBelow);
  EXPECT_EQ(rates.take(from(1), rule, kSecond + kSecond / 2), Taken::kAbove);
}

TEST(SourceRates, HasRoomForThemAndThenForThoseThatAreFullAgain) {
  constexpr std::uint32_t kSources = 10'000;
  SourceRates rates(kSources);
  const AclRule rule = twice_a_second();
  for (std::uint32_t host = 0; host < kSources; ++host) {
    ASSERT_EQ(rates.take(from(host), rule, kSecond), Taken::kBelow) << host;
  }
  std::uint32_t host = kSources;
  while (rates.take(from(host), rule, kSecond) == Taken::kBelow) ++host;
  EXPECT_EQ(rates.take(from(host), rule, kSecond), Taken::kNoRoom);
  EXPECT_EQ(rates.take(from(1), rule, kSecond), Taken::kBelow) << "it is known";
  EXPECT_EQ(rates.take(from(host), rule, 2 * kSecond), Taken::kBelow);
}

TEST(SourceRates, NoneHasNoRoom) {
  SourceRates rates(0);
  EXPECT_EQ(rates.take(from(1), twice_a_second(), kSecond), Taken::kNoRoom);
}

}  // namespace
}  // namespace millrace
