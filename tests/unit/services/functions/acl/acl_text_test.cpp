// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<RuleClass> kClasses = {{"voice", 4}, {"video", 16}};

AclRuleFile parse(const std::string& text) {
  return parse_acl_rules(text, "dir/a.rules", kClasses);
}

AclRule rule_of(const std::string& line) {
  const AclRuleFile file = parse(line);
  EXPECT_THAT(file.refusals, IsEmpty()) << line;
  return file.rules.empty() ? AclRule{} : file.rules[0].rule;
}

std::string refusal_of(const std::string& line) {
  const AclRuleFile file = parse(line);
  EXPECT_THAT(file.rules, IsEmpty()) << line;
  return file.refusals.empty() ? "" : file.refusals[0];
}

TEST(AclText, ReadsAWholeRule) {
  const AclRuleFile file = parse(
      "class video tcp 10.0.0.0/8 port 1024-65535 -> 192.0.2.0/24 port 80 flags S/SA name foo # x");
  ASSERT_EQ(file.rules.size(), 1u) << testing::PrintToString(file.refusals);
  const AclRule& rule = file.rules[0].rule;
  EXPECT_EQ(rule.action, static_cast<std::uint8_t>(AclAction::kClass));
  EXPECT_EQ(rule.class_mask, 16u);
  EXPECT_EQ(rule.protocol, 6);
  EXPECT_EQ(rule.protocol_mask, 0xff);
  EXPECT_EQ(rule.source[0], 10);
  EXPECT_EQ(rule.source_length, 8);
  EXPECT_EQ(rule.source_port_low, 1024);
  EXPECT_EQ(rule.source_port_high, 65535);
  EXPECT_EQ(rule.destination[2], 2);
  EXPECT_EQ(rule.destination_length, 24);
  EXPECT_EQ(rule.destination_port_low, 80);
  EXPECT_EQ(rule.destination_port_high, 80);
  EXPECT_EQ(rule.flags, 0x02);
  EXPECT_EQ(rule.flags_mask, 0x12);
  EXPECT_EQ(rule.families, kAclIpv4);
  EXPECT_EQ(file.rules[0].name, "foo");
}

TEST(AclText, ReadsActionsAndProtocols) {
  EXPECT_EQ(rule_of("drop ip any -> any").action, static_cast<std::uint8_t>(AclAction::kDrop));
  EXPECT_EQ(rule_of("reject ip any -> any").action, static_cast<std::uint8_t>(AclAction::kReject));
  EXPECT_EQ(rule_of("pass ip any -> any").action, static_cast<std::uint8_t>(AclAction::kPass));
  EXPECT_EQ(rule_of("alert ip any -> any").action, static_cast<std::uint8_t>(AclAction::kAlert));
  EXPECT_EQ(rule_of("drop any any -> any").protocol_mask, 0);
  EXPECT_EQ(rule_of("drop icmp6 any -> any").protocol, 58);
  EXPECT_EQ(rule_of("drop 89 any -> any").protocol, 89);
  EXPECT_EQ(rule_of("drop 89 any -> any").protocol_mask, 0xff);
  EXPECT_EQ(rule_of("drop 0x13/0xf0 any -> any").protocol, 0x10);
  EXPECT_EQ(rule_of("drop 0x13/0xf0 any -> any").protocol_mask, 0xf0);
}

TEST(AclText, FamiliesFollowFromAddressesAndProtocol) {
  EXPECT_EQ(rule_of("drop ip any -> any").families, kAclIpv4 | kAclIpv6);
  EXPECT_EQ(rule_of("drop ip4 any -> any").families, kAclIpv4);
  EXPECT_EQ(rule_of("drop ip6 any -> any").families, kAclIpv6);
  EXPECT_EQ(rule_of("drop tcp any -> 2001:db8::/32").families, kAclIpv6);
  EXPECT_EQ(rule_of("drop tcp 0.0.0.0/0 -> any").families, kAclIpv4);
  EXPECT_EQ(rule_of("drop tcp 1.2.3.4 -> any").source_length, 32);
  EXPECT_EQ(rule_of("drop tcp ::1 -> any").source_length, 128);
}

TEST(AclText, PortsOfBothEndsOrAny) {
  EXPECT_FALSE(acl_asks_for_ports(rule_of("drop udp any port any -> any port 0-65535")));
  EXPECT_TRUE(acl_asks_for_ports(rule_of("drop udp any -> any port 0-65534")));
  EXPECT_TRUE(acl_asks_for_ports(rule_of("drop udp any port 0 -> any")));
}

TEST(AclText, NamesAreWordsOrQuotedAndDefaultToThePlace) {
  const AclRuleFile file = parse(
      "# a comment\r\n\n  drop ip any -> any\r\n"
      "drop ip any -> any name \"two words\"\n"
      "drop ip any -> any name one#word\n");
  ASSERT_EQ(file.rules.size(), 3u) << testing::PrintToString(file.refusals);
  EXPECT_EQ(file.rules[0].name, "a.rules:3");
  EXPECT_EQ(file.rules[1].name, "two words");
  EXPECT_EQ(file.rules[2].name, "one#word");
}

TEST(AclText, TakesLinesOfClassBench) {
  const AclRule rule = rule_of(
      "@176.16.193.163/28\t179.164.131.72/29\t53 : 54\t0 : 65535\t0x11/0xFF\t0x1000/0x1000\t");
  EXPECT_EQ(rule.action, static_cast<std::uint8_t>(AclAction::kAlert));
  EXPECT_EQ(rule.source[3], 160) << "bits behind the prefix do not count";
  EXPECT_EQ(rule.source_length, 28);
  EXPECT_EQ(rule.destination_length, 29);
  EXPECT_EQ(rule.source_port_low, 53);
  EXPECT_EQ(rule.source_port_high, 54);
  EXPECT_EQ(rule.destination_port_high, 65535);
  EXPECT_EQ(rule.protocol, 17);
  EXPECT_EQ(rule.protocol_mask, 0xff);
  EXPECT_EQ(rule.flags_mask, 0) << "the last column is not looked at";
  EXPECT_EQ(rule.families, kAclIpv4);
  EXPECT_EQ(rule_of("@::1/128 ::/0 0 : 65535 0 : 65535 0x00/0x00").families, kAclIpv6);
}

TEST(AclText, RefusesWithFileLineAndReason) {
  const AclRuleFile file = parse("drop ip any -> any\nblock ip any -> any\npass ip any -> any\n");
  EXPECT_EQ(file.rules.size(), 2u);
  EXPECT_THAT(file.refusals,
              ElementsAre("dir/a.rules:2: 'block' is no action; there are drop, reject, pass,"
                          " alert, class NAME"));
}

TEST(AclText, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"drop", "a protocol is missing"},
      {"drop tpc any -> any", "'tpc' is no protocol; there are ip, ip4, ip6, icmp, tcp"},
      {"drop 256 any -> any", "'256' is no protocol number from 0 to 255"},
      {"drop ip", "a source is missing"},
      {"drop ip any any", "'->' is expected between source and destination"},
      {"drop ip any ->", "a destination is missing"},
      {"drop ip 10.0.0.1/8 -> any", "bits behind its prefix; the network is 10.0.0.0/8"},
      {"drop ip 10.0.0/8 -> any", "'10.0.0/8' is no IPv4 or IPv6 address"},
      {"drop ip 10.0.0.0/33 -> any", "'33' is no prefix length from 0 to 32"},
      {"drop ip 10.0.0.0/ -> any", "'' is no prefix length"},
      {"drop ip 10.0.0.0 -> ::1", "IPv4 and IPv6 in one rule"},
      {"drop ip6 10.0.0.0 -> any", "IPv4 and IPv6 in one rule"},
      {"drop tcp any port -> any", "a port is missing"},
      {"drop tcp any port 1- -> any", "'' is no port from 0 to 65535"},
      {"drop tcp any port 65536 -> any", "'65536' is no port"},
      {"drop tcp any port 9-8 -> any", "the first is above the last"},
      {"drop icmp any -> any port 8", "protocol 1 has no ports"},
      {"drop udp any -> any flags S/SA", "flags are TCP's"},
      {"drop tcp any -> any flags S", "SET/OF is expected"},
      {"drop tcp any -> any flags SA/S", "those in front are among those behind"},
      {"drop tcp any -> any flags X/X", "'X' are no TCP flags"},
      {"drop tcp any -> any flags S/S flags S/S", "'flags' stands twice"},
      {"drop tcp any -> any name a name b", "'name' stands twice"},
      {"drop tcp any -> any name \"a", "no closing quote"},
      {"drop tcp any -> any name \"\"", "1 to 64 printable"},
      {"drop tcp any -> any nolog",
       "'nolog' is no option; there are flags, vlan, dscp, fragment, icmp, log, name"},
      {"drop tcp any -> any log log", "'log' stands twice"},
      {"class music tcp any -> any", "none of the function's `classes:` (voice, video)"},
      {"@1.2.3.4/32 1.2.3.4/32 0 65535", "':' is expected between two ports"},
      {"@1.2.3.4/32 1.2.3.4/32 0 : 1 0 : 1 0x06/0xff 0 more", "more than a line of ClassBench"},
      {"@", "'' is no IPv4 or IPv6 address"}};
  for (const auto& [line, reason] : cases) EXPECT_THAT(refusal_of(line), HasSubstr(reason)) << line;
}

}  // namespace
}  // namespace millrace
