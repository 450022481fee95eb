// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall_chains.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/firewall/firewall_asking.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Verdict = FirewallLine::Verdict;

FirewallLine line(const std::string& name, Verdict verdict, const std::string& target = "") {
  return {.where = "here: " + name,
          .name = name,
          .matches = {firewall_any()},
          .verdict = verdict,
          .target = target};
}

AclRule tcp_port(unsigned port) {
  AclRule rule = firewall_any();
  rule.protocol = 6;
  rule.protocol_mask = 0xff;
  rule.destination_port_low = rule.destination_port_high = static_cast<std::uint16_t>(port);
  return rule;
}

TEST(FirewallChains, JumpsAreWrittenInPlace) {
  FirewallChains chains;
  FirewallLine jump = line("jump", Verdict::kJump, "web");
  jump.matches = {tcp_port(80), tcp_port(443)};
  FirewallLine inner = line("inner", Verdict::kPass);
  inner.matches = {tcp_port(80), tcp_port(22)};
  chains["forward"].lines = {jump, line("last", Verdict::kReject)};
  chains["web"].lines = {inner, line("count", Verdict::kGoesOn), line("back", Verdict::kReturn),
                         line("never", Verdict::kDrop)};
  FirewallRules rules;
  flatten_chain(chains, "forward", kAclIpv4, true, rules);
  ASSERT_EQ(rules.rules.size(), 3u);
  EXPECT_EQ(name_of_first(rules, {.destination_port = 80}), "inner");
  EXPECT_EQ(name_of_first(rules, {.destination_port = 22}), "last");
  EXPECT_EQ(rules.rules[2].name, "policy accept");
  EXPECT_EQ(rules.rules[2].rule.families, kAclIpv4);
}

TEST(FirewallChains, ALogOfALineThatJumpsOrReturnsIsKept) {
  FirewallChains chains;
  FirewallLine jump = line("jump", Verdict::kJump, "web"), back = line("back", Verdict::kReturn);
  jump.matches = {tcp_port(80)};
  jump.log = back.log = true;
  chains["forward"].lines = {jump};
  chains["web"].lines = {back};
  FirewallRules rules;
  flatten_chain(chains, "forward", kAclIpv4, false, rules);
  ASSERT_EQ(rules.rules.size(), 3u);
  for (const std::size_t i : {0u, 1u}) {
    EXPECT_EQ(rules.rules[i].name, i == 0 ? "jump" : "back");
    EXPECT_EQ(rules.rules[i].rule.action, static_cast<std::uint8_t>(AclAction::kAlert));
    EXPECT_EQ(rules.rules[i].rule.log, 1);
    EXPECT_EQ(rules.rules[i].rule.destination_port_low, 80);
  }
}

std::string chains_error(const FirewallChains& chains) {
  FirewallRules rules;
  try {
    flatten_chain(chains, "forward", kAclIpv4, false, rules);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FirewallChains, WhatIsNotUnderstoodNeverLetsMorePass) {
  FirewallChains chains;
  FirewallLine pass = line("pass", Verdict::kPass), drop = line("drop", Verdict::kDrop);
  pass.refusal = drop.refusal = "the moon";
  chains["forward"].lines = {pass};
  FirewallRules rules;
  flatten_chain(chains, "forward", kAclIpv4, false, rules);
  EXPECT_THAT(rules.refusals, ElementsAre("here: pass: the moon"));
  EXPECT_EQ(rules.rules.size(), 1u);
  chains["forward"].lines = {drop};
  EXPECT_THAT(chains_error(chains),
              HasSubstr("here: drop: the moon; without this rule more would"));
}

TEST(FirewallChains, MatchesOfALineShareItsLimits) {
  FirewallLine limited = line("some", Verdict::kDrop), same = line("same", Verdict::kDrop);
  limited.matches = same.matches = {tcp_port(80), tcp_port(443)};
  AclRule limits = firewall_any();
  limits.families = kAclIpv4;
  firewall_set_connections(5, kRuleConnectionsPerSource, limits);
  firewall_set_limit(1, "second", 2, 0, limits);
  firewall_limit(limits, "forward", limited);
  firewall_limit(limits, "other", same);
  const AclRule &one = limited.matches.at(0), &other = limited.matches.at(1);
  EXPECT_EQ(one.families, kAclIpv4);
  EXPECT_EQ(one.connections, 5u);
  EXPECT_EQ(one.connection_group, other.connection_group);
  EXPECT_EQ(one.limit_group, other.limit_group);
  EXPECT_NE(one.connection_group, same.matches.at(0).connection_group) << "of another chain";
  EXPECT_EQ(one.connection_group & 1, 1u);
}

TEST(FirewallChains, RefusesWhatNoListCanSay) {
  FirewallChains chains;
  chains["forward"].lines = {line("loop", Verdict::kJump, "forward")};
  EXPECT_THAT(chains_error(chains), HasSubstr("too deep"));
  chains["forward"].lines = {line("away", Verdict::kJump, "away")};
  EXPECT_THAT(chains_error(chains), HasSubstr("no chain 'away'"));
  FirewallLine back = line("back", Verdict::kReturn);
  back.matches = {tcp_port(80)};
  chains["forward"].lines = {back};
  EXPECT_THAT(chains_error(chains), HasSubstr("return under a condition"));
}

}  // namespace
}  // namespace millrace
