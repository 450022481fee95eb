// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "services/functions/ids/rules/rule_set.hpp"

namespace millrace {
namespace {

using What = FlowbitTest::What;

Signature rule_with(std::uint32_t sid, std::vector<FlowbitTest> bits,
                    RuleAction action = RuleAction::kAlert, std::uint8_t priority = 3) {
  Signature rule;
  rule.sid = sid;
  rule.flowbits = std::move(bits);
  rule.action = action;
  rule.priority = priority;
  return rule;
}
std::vector<std::uint32_t> sorted_sids(std::vector<Signature> signatures, std::size_t bits = 8) {
  RuleSet rules;
  rules.signatures = std::move(signatures);
  rules.flowbits.resize(bits);
  sort_signatures(rules);
  std::vector<std::uint32_t> sids;
  for (const Signature& rule : rules.signatures) sids.push_back(rule.sid);
  return sids;
}
using Sids = std::vector<std::uint32_t>;

TEST(RuleOrder, IsByActionPriorityAndSid) {
  EXPECT_EQ(
      sorted_sids({rule_with(4, {}), rule_with(3, {}), rule_with(9, {}, RuleAction::kAlert, 1),
                   rule_with(7, {}, RuleAction::kReject), rule_with(8, {}, RuleAction::kDrop),
                   rule_with(6, {}, RuleAction::kPass)}),
      (Sids{6, 8, 7, 9, 3, 4}));
}

TEST(RuleOrder, MayHaveItsActionsInAnyOrder) {
  RuleSet rules;
  rules.signatures = {rule_with(1, {}, RuleAction::kPass), rule_with(2, {}, RuleAction::kDrop),
                      rule_with(3, {}, RuleAction::kReject), rule_with(4, {})};
  ActionOrder actions = kActionOrder;
  std::ranges::sort(actions);
  do {
    sort_signatures(rules, actions);
    for (std::size_t at = 0; at < actions.size(); ++at) {
      ASSERT_EQ(rules.signatures[at].action, actions[at]);
    }
  } while (std::ranges::next_permutation(actions).found);
}

TEST(RuleOrder, PutsWritersOfBitsInFrontOfThoseThatAsk) {
  EXPECT_EQ(sorted_sids({rule_with(1, {}), rule_with(2, {{What::kIsSet, {2}}}),
                         rule_with(3, {{What::kIsSet, {1}}, {What::kSet, {2}}}),
                         rule_with(4, {{What::kIsNotSet, {0}}, {What::kSet, {1}}}),
                         rule_with(5, {{What::kSet, {0}}})}),
            (Sids{5, 4, 3, 2, 1}));
}

TEST(RuleOrder, OfRulesThatWaitForEachOtherIsBySid) {
  EXPECT_EQ(sorted_sids({rule_with(2, {{What::kIsSet, {0}}, {What::kSet, {1}}}),
                         rule_with(1, {{What::kIsSet, {1}}, {What::kSet, {0}}}),
                         rule_with(3, {{What::kIsNotSet, {3}}, {What::kSet, {3}}}),
                         rule_with(9, {{What::kSet, {4}}})}),
            (Sids{3, 9, 1, 2}));
}

TEST(RuleOrder, HoldsForAllPairsOfChains) {
  std::mt19937 random(3);
  for (int turn = 0; turn < 50; ++turn) {
    // Bit n is written by rules that ask for lower bits alone: there are no circles.
    std::vector<Signature> signatures;
    for (std::uint32_t sid = 1; sid <= 60; ++sid) {
      const auto bit = static_cast<std::uint16_t>(1 + random() % 29);
      std::vector<FlowbitTest> bits = {{What::kSet, {bit}}};
      bits.push_back({What::kIsSet, {static_cast<std::uint16_t>(random() % bit)}});
      signatures.push_back(rule_with(sid, bits));
    }
    RuleSet rules;
    rules.signatures = signatures;
    rules.flowbits.resize(30);
    sort_signatures(rules);
    for (std::size_t first = 0; first < rules.signatures.size(); ++first) {
      for (std::size_t next = first + 1; next < rules.signatures.size(); ++next) {
        // What stands in front asks for nothing that is written behind it.
        ASSERT_NE(rules.signatures[first].flowbits[1].bits,
                  rules.signatures[next].flowbits[0].bits);
      }
    }
  }
}

}  // namespace
}  // namespace millrace
