// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_words.hpp"

#include <gtest/gtest.h>

#include <string>

// What lines are made of: acl_text_test.cpp.

namespace millrace {
namespace {

TEST(AclWords, StandBetweenBlanksUpToAComment) {
  AclLine line("  one\ttwo#2 # three");
  EXPECT_FALSE(line.take("on"));
  EXPECT_TRUE(line.take("one"));
  EXPECT_EQ(line.word("a word"), "two#2");
  EXPECT_TRUE(line.at_end());
  EXPECT_THROW(line.word("a word"), AclRefusal);
}

TEST(AclWords, NumbersAreDecimalOrHexAndWhole) {
  EXPECT_EQ(acl_number("255", 255, "number"), 255u);
  EXPECT_EQ(acl_number("0xfF", 255, "number"), 255u);
  for (const char* wrong : {"", "0x", "256", "-1", "1a", "99999999999", " 1"}) {
    EXPECT_THROW(acl_number(wrong, 255, "number"), AclRefusal) << wrong;
  }
}

TEST(AclWords, AnAddressWithAZeroByteIsNone) {
  EXPECT_THROW(acl_prefix(std::string("1.2.3.4\0x", 9), false), AclRefusal);
}

TEST(AclWords, HostBitsAreRefusedOrCut) {
  EXPECT_THROW(acl_prefix("2001:db8::1/64", false), AclRefusal);
  EXPECT_EQ(acl_prefix("2001:db8::1/64", true).bytes[15], 0);
  EXPECT_EQ(acl_prefix("2001:db8::1/128", false).bytes[15], 1);
  EXPECT_EQ(acl_prefix("255.255.255.255/25", true).bytes[3], 128);
  EXPECT_EQ(acl_prefix("0.0.0.0/0", false).length, 0);
}

}  // namespace
}  // namespace millrace
