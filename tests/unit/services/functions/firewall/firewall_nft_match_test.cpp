// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall_nft_match.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "services/functions/acl/acl_words.hpp"
#include "tests/unit/services/functions/firewall/firewall_asking.hpp"

// Whole rulesets: firewall_nft_test.cpp.

namespace millrace {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

std::vector<AclRule> matches(const std::string& left, const std::string& right) {
  return nft_matches(Json::parse(left), Json::parse(right), kTwoPorts);
}

TEST(FirewallNftMatch, ASetIsAnyOfItsMembers) {
  const auto rules = matches(R"({"payload": {"protocol": "udp", "field": "sport"}})",
                             R"({"set": [53, {"range": [100, 200]}]})");
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].protocol, 17);
  EXPECT_EQ(rules[0].source_port_low, 53);
  EXPECT_EQ(rules[1].source_port_high, 200);
}

TEST(FirewallNftMatch, NamesOfInterfacesMayEndOpen) {
  const auto rules = matches(R"({"meta": {"key": "iifname"}})", R"("eth*")");
  AclRule both = firewall_any();
  firewall_set_inputs("lan,wan", kTwoPorts, both);
  EXPECT_EQ(rules[0].marks_mask, both.marks_mask);
}

std::string refusal(const std::string& left, const std::string& right) {
  try {
    matches(left, right);
  } catch (const AclRefusal& refusal) {
    return refusal.reason;
  }
  return "";
}

TEST(FirewallNftMatch, NegatesWhatHasAComplement) {
  const auto others = [](const std::string& left, const std::string& right) {
    return nft_all_but(Json::parse(left), Json::parse(right), kTwoPorts).size();
  };
  EXPECT_EQ(others(R"({"payload": {"protocol": "tcp", "field": "sport"}})", "22"), 2u);
  EXPECT_EQ(others(R"({"payload": {"protocol": "ip", "field": "daddr"}})", R"("10.0.0.1")"), 32u);
  EXPECT_EQ(others(R"({"payload": {"protocol": "icmp", "field": "type"}})", R"("echo-request")"),
            2u);
  EXPECT_EQ(others(R"({"meta": {"key": "l4proto"}})", R"("tcp")"), 8u);
  EXPECT_EQ(others(R"({"meta": {"key": "iif"}})", R"("lan")"), 1u);
  EXPECT_EQ(others(R"({"&": [{"payload": {"protocol": "tcp", "field": "flags"}}, ["syn", "ack"]]})",
                   R"("syn")"),
            2u);
  EXPECT_THROW(others(R"({"payload": {"protocol": "ip", "field": "dscp"}})", "8"), AclRefusal);
  EXPECT_THROW(others(R"({"payload": {"protocol": "th", "field": "dport"}})", "80"), AclRefusal)
      << "protocols without ports";
  EXPECT_THROW(others(R"({"payload": {"protocol": "ip6", "field": "nexthdr"}})", R"("tcp")"),
               AclRefusal)
      << "extension headers";
  EXPECT_THROW(others(R"({"meta": {"key": "oifname"}})", R"("wan")"), AclRefusal);
}

TEST(FirewallNftMatch, SaysWhatItDoesNotUnderstand) {
  const char* const source = R"({"payload": {"protocol": "ip", "field": "saddr"}})";
  EXPECT_EQ(refusal(source, R"("@bad")"), "compares with the named set @bad");
  EXPECT_EQ(refusal(source, R"({"range": ["10.0.0.1", "10.0.0.9"]})"), "compares with 'range'");
  EXPECT_THAT(refusal(source, R"("::1")"), HasSubstr("no address of its family"));
  EXPECT_EQ(refusal(R"({"meta": {"key": "oifname"}})", R"("wan")"),
            "compares 'meta oifname': route, behind this, chooses the way out");
  EXPECT_EQ(refusal(R"({"rt": {"key": "mtu"}})", "7"), "compares 'rt'");
  EXPECT_EQ(refusal(R"({"payload": {"protocol": "ip", "field": "ttl"}})", "7"),
            "compares 'ip ttl'");
  EXPECT_EQ(refusal(R"({"payload": {"protocol": "ip6", "field": "nexthdr"}})", "44"),
            "compares with an extension header of IPv6");
  EXPECT_THAT(refusal(R"({"meta": {"key": "iifname"}})", R"("*")"), HasSubstr("with '*'"));
  EXPECT_THAT(refusal(R"({"payload": {"protocol": "icmp", "field": "type"}})", R"("info-reply")"),
              HasSubstr("is no type of ICMP"));
}

}  // namespace
}  // namespace millrace
