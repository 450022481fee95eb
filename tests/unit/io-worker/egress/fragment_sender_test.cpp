// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/fragment_sender.hpp"

#include <gtest/gtest.h>

#include "shared/packet/internet_checksum.hpp"
#include "tests/unit/io-worker/egress/side_fixture.hpp"

namespace millrace {
namespace {

using FragmentSenderTest = test::SideTest;

/// Makes the packet a datagram of IPv4 of so many bytes, by Ethernet.
void make_datagram(const Batch& batch, std::uint32_t packet, std::uint16_t bytes) {
  ASSERT_TRUE(batch.grow_back(packet, 14 + bytes - batch.length[packet]));
  const std::span<std::byte> frame = batch.bytes(packet);
  std::fill(frame.begin() + 14, frame.end(), std::byte{0});
  frame[14] = std::byte{0x45};
  frame[16] = std::byte(bytes >> 8);
  frame[17] = std::byte(bytes & 255);
  frame[22] = std::byte{64};
}

void split(const Batch& batch, std::uint16_t packet, std::uint32_t mtu) {
  batch.side.add({.packet = packet,
                  .kind = static_cast<std::uint8_t>(SideKind::kFragment),
                  .port = 0,
                  .argument = mtu,
                  .why = static_cast<std::uint8_t>(Reason::kFragment)});
  batch.consume(packet, Reason::kFragmented);
}

TEST_F(FragmentSenderTest, ADatagramLeavesInPiecesThatFit) {
  const Batch of = batch(1);
  make_datagram(of, 1, 1000);
  split(of, 1, 300);
  work();
  EXPECT_EQ(generated(Reason::kFragment), 4u);  // 980 bytes of data, 280 in each
  EXPECT_EQ(consumed(Reason::kFragmented), 1u);
  ASSERT_EQ(tx_[0]->frames.size(), 4u);
  std::size_t data = 0;
  for (const test::Frame& frame : tx_[0]->frames) {
    EXPECT_LE(frame.size(), 14u + 300u);
    data += frame.size() - 34;
  }
  EXPECT_EQ(data, 980u);
}

TEST_F(FragmentSenderTest, APacketOfIpv6WithAFragmentHeaderDoesLikewise) {
  const Batch of = batch(1);
  make_datagram(of, 1, 1000);
  const std::span<std::byte> ip = of.bytes(1).subspan(14);
  ip[0] = std::byte{0x60};
  ip[4] = std::byte{960 >> 8};
  ip[5] = std::byte{960 & 255};
  ip[6] = std::byte{44};
  ip[47] = std::byte{9};  // of its identification
  split(of, 1, 300);
  work();
  EXPECT_EQ(generated(Reason::kFragment), 4u);  // 952 bytes of data, 248 in each
  EXPECT_EQ(consumed(Reason::kFragmented), 1u);
  ASSERT_EQ(tx_[0]->frames.size(), 4u);
  std::size_t data = 0;
  for (const test::Frame& frame : tx_[0]->frames) {
    EXPECT_EQ(frame[14 + 6], std::byte{44});
    EXPECT_EQ(frame[14 + 47], std::byte{9});
    EXPECT_EQ(std::to_integer<std::size_t>(frame[14 + 42]) << 8 |
                  (std::to_integer<std::size_t>(frame[14 + 43]) & 0xf8),
              data);
    data += frame.size() - 62;
  }
  EXPECT_EQ(data, 952u);
}

TEST_F(FragmentSenderTest, WhatCannotBeSplitIsDropped) {
  const Batch of = batch(1);
  make_datagram(of, 1, 1000);
  of.bytes(1)[20] = std::byte{0x40};  // DF
  split(of, 1, 300);
  work();
  EXPECT_TRUE(tx_[0]->frames.empty());
  EXPECT_EQ(generated(Reason::kFragment), 1u);
  EXPECT_EQ(dropped(Reason::kOversize), 1u);
}

TEST_F(FragmentSenderTest, PiecesWithoutABufferAreDropped) {
  for (std::uint32_t i = 1; i < world_.plan.side_count; ++i) {
    world_.segment.mark(world_.plan.side_first + i) = Mark{MarkKind::kSide, 9}.word();
  }
  start();
  tx_[0]->holds = true;
  const Batch of = batch(1);
  make_datagram(of, 1, 1000);
  split(of, 1, 300);
  work();
  EXPECT_EQ(generated(Reason::kFragment), 4u);
  EXPECT_EQ(record().transmitted[0] + dropped(Reason::kNoBuffer), 4u);
  for (std::uint32_t i = 1; i < world_.plan.side_count; ++i) {
    world_.segment.mark(world_.plan.side_first + i) =
        Mark{MarkKind::kHand, context_.me.actor}.word();
  }
}

}  // namespace
}  // namespace millrace
