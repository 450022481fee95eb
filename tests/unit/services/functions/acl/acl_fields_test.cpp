// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_fields.hpp"

#include <gtest/gtest.h>

#include "services/functions/acl/acl_text.hpp"
#include "tests/unit/services/functions/acl/acl_traces.hpp"

// Whole look-ups: acl_search_test.cpp.

namespace millrace {
namespace {

AclConditionArrays conditions_of(const std::string& text) {
  const std::vector<AclRule> rules = plain_rules(parse_acl_rules(text, "r", {}).rules);
  AclFamily family{.rules = rules, .numbers = {}};
  for (std::uint32_t i = 0; i < rules.size(); ++i) family.numbers.push_back(i);
  return acl_conditions_of(family);
}

TEST(AclFields, RulesWithoutConditionsNeedNoCells) {
  EXPECT_TRUE(conditions_of("drop tcp any -> any port 80 flags S/SA\n").cells.empty());
}

TEST(AclFields, EqualCombinationsOfConditionsAreOneClass) {
  const AclConditionArrays of = conditions_of(
      "drop ip any -> any vlan 10\n"
      "drop ip any -> any dscp ef\n"
      "drop ip any -> any vlan 10 dscp ef\n");
  EXPECT_EQ(of.rules.size(), 4u) << "vlan or not, dscp or not";
  const std::vector<std::uint16_t> counts(of.cells.begin(), of.cells.begin() + kAclConditionKinds);
  EXPECT_EQ(counts, (std::vector<std::uint16_t>{2, 1, 2, 1, 1}));
  EXPECT_EQ(of.cells.size(), acl_condition_at(kAclConditionKinds) + 4);
}

TEST(AclFields, TooManyClassesAreTooLarge) {
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text += "drop icmp any -> any vlan " + std::to_string(i) + " icmp " + std::to_string(i % 256) +
            "/" + std::to_string(i / 256) + "\n";
  }
  EXPECT_THROW(conditions_of(text), AclTooLarge);
}

}  // namespace
}  // namespace millrace
