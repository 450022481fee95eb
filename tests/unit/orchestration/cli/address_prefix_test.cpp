// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/address_prefix.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

bool contains(const char* prefix, const char* address) {
  return AddressPrefix::parse(prefix).value().contains(address);
}

TEST(AddressPrefix, ContainsWhatBeginsAlike) {
  EXPECT_TRUE(contains("10.1.0.5", "10.1.0.5"));
  EXPECT_FALSE(contains("10.1.0.5", "10.1.0.4"));
  EXPECT_TRUE(contains("10.1.0.4/30", "10.1.0.7"));
  EXPECT_FALSE(contains("10.1.0.4/30", "10.1.0.8"));
  EXPECT_TRUE(contains("0.0.0.0/0", "255.255.255.255"));
  EXPECT_FALSE(contains("0.0.0.0/0", "::1"));
  EXPECT_TRUE(contains("2001:db8:0:8000::/49", "2001:db8:0:8001::1"));
  EXPECT_FALSE(contains("2001:db8:0:8000::/49", "2001:db8:0:7fff::1"));
  EXPECT_FALSE(contains("10.0.0.0/8", ""));
  EXPECT_FALSE(contains("10.0.0.0/8", "10.0.0.0/8"));
}

TEST(AddressPrefix, OtherTextIsNone) {
  for (const char* const text : {"", "/", "10.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1",
                                 "::/129", "10.0.0.0/8 ", "example.org", "10.0.0.0/8/8"}) {
    EXPECT_FALSE(AddressPrefix::parse(text)) << text;
  }
}

}  // namespace
}  // namespace millrace
