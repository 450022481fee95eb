// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_conditions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace {
namespace {

using testing::HasSubstr;

AclRule with(const std::string& option, const std::string& value, std::uint8_t protocol = 1) {
  AclRule rule{};
  rule.protocol = protocol;
  rule.protocol_mask = 0xff;
  AclLine line(value);
  EXPECT_TRUE(acl_read_condition(line, option, rule)) << option;
  EXPECT_TRUE(line.at_end());
  EXPECT_TRUE(acl_has_conditions(rule));
  return rule;
}

TEST(AclConditions, OfTheOuterTag) {
  const AclRule one = with("vlan", "100"), range = with("vlan", "0-4095"),
                none = with("vlan", "none");
  EXPECT_EQ(one.vlan_low, 100);
  EXPECT_EQ(one.vlan_high, 100);
  EXPECT_EQ(range.vlan_low, 0);
  EXPECT_EQ(range.vlan_high, 4095);
  EXPECT_EQ(none.vlan_low, kAclNoTag);
  EXPECT_EQ(none.vlan_high, kAclNoTag);
}

TEST(AclConditions, OfTheDscp) {
  for (const auto& [name, value] : {std::pair{"cs0", 0u},
                                    {"cs7", 56u},
                                    {"af11", 10u},
                                    {"af43", 38u},
                                    {"ef", 46u},
                                    {"63", 63u},
                                    {"0x2e", 46u}}) {
    const AclRule rule = with("dscp", name);
    EXPECT_EQ(rule.marks, value) << name;
    EXPECT_EQ(rule.marks_mask, kAclDscpBits) << name;
  }
}

TEST(AclConditions, OfFragments) {
  EXPECT_EQ(with("fragment", "no").marks_mask, kAclFirstFragment | kAclLaterFragment);
  EXPECT_EQ(with("fragment", "first").marks_mask, kAclWhole | kAclLaterFragment);
  EXPECT_EQ(with("fragment", "later").marks_mask, kAclWhole | kAclFirstFragment);
  EXPECT_EQ(with("fragment", "any").marks_mask, kAclWhole);
}

TEST(AclConditions, OfIcmpByNameOfEitherFamily) {
  const AclRule any_code = with("icmp", "unreachable"), one = with("icmp", "unreachable/4");
  EXPECT_EQ(any_code.icmp_low, 0x0300);
  EXPECT_EQ(any_code.icmp_high, 0x03ff);
  EXPECT_EQ(one.icmp_low, 0x0304);
  EXPECT_EQ(one.icmp_high, 0x0304);
  EXPECT_EQ(one.marks_mask, kAclNoIcmp);
  EXPECT_EQ(with("icmp", "echo-request").icmp_low, 0x0800);
  EXPECT_EQ(with("icmp", "echo-request", 58).icmp_low, 0x8000);
  EXPECT_EQ(with("icmp", "255/255").icmp_high, 0xffff);
}

std::string refusal(const std::string& option, const std::string& value,
                    std::uint8_t protocol = 6) {
  AclRule rule{};
  rule.protocol = protocol;
  rule.protocol_mask = 0xff;
  AclLine line(value);
  try {
    acl_read_condition(line, option, rule);
  } catch (const AclRefusal& refusal) {
    return refusal.reason;
  }
  return "";
}

TEST(AclConditions, SayWhatIsWrong) {
  EXPECT_EQ(refusal("vlan", "4096"), "'4096' is no VLAN number from 0 to 4095");
  EXPECT_EQ(refusal("vlan", "9-8"), "vlan '9-8': the first is above the last");
  EXPECT_EQ(refusal("vlan", ""), "the number of a VLAN is missing");
  EXPECT_EQ(refusal("dscp", "64"), "'64' is no DSCP from 0 to 63");
  EXPECT_THAT(refusal("dscp", "af44"), HasSubstr("'af44' is no DSCP; there are cs0, cs1"));
  EXPECT_EQ(refusal("fragment", "second"), "fragment 'second': there are first, later, any, no");
  EXPECT_EQ(refusal("icmp", "8"), "types are ICMP's: the protocol has to be icmp or icmp6");
  EXPECT_THAT(refusal("icmp", "packet-too-big", 1), HasSubstr("is no type of ICMP; there are"));
  EXPECT_EQ(refusal("icmp", "256", 1), "'256' is no type of ICMP from 0 to 255");
  EXPECT_EQ(refusal("icmp", "3/", 1), "'' is no code of ICMP from 0 to 255");
  AclLine line("x");
  AclRule rule{};
  EXPECT_FALSE(acl_read_condition(line, "flags", rule));
}

}  // namespace
}  // namespace millrace
