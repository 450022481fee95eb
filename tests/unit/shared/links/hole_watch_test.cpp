// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/links/hole_watch.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(HoleWatch, TellsSinceWhenTheOldestHoleIsThere) {
  OrderWindow window(2, 2, 16);
  HoleWatch holes(2, 2);
  std::uint64_t next[2][2] = {{1, 1}, {1, 1}};
  const auto look = [&](std::uint64_t now) {
    return holes.oldest(
        window, now, [&](std::uint32_t stream, std::uint32_t lane) { return next[stream][lane]; });
  };
  EXPECT_EQ(look(100), 0u);
  window.insert(0, 1, 1, 2, 7);  // 1 is the hole
  EXPECT_EQ(look(200), 200u);
  EXPECT_EQ(look(300), 200u);
  window.insert(1, 0, 1, 3, 8);
  EXPECT_EQ(look(400), 200u);  // the older one
  next[0][1] = 3;
  EXPECT_EQ(window.remove(0, 1, 2), 7u);
  EXPECT_EQ(look(500), 400u);
  next[1][0] = 2;  // it moved, and still waits
  EXPECT_EQ(look(600), 600u);
  EXPECT_EQ(window.remove(1, 0, 3), 8u);
  EXPECT_EQ(look(700), 0u);
  window.insert(1, 0, 2, 3, 8);  // a new hole of the same number
  EXPECT_EQ(look(800), 800u);
}

}  // namespace
}  // namespace millrace
