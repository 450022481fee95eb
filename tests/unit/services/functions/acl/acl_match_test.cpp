// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_match.hpp"

#include <gtest/gtest.h>

// Whole lines and what is wrong with them: acl_text_test.cpp.

namespace millrace {
namespace {

TEST(AclMatch, ReadsWhatARuleComparesAndLeavesTheOptions) {
  AclLine line("udp 10.0.0.0/8 port 1-2 -> any port 53 dscp ef");
  AclRule rule{};
  acl_read_match(line, rule);
  EXPECT_EQ(rule.protocol, 17);
  EXPECT_EQ(rule.source_length, 8);
  EXPECT_EQ(rule.source_port_high, 2);
  EXPECT_EQ(rule.destination_port_low, 53);
  EXPECT_EQ(rule.families, kAclIpv4);
  EXPECT_FALSE(acl_has_conditions(rule));
  AclOptionNames seen;
  EXPECT_TRUE(acl_read_option(line, seen.next(line), rule));
  EXPECT_TRUE(acl_has_conditions(rule));
  EXPECT_TRUE(line.at_end());
}

TEST(AclMatch, AnOptionStandsOnce) {
  AclLine line("log log");
  AclOptionNames seen;
  EXPECT_EQ(seen.next(line), "log");
  EXPECT_THROW(seen.next(line), AclRefusal);
}

TEST(AclMatch, KnowsProtocolsByName) {
  EXPECT_EQ(acl_protocol_of("sctp"), 132);
  EXPECT_EQ(acl_protocol_of("tpc"), 0);
}

}  // namespace
}  // namespace millrace
