// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/burst_sender.hpp"

#include <gtest/gtest.h>

#include "tests/unit/io-worker/egress/side_fixture.hpp"

namespace millrace {
namespace {

using test::Ordinals;
using BurstSenderTest = test::SideTest;

constexpr std::byte kFill{0x42};

TEST_F(BurstSenderTest, MoreThanABurstForOnePortLeavesInOrder) {
  for (std::uint64_t sequence = 1; sequence <= 4; ++sequence) {
    const Batch of = batch(sequence);
    for (std::uint32_t i = 0; i + 3 < of.capacity; ++i) copy(of, 2, 1);
  }
  work();
  ASSERT_FALSE(tx_[1]->sent.empty());
  EXPECT_TRUE(std::ranges::is_sorted(tx_[1]->sent));
}

TEST_F(BurstSenderTest, AFullPortDropsFramesOfThePoolAndFreesThem) {
  tx_[0]->room = 0;
  const Batch of = batch(1);
  send(of, 0, 0, 60, kFill);
  copy(of, 1, 0);
  work();
  EXPECT_EQ(dropped(Reason::kTxFull), 2u);
  EXPECT_EQ(record().transmitted[0], 0u);
  EXPECT_EQ(record().transmitted[1], 3u);
}

TEST_F(BurstSenderTest, AFrameThatThePortCanNeverSendIsOversize) {
  tx_[0]->room = 0;
  tx_[0]->refusing = true;
  const Batch of = batch(1);
  send(of, 0, 0, 60, kFill);
  work();
  EXPECT_EQ(dropped(Reason::kOversize) + dropped(Reason::kTxFull), 1u);
}

}  // namespace
}  // namespace millrace
