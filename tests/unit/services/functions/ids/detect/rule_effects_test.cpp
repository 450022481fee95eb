// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/rule_effects.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/detect/memory_by_hand.hpp"
#include "tests/unit/services/functions/ids/detect/rule_by_hand.hpp"

namespace millrace {
namespace {

using by_hand::Memory, by_hand::Rule;
using What = FlowbitTest::What;

Signature with_bits(What what, std::vector<std::uint16_t> bits) {
  Signature signature = Rule(RuleProtocol::kTcp);
  signature.flowbits.push_back({what, std::move(bits)});
  return signature;
}

TEST(RuleEffects, BitsAreAskedFor) {
  Memory memory;
  memory.bits = {4};
  EXPECT_TRUE(flowbits_pass(with_bits(What::kIsSet, {4}), true, memory));
  EXPECT_TRUE(flowbits_pass(with_bits(What::kIsSet, {3, 4}), true, memory)) << "any of them";
  EXPECT_FALSE(flowbits_pass(with_bits(What::kIsSet, {3}), true, memory));
  EXPECT_TRUE(flowbits_pass(with_bits(What::kIsNotSet, {3}), true, memory));
  EXPECT_FALSE(flowbits_pass(with_bits(What::kIsNotSet, {4}), true, memory));
  EXPECT_TRUE(flowbits_pass(with_bits(What::kSet, {3}), true, memory));
  Signature both = with_bits(What::kIsSet, {4});
  both.flowbits.push_back({What::kIsNotSet, {4}});
  EXPECT_FALSE(flowbits_pass(both, true, memory));
}

TEST(RuleEffects, WithoutAFlowNoBitPasses) {
  const Memory memory;
  EXPECT_FALSE(flowbits_pass(with_bits(What::kIsNotSet, {3}), false, memory));
  EXPECT_FALSE(flowbits_pass(with_bits(What::kIsSet, {3}), false, memory));
  EXPECT_TRUE(flowbits_pass(with_bits(What::kSet, {3}), false, memory));
  EXPECT_TRUE(asks_for_flowbits(with_bits(What::kIsNotSet, {3})));
  EXPECT_TRUE(asks_for_flowbits(with_bits(What::kIsSet, {3})));
  EXPECT_FALSE(asks_for_flowbits(with_bits(What::kToggle, {3})));
}

TEST(RuleEffects, BitsAreChangedBySomeRules) {
  for (const What what : {What::kSet, What::kUnset, What::kToggle}) {
    EXPECT_TRUE(changes_flowbits(with_bits(what, {3})));
  }
  EXPECT_FALSE(changes_flowbits(with_bits(What::kIsSet, {3})));
  EXPECT_FALSE(changes_flowbits(with_bits(What::kIsNotSet, {3})));
  EXPECT_FALSE(changes_flowbits(Rule(RuleProtocol::kTcp)));
}

TEST(RuleEffects, AMatchChangesBits) {
  Memory memory;
  EXPECT_TRUE(take_effect(with_bits(What::kSet, {1}), 0, memory));
  take_effect(with_bits(What::kToggle, {1}), 0, memory);
  take_effect(with_bits(What::kToggle, {2}), 0, memory);
  take_effect(with_bits(What::kIsSet, {3}), 0, memory);
  EXPECT_EQ(memory.bits, (std::set<std::uint16_t>{2}));
  take_effect(with_bits(What::kUnset, {2}), 0, memory);
  EXPECT_TRUE(memory.bits.empty());
}

Signature with_host_bit(What what) {
  Signature signature = Rule(RuleProtocol::kTcp);
  signature.flowbits.push_back({what, {1}, HostBit{.name = 77}});
  return signature;
}

TEST(RuleEffects, BitsOfHostsNeedNoFlow) {
  Memory memory;
  EXPECT_FALSE(flowbits_pass(with_host_bit(What::kIsSet), false, memory));
  EXPECT_TRUE(flowbits_pass(with_host_bit(What::kIsNotSet), false, memory));
  take_effect(with_host_bit(What::kSet), 0, memory);
  EXPECT_EQ(memory.hosts, (std::set<std::uint64_t>{77}));
  EXPECT_TRUE(memory.bits.empty());
  EXPECT_TRUE(flowbits_pass(with_host_bit(What::kIsSet), false, memory));
  take_effect(with_host_bit(What::kToggle), 0, memory);
  EXPECT_TRUE(memory.hosts.empty());
  take_effect(with_host_bit(What::kToggle), 0, memory);
  take_effect(with_host_bit(What::kUnset), 0, memory);
  EXPECT_TRUE(memory.hosts.empty());
}

TEST(RuleEffects, AFilterHoldsTheMatchBackAndNotItsBits) {
  Memory memory;
  memory.lets_pass = 2;
  Signature filtered = with_bits(What::kSet, {1});
  filtered.detection_filter = Threshold{.kind = Threshold::Kind::kDetectionFilter, .count = 1};
  EXPECT_FALSE(take_effect(filtered, 9, memory));
  EXPECT_EQ(memory.bits, (std::set<std::uint16_t>{1}));
  EXPECT_TRUE(take_effect(filtered, 9, memory));
  EXPECT_EQ(memory.counted, (std::vector<std::pair<std::uint32_t, std::uint8_t>>{{9, 1}, {9, 1}}));
}

}  // namespace
}  // namespace millrace
