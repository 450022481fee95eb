// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/mac.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Mac, ReadsDigitsOfEitherCase) {
  MacAddress mac{};
  EXPECT_TRUE(parse_mac("02:aB:00:ff:7F:01", mac));
  EXPECT_EQ(mac, (MacAddress{0x02, 0xab, 0x00, 0xff, 0x7f, 0x01}));
}

TEST(Mac, RefusesWhatIsNone) {
  for (const char* text :
       {"", "02:00:00:00:00", "02:00:00:00:00:1", "02:00:00:00:00:01:", "02:00:00:00:00:0g",
        "02-00-00-00-00-01", " 2:00:00:00:00:01", "02:00:00:00:00:-1", "02:00:00:00:00:+1",
        "02:00:00:00:00:x1", "0x:00:00:00:00:01", "02:00:00:00:00 01"}) {
    MacAddress mac{};
    EXPECT_FALSE(parse_mac(text, mac)) << text;
  }
}

}  // namespace
}  // namespace millrace
