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

TEST(Mac, IsWrittenAsItIsRead) {
  EXPECT_EQ(mac_text({0x02, 0xab, 0x00, 0xff, 0x7f, 0x01}), "02:ab:00:ff:7f:01");
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

TEST(Mac, GroupsAndZeroAreNoStations) {
  EXPECT_TRUE(is_group(kBroadcastMac));
  EXPECT_TRUE(is_group({0x33, 0x33, 0, 0, 0, 1}));
  EXPECT_FALSE(is_group({0x02, 0xff, 0xff, 0xff, 0xff, 0xff}));
  EXPECT_TRUE(is_station({0x02, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(is_station({}));
  EXPECT_FALSE(is_station(kBroadcastMac));
}

}  // namespace
}  // namespace millrace
