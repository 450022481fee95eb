// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/functions/firewall/firewall_limit.hpp"
#include "services/functions/firewall/firewall_rules.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/services/functions/firewall/firewall_asking.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

FirewallRules parse(const std::string& text) {
  return parse_firewall_rules(text, "dir/edge.rules", kTwoPorts);
}

TEST(FirewallText, TheFirstRuleThatMatchesByStateAndPortCounts) {
  const FirewallRules rules = parse(
      "# a comment\n"
      "pass ip any -> any state established,related name known\n"
      "drop ip any -> any state invalid\n"
      "pass ip any -> any in lan name inside\n"
      "pass tcp any -> 192.0.2.0/24 port 80 in wan state new name web\r\n"
      "reject ip any -> any log\n");
  EXPECT_THAT(rules.refusals, IsEmpty());
  EXPECT_EQ(name_of_first(rules, {.state = FlowState::kEstablished, .port_in = 1}), "known");
  EXPECT_EQ(name_of_first(rules, {.state = FlowState::kRelated, .port_in = 1}), "known");
  EXPECT_EQ(name_of_first(rules, {.state = FlowState::kInvalid}), "edge.rules:3");
  EXPECT_EQ(name_of_first(rules, {.state = FlowState::kNew}), "inside");
  EXPECT_EQ(name_of_first(rules, {.state = FlowState::kNew, .port_in = 1}), "web");
  EXPECT_EQ(name_of_first(rules, {.destination_port = 81, .port_in = 1}), "edge.rules:6");
  EXPECT_EQ(rules.rules.back().rule.log, 1);
}

TEST(FirewallText, PortsAreNamedByThemselvesOrTheirInterfaces) {
  const FirewallRules rules = parse(
      "drop ip any -> any in eth2 state untracked\n"
      "pass ip any -> any in lan,wan name both\n");
  EXPECT_EQ(name_of_first(rules, {.state = FlowState::kUntracked, .port_in = 1}), "edge.rules:1");
  EXPECT_EQ(name_of_first(rules, {.port_in = 0}), "both");
  EXPECT_EQ(name_of_first(rules, {.port_in = 2}), "none") << "a port that no rule names";
}

TEST(FirewallText, LimitsHaveARateAndABurst) {
  const FirewallRules rules = parse(
      "pass icmp any -> any limit 10/second burst 3 icmp echo-request\n"
      "pass ip any -> any limit 1/minute\n");
  EXPECT_EQ(limit_interval_ns(rules.rules[0].rule), 100'000'000u);
  EXPECT_EQ(rules.rules[0].rule.limit_burst, 3u);
  EXPECT_EQ(limit_interval_ns(rules.rules[1].rule), 60'000'000'000u);
  EXPECT_EQ(rules.rules[1].rule.limit_burst, 5u);
}

TEST(FirewallText, ALimitLetsNoMoreThroughThanItSays) {
  const auto interval = [](const std::string& limit) {
    return limit_interval_ns(parse("pass ip any -> any limit " + limit + "\n").rules.at(0).rule);
  };
  EXPECT_EQ(interval("600000/second"), 1'667u);
  EXPECT_EQ(interval("1000000/second"), 1'000u);
  EXPECT_EQ(interval("7/minute"), 8'571'429'000u) << "too long for nanoseconds of 32 bits";
  EXPECT_EQ(interval("1/hour"), 3'600'000'000'000u);
}

TEST(FirewallText, LimitsMayBeOfEachSourceAndMatchWhatIsOver) {
  const FirewallRules rules = parse(
      "pass tcp any -> any limit 10/second burst 20 per source\n"
      "drop tcp any -> any limit over 1/hour per source connections over 5 per source\n"
      "pass tcp any -> any connections 7\n");
  const auto rule = [&](std::size_t i) { return rules.rules.at(i).rule; };
  EXPECT_EQ(rule(0).limits, kRuleRatePerSource | kRuleNanoseconds);
  EXPECT_EQ(rule(0).limit_burst, 20u);
  EXPECT_EQ(rule(1).limits, kRuleRateOver | kRuleRatePerSource | kRuleConnections |
                                kRuleConnectionsOver | kRuleConnectionsPerSource);
  EXPECT_EQ(rule(1).connections, 5u);
  EXPECT_EQ(rule(2).limits, kRuleConnections);
  EXPECT_EQ(rule(2).connections, 7u);
  EXPECT_NE(rule(1).connection_group, rule(2).connection_group);
  const FirewallRules later =
      parse("pass ip any -> any state established\npass tcp any -> any connections 8 log name x\n");
  EXPECT_EQ(later.rules[1].rule.connection_group, rule(2).connection_group)
      << "other lines, and another number, leave its counts to it";
  EXPECT_NE(parse("pass udp any -> any connections 8\n").rules[0].rule.connection_group,
            rule(2).connection_group);
}

TEST(FirewallText, LimitsMayBeOfEachNetwork) {
  const FirewallRules rules = parse(
      "pass tcp any -> any limit 1/second per source/24,64 connections 5 per source/20,56\n"
      "pass tcp 10.0.0.0/8 -> any limit 1/second per source/16\n"
      "pass tcp 2001:db8::/32 -> any connections 5 per source/48\n");
  EXPECT_THAT(rules.refusals, IsEmpty());
  const auto rule = [&](std::size_t i) { return rules.rules.at(i).rule; };
  EXPECT_THAT(rule(0).rate_bits, ElementsAre(24, 64));
  EXPECT_THAT(rule(0).connection_bits, ElementsAre(20, 56));
  EXPECT_THAT(rule(1).rate_bits, ElementsAre(16, 0));
  EXPECT_THAT(rule(2).connection_bits, ElementsAre(0, 48));
  for (const char* const wrong : {"source/24", "source/33,64", "source/0,0", "source/24,129",
                                  "source/,", "source/", "source24", "sources"}) {
    EXPECT_THAT(parse("pass ip any -> any limit 1/second per " + std::string(wrong)).refusals,
                ElementsAre(HasSubstr("per")))
        << wrong;
  }
  EXPECT_THAT(parse("pass ip4 any -> any connections 1 per source/24,64").refusals,
              ElementsAre(HasSubstr("each family")));
}

std::string text_error(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FirewallText, SynproxySaysWhatSendersAreTold) {
  const FirewallRules rules = parse(
      "synproxy tcp any -> any port 80 mss 1400 wscale 7 sack-perm timestamp in wan\n"
      "synproxy tcp any -> any\n");
  const AclRule& rule = rules.rules.at(0).rule;
  EXPECT_EQ(rule.action, static_cast<std::uint8_t>(AclAction::kSynproxy));
  EXPECT_EQ(rule.proxy_mss, 1400);
  EXPECT_EQ(rule.proxy, 7 | kRuleProxyScale | kRuleProxySack | kRuleProxyTimestamp);
  EXPECT_EQ(rules.rules.at(1).rule.proxy, 0);
  for (const auto& [line, why] : std::vector<std::pair<std::string, std::string>>{
           {"synproxy ip any -> any", "tcp alone"},
           {"synproxy udp any -> any", "tcp alone"},
           {"synproxy tcp any -> any flags S/SA", "flags"},
           {"synproxy tcp any -> any connections 5", "count connections"},
           {"synproxy tcp any -> any wscale 7", "need timestamp"},
           {"synproxy tcp any -> any sack-perm", "need timestamp"},
           {"synproxy tcp any -> any mss 80", "88 to 65535"},
           {"synproxy tcp any -> any wscale 15 timestamp", "wscale"},
           {"drop tcp any -> any mss 1400", "'mss' is no option"}}) {
    EXPECT_THAT(text_error(line), HasSubstr(why)) << line;
  }
}

TEST(FirewallText, AnExclamationMarkIsAllBut) {
  const FirewallRules rules = parse(
      "drop tcp !10.0.0.0/8 -> any port !20-30 in !wan state !established,related name others\n"
      "pass ip any -> any limit 1/second\n");
  const FirewallPacket other{.source = "192.0.2.7"};
  EXPECT_EQ(name_of_first(rules, other), "others");
  EXPECT_EQ(name_of_first(rules, {}), "edge.rules:2");
  FirewallPacket one = other;
  one.destination_port = 25;
  EXPECT_EQ(name_of_first(rules, one), "edge.rules:2");
  one = other;
  one.port_in = 1;
  EXPECT_EQ(name_of_first(rules, one), "edge.rules:2");
  one = other;
  one.state = FlowState::kRelated;
  EXPECT_EQ(name_of_first(rules, one), "edge.rules:2");
  const FirewallRules limited = parse("pass ip !10.0.0.0/30 -> any limit 1/second connections 3\n");
  ASSERT_EQ(limited.rules.size(), 30u);
  EXPECT_EQ(limited.rules[0].rule.limit_group, limited.rules[29].rule.limit_group);
  EXPECT_EQ(limited.rules[0].rule.connection_group, limited.rules[29].rule.connection_group);
}

TEST(FirewallText, ALineThatWouldPassPacketsIsLeftOutAndToldOf) {
  const FirewallRules rules = parse("pass ip any -> any in dmz\ndrop ip any -> any\n");
  EXPECT_THAT(rules.refusals,
              ElementsAre("dir/edge.rules:1: 'dmz' is no port; there are lan, wan"));
  EXPECT_EQ(rules.rules.size(), 1u);
}

TEST(FirewallText, AnyOtherWrongLineRefusesTheFile) {
  EXPECT_EQ(text_error("pass ip any -> any\ndrop ip any -> any in dmz\n"),
            "dir/edge.rules:2: 'dmz' is no port; there are lan, wan");
  EXPECT_THAT(text_error("deny ip any -> any"),
              HasSubstr("'deny' is no action; there are pass, drop, reject, alert"));
  EXPECT_THAT(text_error("drop ip any -> any state old"),
              HasSubstr("'old' is no state; there are"));
  EXPECT_THAT(text_error("drop ip any -> any limit 5"), HasSubstr("NUMBER/UNIT is expected"));
  EXPECT_THAT(text_error("drop ip any -> any limit 0/second"), HasSubstr("a limit is 1 to"));
  EXPECT_THAT(text_error("drop ip any -> any limit 1/second burst 0"),
              HasSubstr("a burst is 1 to"));
  EXPECT_THAT(text_error("drop ip any -> any limit 1/day"), HasSubstr("below one in 71 minutes"));
  EXPECT_THAT(text_error("drop ip any -> any limit over 1/second per port"),
              HasSubstr("per: 'source' is expected"));
  EXPECT_THAT(text_error("drop ip any -> any connections over"),
              HasSubstr("number of connections"));
  EXPECT_THAT(text_error("drop ip any -> any connections many"), HasSubstr("connections"));
  EXPECT_THAT(text_error("drop ip !any -> any"), HasSubstr("nothing could match it"));
  EXPECT_THAT(text_error("drop !tcp any -> any"), HasSubstr("'!tcp'"));
  EXPECT_THAT(text_error("drop ip any -> any classes"), HasSubstr("there are in, state, limit"));
  EXPECT_THAT(text_error("drop ip any -> any log log"), HasSubstr("'log' stands twice"));
}

}  // namespace
}  // namespace millrace
