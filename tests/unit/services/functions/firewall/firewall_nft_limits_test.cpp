// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall_nft_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "services/functions/acl/acl_words.hpp"
#include "services/functions/firewall/firewall_limit.hpp"

// Whole rulesets: firewall_nft_test.cpp. The texts are those of nft 1.0.6.

namespace millrace {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

AclRule limits_of(const std::string& text, AclRule limits = firewall_any()) {
  const Json expression = Json::parse(text);
  EXPECT_TRUE(nft_is_limit(expression));
  nft_read_limit(expression, "inet t ", limits);
  return limits;
}

std::string of_source(const std::string& statement, const std::string& family = "ip",
                      const std::string& op = "add") {
  return R"({"set": {"op": ")" + op + R"(", "elem": {"payload": {"protocol": ")" + family +
         R"(", "field": "saddr"}}, "set": "@s", "stmt": [)" + statement + "]}}";
}

constexpr char kRateOver[] =
    R"({"limit": {"rate": 10, "burst": 20, "per": "second", "inv": true}})";
constexpr char kCountOver[] = R"({"ct count": {"val": 5, "inv": true}})";

TEST(FirewallNftLimits, OfTheRule) {
  const AclRule rate = limits_of(kRateOver);
  EXPECT_EQ(rate.limits, kRuleRateOver | kRuleNanoseconds);
  EXPECT_EQ(limit_interval_ns(rate), 100'000'000u);
  EXPECT_EQ(rate.limit_burst, 20u);
  const AclRule count = limits_of(kCountOver);
  EXPECT_EQ(count.limits, kRuleConnections | kRuleConnectionsOver);
  EXPECT_EQ(count.connections, 5u);
  EXPECT_EQ(limits_of(R"({"ct count": {"val": 3}})").limits, kRuleConnections);
}

TEST(FirewallNftLimits, OfEachSource) {
  const AclRule rate = limits_of(of_source(kRateOver, "ip6", "update"));
  EXPECT_EQ(rate.limits, kRuleRateOver | kRuleRatePerSource | kRuleNanoseconds);
  EXPECT_EQ(rate.families, kAclIpv6);
  const AclRule count = limits_of(of_source(kCountOver));
  EXPECT_EQ(count.limits, kRuleConnections | kRuleConnectionsOver | kRuleConnectionsPerSource);
  EXPECT_EQ(count.families, kAclIpv4);
  EXPECT_EQ(count.connection_group & 1, 1u);
  const AclRule meter = limits_of(R"({"meter": {"key": {"payload": {"protocol": "ip",
      "field": "saddr"}}, "stmt": {"limit": {"rate": 4, "burst": 5, "per": "second",
      "inv": true}}, "size": 65535, "name": "m1"}})");
  EXPECT_EQ(meter.limits, kRuleRateOver | kRuleRatePerSource | kRuleNanoseconds);
  EXPECT_NE(meter.limit_group, rate.limit_group);
}

std::string masked(const std::string& mask) {
  return R"({"set": {"op": "add", "elem": {"&": [{"payload": {"protocol": "ip", "field": "saddr"}},
      ")" +
         mask + R"("]}, "set": "@s", "stmt": [)" + kRateOver + "]}}";
}

TEST(FirewallNftLimits, OfEachNetwork) {
  EXPECT_EQ(limits_of(masked("255.255.255.0")).rate_bits[0], 24);
  EXPECT_EQ(limits_of(masked("255.255.255.255")).rate_bits[0], 0) << "all of it";
  EXPECT_EQ(limits_of(masked("ffff:ffff:ffff:ff00::")).rate_bits[1], 56);
}

TEST(FirewallNftLimits, WithAnotherMaskASetCountsApart) {
  const auto group = [](const std::string& mask) {
    std::string text = masked(mask);
    const std::string rate = kRateOver;
    text.replace(text.find(rate), rate.size(), kCountOver);
    return limits_of(text).connection_group;
  };
  EXPECT_EQ(group("255.255.255.0"), group("255.255.255.0"));
  EXPECT_NE(group("255.255.255.0"), group("255.255.0.0"));
  EXPECT_EQ(group("255.255.0.0") & 1, 1u);
}

std::string refusal(const std::string& text, AclRule limits = firewall_any()) {
  try {
    limits_of(text, limits);
  } catch (const AclRefusal& refusal) {
    return refusal.reason;
  }
  return "";
}

TEST(FirewallNftLimits, SaysWhatItDoesNotUnderstand) {
  EXPECT_EQ(refusal(kRateOver, limits_of(kRateOver)), "two limits");
  EXPECT_EQ(refusal(of_source(kCountOver), limits_of(kCountOver)), "two limits of connections");
  EXPECT_EQ(refusal(R"({"limit": {"rate": 1, "per": "second", "rate_unit": "kbytes"}})"),
            "a limit of bytes");
  EXPECT_THAT(refusal(R"({"limit": {"rate": 1, "burst": 5, "per": "day"}})"),
              HasSubstr("71 minutes"));
  EXPECT_EQ(refusal(of_source(R"({"counter": null})")), "'counter' for each source");
  EXPECT_EQ(refusal(of_source(std::string(kCountOver) + ", " + kRateOver)),
            "several for each source");
  EXPECT_EQ(refusal(of_source(kCountOver, "ip", "delete")), "set by 'delete'");
  EXPECT_EQ(refusal(of_source(kCountOver, "tcp")), "counts for each of what is no source address");
  EXPECT_EQ(refusal(R"({"set": {"op": "add", "elem": "x", "set": "@s"}})"),
            "a set without a limit");
  EXPECT_THAT(refusal(R"({"limit": {"rate": 4294967297, "per": "second"}})"),
              HasSubstr("1 to 1000000 a second"));
  EXPECT_EQ(refusal(R"({"ct count": {"val": 4294967297}})"), "the number 4294967297");
  EXPECT_THAT(refusal(masked("255.0.255.0")), HasSubstr("of no network"));
  EXPECT_THAT(refusal(masked("0.0.0.0")), HasSubstr("leaves nothing"));
}

}  // namespace
}  // namespace millrace
