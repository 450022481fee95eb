// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/trouble.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(TroubleText, IsWhatWasAddedInTurn) {
  TroubleText text;
  EXPECT_TRUE(text.empty());
  text.add("%d of %s", 3, "packets");
  text.add(", %c", 'x');
  EXPECT_EQ(text.text(), "3 of packets, x");
  EXPECT_STREQ(text.c_str(), "3 of packets, x");
}

TEST(TroubleText, EndsWhereItsRoomDoes) {
  TroubleText text;
  text.add("%s", std::string(1000, 'a').c_str());
  EXPECT_EQ(text.view(), std::string(511, 'a'));
  text.add("more");
  EXPECT_EQ(text.view().size(), 511u);
}

TEST(TroubleText, HasTheEndOfALongPath) {
  TroubleText whole, cut;
  whole.add_path("/a/" + std::string(77, 'b'));
  EXPECT_EQ(whole.view(), "/a/" + std::string(77, 'b'));
  cut.add_path("/a/" + std::string(78, 'b') + "c");
  EXPECT_EQ(cut.view(), ".../" + std::string(78, 'b') + "c");
}

}  // namespace
}  // namespace millrace
