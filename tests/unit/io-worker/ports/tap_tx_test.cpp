// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <linux/if_ether.h>

#include "tests/unit/io-worker/ports/super_frames.hpp"
#include "tests/unit/io-worker/ports/tap_world.hpp"

namespace millrace {
namespace {

class TapTxTest : public test::TapTest {
 protected:
  void open(std::uint32_t mtu = 1500, Settings more = {}) {
    TapTest::open(std::move(more), mtu);
    std::vector<UniqueFd> files;
    files.push_back(copy(files_[0]));
    queue_ = open_tap_tx(port_, std::move(files));
  }
  std::uint32_t send(const std::vector<std::string>& frames) {
    std::vector<TxPacket> packets;
    packets.reserve(frames.size());
    for (const std::string& bytes : frames) {
      packets.push_back({.bytes = std::as_bytes(std::span(bytes))});
    }
    return queue_->send(packets);
  }

  std::unique_ptr<TxQueue> queue_;
};

TEST_F(TapTxTest, FramesArriveInTheirOrder) {
  open(9000);
  std::vector<std::string> frames;
  frames.reserve(64);
  for (int i = 0; i < 64; ++i) frames.push_back(frame(60 + 20 * i, static_cast<char>(i)));
  EXPECT_EQ(send(frames), 64u);
  EXPECT_EQ(received(), frames);
  EXPECT_FALSE(queue_->holds_buffers());
  EXPECT_FALSE(queue_->waits_when_full());
}

TEST_F(TapTxTest, AFrameLongerThanTheMtuAllowsIsRefusedAlone) {
  open();
  EXPECT_EQ(send({frame(1514, 'a'), frame(1515, 'b'), frame(60, 'c')}), 1u);
  EXPECT_EQ(send({frame(1515, 'b'), frame(60, 'c')}), 0u);
  EXPECT_TRUE(queue_->refused());
  EXPECT_FALSE(queue_->failed());
  EXPECT_EQ(send({frame(60, 'c')}), 1u);
  EXPECT_FALSE(queue_->refused());
  EXPECT_EQ(received(), (std::vector<std::string>{frame(1514, 'a'), frame(60, 'c')}));
  // Tags come on top.
  std::string tagged = frame(1514, 'd');
  tagged.insert(12, std::string("\x81\x00\x00\x05", 4));
  EXPECT_EQ(send({tagged}), 1u);
  tagged.insert(12, std::string("\x88\xa8\x00\x06", 4));
  EXPECT_EQ(send({tagged}), 1u);
  tagged.insert(12, std::string("\x81\x00\x00\x05", 4));
  EXPECT_EQ(send({tagged}), 0u);
  EXPECT_TRUE(queue_->refused());
}

TEST_F(TapTxTest, SegmentsGoAsOneBetweenOtherFrames) {
  open(1500, {{"super_frames", "true"}});
  bind_packet_socket(host_, "mill", ETH_P_ALL);
  const test::SuperFrameText of{.payload = 5000};
  std::vector<std::string> frames = of.packets();
  frames.insert(frames.begin(), {frame(60, 'a'), frame(1514, 'b')});
  frames.insert(frames.end(), {frame(60, 'c'), frame(60, 'd')});
  received();
  EXPECT_EQ(send(frames), frames.size());
  const std::vector<std::string> came = received();
  ASSERT_EQ(came.size(), 5u);
  EXPECT_EQ(came[0], frame(60, 'a'));
  EXPECT_EQ(came[1], frame(1514, 'b'));
  EXPECT_TRUE(came[2] == of.text()) << "which they were cut from";
  EXPECT_EQ(came[3], frame(60, 'c'));
  EXPECT_EQ(came[4], frame(60, 'd'));
  EXPECT_EQ(send({frame(1515, 'b'), frame(60, 'c')}), 0u) << "alone it is refused";
  EXPECT_TRUE(queue_->refused());
}

TEST_F(TapTxTest, WhatIsNoFrameIsRefused) {
  open();
  EXPECT_EQ(send({"thirteen byte"}), 0u);
  EXPECT_TRUE(queue_->refused());
  EXPECT_FALSE(queue_->failed());
}

TEST_F(TapTxTest, ItFailsWhileTheInterfaceIsDown) {
  open();
  shell("ip link set mill down");
  EXPECT_EQ(send({frame(60, 'a')}), 0u);
  EXPECT_TRUE(queue_->failed());
  EXPECT_FALSE(queue_->refused());
  shell("ip link set mill up");
  EXPECT_EQ(send({frame(60, 'b')}), 1u);
  EXPECT_FALSE(queue_->failed());
  shell("ip link del mill");
  EXPECT_EQ(send({frame(60, 'c')}), 0u);
  EXPECT_TRUE(queue_->failed());
}

TEST_F(TapTxTest, ItIsFullWhenSomebodyBehindItTakesNothing) {
  open();
  // A bridge to a cable on which next to nothing goes out.
  shell("ip link add name bridge0 type bridge && ip link set bridge0 up");
  shell("ip link set mill master bridge0 && ip link set here master bridge0");
  shell("tc qdisc add dev here root tbf rate 8bit burst 2000 limit 100mb");
  const std::string packet = frame(1514, 'x');
  std::size_t sent = 0;
  while (sent < 100'000 && send({packet}) == 1) ++sent;
  EXPECT_LT(sent, 2000u) << "some megabytes wait";
  EXPECT_GT(sent, 300u);
  EXPECT_FALSE(queue_->failed()) << "that is tx_full: it may end soon";
  EXPECT_FALSE(queue_->refused());
  shell("tc qdisc del dev here root");
  EXPECT_EQ(send({packet}), 1u);
}

}  // namespace
}  // namespace millrace
