// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall_negation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "services/functions/acl/acl_text.hpp"
#include "services/functions/acl/acl_words.hpp"
#include "tests/unit/services/functions/acl/acl_oracle.hpp"
#include "tests/unit/services/functions/acl/acl_random.hpp"
#include "tests/unit/services/functions/firewall/firewall_asking.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

bool any_matches(const std::vector<AclRule>& rules, const oracle::AclPacket& packet) {
  return std::ranges::any_of(rules,
                             [&](const AclRule& rule) { return oracle::matches(rule, packet); });
}

TEST(FirewallNegation, IsWhatTheRestOfTheRuleMatchesAndTheRuleDoesNot) {
  constexpr std::pair<FirewallField, const char*> kFields[] = {
      {FirewallField::kSource, "source"},     {FirewallField::kDestination, "destination"},
      {FirewallField::kProtocol, "protocol"}, {FirewallField::kIcmp, "icmp"},
      {FirewallField::kState, "state"},       {FirewallField::kInput, "input"}};
  std::mt19937 random(7);
  std::size_t others = 0;
  for (int round = 0; round < 500; ++round) {
    const auto rules = parse_acl_rules(random_rules(random, 1, true), "r", {}).rules;
    ASSERT_EQ(rules.size(), 1u);
    AclRule rule = rules[0].rule;
    if (round % 2 == 1) firewall_set_states("new,related", rule);
    if (round % 3 == 1) firewall_set_inputs("wan", kTwoPorts, rule);
    for (const auto& [field, name] : kFields) {
      const std::vector<AclRule> negated = firewall_all_but(field, {rule});
      for (int i = 0; i < 50; ++i) {
        AclKey key = random_key(random);
        key.marks |= acl_swap(1u << (kAclStateShift + random() % kFlowStateCount) |
                              1u << (kAclInputShift + random() % 2));
        const oracle::AclPacket packet = oracle::acl_packet(key);
        const bool expected = oracle::matches(firewall_without(field, rule), packet) &&
                              !oracle::matches(rule, packet);
        ASSERT_EQ(any_matches(negated, packet), expected) << name << " " << round;
        others += expected;
      }
    }
  }
  EXPECT_GT(others, 99u);
}

/// The rule of a packet to each port.
std::vector<AclRule> ports(std::initializer_list<std::pair<unsigned, unsigned>> ranges) {
  std::vector<AclRule> rules;
  for (const auto& [low, high] : ranges) {
    AclRule& rule = rules.emplace_back(firewall_any());
    rule.destination_port_low = static_cast<std::uint16_t>(low);
    rule.destination_port_high = static_cast<std::uint16_t>(high);
  }
  return rules;
}

TEST(FirewallNegation, OfASetIsNoneOfItsMembers) {
  const auto others =
      firewall_all_but(FirewallField::kDestinationPort, ports({{80, 90}, {22, 22}, {85, 100}}));
  const auto matches = [&](unsigned port) {
    return any_matches(others, oracle::acl_packet(FirewallPacket{.destination_port = port}.key()));
  };
  for (const unsigned port : {0u, 21u, 23u, 79u, 101u, 65535u}) EXPECT_TRUE(matches(port)) << port;
  for (const unsigned port : {22u, 80u, 85u, 91u, 100u}) EXPECT_FALSE(matches(port)) << port;
  FirewallPacket fragment{.later_fragment = true};
  EXPECT_FALSE(any_matches(others, oracle::acl_packet(fragment.key()))) << "it has no port";
  EXPECT_TRUE(firewall_all_but(FirewallField::kDestinationPort, ports({{0, 65535}})).empty());
}

TEST(FirewallNegation, OfFlagsAreAllOtherFlags) {
  AclRule syn = firewall_any();
  syn.protocol = 6;
  syn.protocol_mask = 0xff;
  syn.flags = 0x02;
  syn.flags_mask = 0x12;
  const auto others = firewall_all_but(FirewallField::kFlags, {syn});
  for (unsigned flags = 0; flags < 256; ++flags) {
    const FirewallPacket packet{.flags = flags};
    EXPECT_EQ(any_matches(others, oracle::acl_packet(packet.key())), (flags & 0x12) != 0x02);
  }
}

TEST(FirewallNegation, OfAPrefixAreThirtyTwoAtMost) {
  AclRule host = firewall_any();
  acl_set_addresses(acl_prefix("10.0.0.1", false), {}, kAclIpv4, host);
  EXPECT_EQ(firewall_all_but(FirewallField::kSource, {host}).size(), 32u);
  EXPECT_TRUE(firewall_all_but(FirewallField::kDestination, {host}).empty()) << "any is all";
}

TEST(FirewallNegation, EachFieldOfARuleMayBeNegated) {
  AclRule rule = firewall_any();
  rule.protocol = 6;
  rule.protocol_mask = 0xff;
  acl_set_addresses(acl_prefix("10.0.0.0/8", false), {}, kAclIpv4, rule);
  rule.destination_port_low = rule.destination_port_high = 22;
  constexpr FirewallField kBoth[] = {FirewallField::kSource, FirewallField::kDestinationPort};
  const auto others = firewall_but(rule, kBoth);
  const auto matches = [&](const FirewallPacket& packet) {
    return any_matches(others, oracle::acl_packet(packet.key()));
  };
  EXPECT_TRUE(matches({.source = "11.0.0.1", .destination_port = 23}));
  EXPECT_FALSE(matches({.source = "10.0.0.1", .destination_port = 23}));
  EXPECT_FALSE(matches({.source = "11.0.0.1", .destination_port = 22}));
  EXPECT_FALSE(matches({.source = "11.0.0.1", .protocol = 17, .destination_port = 23}));
  EXPECT_EQ(firewall_but(rule, {}).size(), 1u);
  constexpr FirewallField kDestination[] = {FirewallField::kDestination};
  EXPECT_THROW(firewall_but(rule, kDestination), AclRefusal) << "all but any";
}

TEST(FirewallNegation, RefusesWhatIsTooMuch) {
  std::mt19937 random(3);
  std::vector<AclRule> hosts;
  for (std::size_t i = 0; i <= kNegatedMembersMax; ++i) {
    AclRule& host = hosts.emplace_back(firewall_any());
    host.families = kAclIpv6;
    for (std::uint8_t& byte : host.source) byte = static_cast<std::uint8_t>(random());
    host.source_length = 128;
  }
  const auto refusal = [&](std::size_t count) -> std::string {
    try {
      firewall_all_but(FirewallField::kSource, {hosts.begin(), hosts.begin() + count});
    } catch (const AclRefusal& refused) {
      return refused.reason;
    }
    return "";
  };
  EXPECT_EQ(refusal(20), "");
  EXPECT_THAT(refusal(200), HasSubstr("more than 4096 rules"));
  EXPECT_THAT(refusal(kNegatedMembersMax + 1), HasSubstr("more than 256 members"));
}

}  // namespace
}  // namespace millrace
