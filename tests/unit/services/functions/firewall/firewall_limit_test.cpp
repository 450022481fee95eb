// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall_limit.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

TEST(FirewallLimit, TakesABurstAndThenOneInAnInterval) {
  AclRule rule{};
  rule.limit_interval = 100'000;
  rule.limit_burst = 3;
  FirewallLimit limit;
  std::uint64_t now = 5'000 * kMillisecond;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.take(rule, now));
  EXPECT_FALSE(limit.take(rule, now));
  EXPECT_FALSE(limit.take(rule, now + 99 * kMillisecond));
  EXPECT_TRUE(limit.take(rule, now + 100 * kMillisecond));
  EXPECT_FALSE(limit.take(rule, now + 100 * kMillisecond));
  now += 10'000 * kMillisecond;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.take(rule, now)) << "a pause fills it, no more";
  EXPECT_FALSE(limit.take(rule, now));
}

}  // namespace
}  // namespace millrace
