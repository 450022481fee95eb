// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <random>

#include "services/functions/acl/acl_text.hpp"
#include "services/functions/firewall/firewall_rules.hpp"
#include "tests/unit/services/functions/acl/acl_oracle.hpp"
#include "tests/unit/services/functions/acl/acl_random.hpp"

namespace millrace {
namespace {

TEST(FirewallMatch, WhatBothMatchIsWhatEachOfThemMatches) {
  std::mt19937 random(31);
  std::size_t both_match = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto rules = parse_acl_rules(random_rules(random, 2, true), "r", {}).rules;
    ASSERT_EQ(rules.size(), 2u);
    const std::optional<AclRule> both = firewall_both(rules[0].rule, rules[1].rule);
    for (int i = 0; i < 200; ++i) {
      const oracle::AclPacket packet = oracle::acl_packet(random_key(random));
      const bool expected =
          oracle::matches(rules[0].rule, packet) && oracle::matches(rules[1].rule, packet);
      ASSERT_EQ(both && oracle::matches(*both, packet), expected) << round;
      both_match += expected;
    }
  }
  EXPECT_GT(both_match, 9u);
}

TEST(FirewallMatch, AnyAsksForNothing) {
  EXPECT_TRUE(firewall_is_any(firewall_any()));
  AclRule rule = firewall_any();
  firewall_set_states("new", rule);
  EXPECT_FALSE(firewall_is_any(rule));
}

TEST(FirewallMatch, StatesThatExcludeEachOtherLeaveNothing) {
  AclRule one = firewall_any(), other = firewall_any();
  firewall_set_states("new,related", one);
  firewall_set_states("established,related", other);
  ASSERT_TRUE(firewall_both(one, other));
  AclRule related = firewall_any();
  firewall_set_states("related", related);
  EXPECT_EQ(firewall_both(one, other)->marks_mask, related.marks_mask);
  AclRule invalid = firewall_any();
  firewall_set_states("invalid", invalid);
  EXPECT_FALSE(firewall_both(one, invalid));
}

}  // namespace
}  // namespace millrace
