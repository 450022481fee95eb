// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/tick.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace millrace {
namespace {

constexpr MacAddress kMac = {2, 0, 0, 0, 0, 7};

class TickTest : public ::testing::Test {
 protected:
  TickTest() { write_tick(frame_, kMac, {.number = 3, .time_ns = 2'000, .since_ns = 1'000}); }
  std::array<std::byte, kTickFrameBytes + 4> frame_{};
};

TEST_F(TickTest, SaysWhatWasWritten) {
  ASSERT_TRUE(is_tick(frame_));
  EXPECT_EQ(read_tick(frame_), (Tick{.number = 3, .time_ns = 2'000, .since_ns = 1'000}));
}

TEST_F(TickTest, IsAFrameOfTheExperimentalTypeFromAPortToItself) {
  EXPECT_EQ(frame_[12], std::byte{0x88});
  EXPECT_EQ(frame_[13], std::byte{0xb5});
  for (const std::size_t at : {0u, 6u}) {
    EXPECT_EQ(frame_[at], std::byte{2});
    EXPECT_EQ(frame_[at + 5], std::byte{7});
  }
}

TEST_F(TickTest, NoOtherFrameIsOne) {
  EXPECT_FALSE(is_tick({}));
  EXPECT_FALSE(is_tick(std::span(frame_).first(kTickFrameBytes - 1)));
  EXPECT_TRUE(is_tick(std::span(frame_).first(kTickFrameBytes)));
  for (std::size_t at = 12; at < kTickMagicAt + sizeof kTickMagic; ++at) {
    auto other = frame_;
    other[at] ^= std::byte{1};
    EXPECT_FALSE(is_tick(other)) << at;
  }
}

TEST_F(TickTest, SpeaksForTheTimeSinceTheOneBefore) {
  const Tick tick = read_tick(frame_);
  EXPECT_FALSE(tick.covers(1'000)) << "the one before does";
  EXPECT_TRUE(tick.covers(1'001));
  EXPECT_TRUE(tick.covers(2'000));
  EXPECT_FALSE(tick.covers(2'001));
}

}  // namespace
}  // namespace millrace
