// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall_iptables_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

#include "services/functions/acl/acl_words.hpp"
#include "services/functions/firewall/firewall_limit.hpp"

// Whole lines: firewall_iptables_test.cpp.

namespace millrace {
namespace {

using testing::HasSubstr;
using Options = std::initializer_list<std::pair<std::string, std::string>>;

/// What they say, or why they are refused.
std::pair<AclRule, std::string> read(const Options& options, std::uint8_t family = kAclIpv4) {
  IptablesLimits limits(family);
  try {
    for (const auto& [option, value] : options) {
      const bool known = option == "-m" ? limits.note_match(value) : limits.read(option, value);
      if (!known) return {{}, "unknown " + option};
    }
    return {limits.read_all(), ""};
  } catch (const AclRefusal& refusal) {
    return {{}, refusal.reason};
  }
}

TEST(IptablesLimits, HashlimitIsARateOfEachSource) {
  const auto [rule, refusal] = read({{"-m", "hashlimit"},
                                     {"--hashlimit-above", "10/sec"},
                                     {"--hashlimit-burst", "20"},
                                     {"--hashlimit-mode", "srcip"},
                                     {"--hashlimit-name", "ssh"},
                                     {"--hashlimit-htable-expire", "9000"}});
  EXPECT_EQ(refusal, "");
  EXPECT_EQ(rule.limits, kRuleRateOver | kRuleRatePerSource | kRuleNanoseconds);
  EXPECT_EQ(limit_interval_ns(rule), 100'000'000u);
  EXPECT_EQ(rule.limit_burst, 20u);
  EXPECT_EQ(rule.families, kAclIpv4);
  const auto other = read({{"-m", "hashlimit"},
                           {"--hashlimit-upto", "1/min"},
                           {"--hashlimit-mode", "srcip"},
                           {"--hashlimit-name", "ssh"}})
                         .first;
  EXPECT_EQ(other.limits & ~kRuleNanoseconds, kRuleRatePerSource);
  EXPECT_EQ(other.limit_group, rule.limit_group) << "the table of that name";
}

TEST(IptablesLimits, ConnlimitCountsConnections) {
  const AclRule rule =
      read({{"-m", "connlimit"}, {"--connlimit-above", "2"}, {"--connlimit-mask", "32"}}).first;
  EXPECT_EQ(rule.limits, kRuleConnections | kRuleConnectionsOver | kRuleConnectionsPerSource);
  EXPECT_EQ(rule.connections, 2u);
  EXPECT_EQ(read({{"-m", "connlimit"}, {"--connlimit-upto", "9"}, {"--connlimit-mask", "0"}})
                .first.limits,
            kRuleConnections);
  EXPECT_EQ(
      read({{"-m", "connlimit"}, {"--connlimit-above", "0"}, {"--connlimit-mask", "128"}}, kAclIpv6)
          .second,
      "");
}

TEST(IptablesLimits, MasksMakeNetworksSources) {
  const auto both = [](std::uint8_t family, const std::string& mask) {
    return read({{"-m", "connlimit"},
                 {"--connlimit-above", "2"},
                 {"--connlimit-mask", mask},
                 {"-m", "hashlimit"},
                 {"--hashlimit-upto", "1/min"},
                 {"--hashlimit-mode", "srcip"},
                 {"--hashlimit-srcmask", mask}},
                family)
        .first;
  };
  const AclRule of_ipv4 = both(kAclIpv4, "24"), of_ipv6 = both(kAclIpv6, "64");
  EXPECT_EQ(of_ipv4.rate_bits[0], 24);
  EXPECT_EQ(of_ipv4.connection_bits[0], 24);
  EXPECT_EQ(of_ipv4.rate_bits[1] | of_ipv4.connection_bits[1], 0);
  EXPECT_EQ(of_ipv6.rate_bits[1], 64);
  EXPECT_EQ(of_ipv6.connection_bits[1], 64);
  EXPECT_EQ(both(kAclIpv4, "32").rate_bits[0], 0) << "all of it";
}

TEST(IptablesLimits, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(read({{"-m", "limit"}, {"-m", "hashlimit"}}).second, "two limits");
  EXPECT_EQ(read({{"-m", "connlimit"}, {"-m", "connlimit"}}).second, "two limits of connections");
  EXPECT_EQ(read({{"-m", "connlimit"}}).second, "-m connlimit without a number");
  EXPECT_EQ(read({{"-m", "connlimit"}, {"--connlimit-daddr", ""}}).second,
            "unknown --connlimit-daddr");
  EXPECT_THAT(read({{"-m", "hashlimit"},
                    {"--hashlimit-upto", "1/sec"},
                    {"--hashlimit-mode", "srcip,dstport"}})
                  .second,
              HasSubstr("--hashlimit-mode 'srcip,dstport'"));
  EXPECT_THAT(read({{"-m", "hashlimit"}, {"--hashlimit-mode", "srcip"}}).second,
              HasSubstr("--hashlimit ''"));
  EXPECT_THAT(read({{"-m", "hashlimit"}, {"--hashlimit-srcmask", "0"}}).second,
              HasSubstr("srcmask 0"));
  EXPECT_THAT(read({{"-m", "hashlimit"}, {"--hashlimit-srcmask", "33"}}).second, HasSubstr("mask"));
  EXPECT_THAT(
      read({{"-m", "hashlimit"}, {"--hashlimit-upto", "512kb/s"}, {"--hashlimit-mode", "srcip"}})
          .second,
      HasSubstr("'512kb/s'"));
  EXPECT_EQ(read({{"--limit", "1/sec"}}).second, "unknown --limit") << "without its -m";
}

}  // namespace
}  // namespace millrace
