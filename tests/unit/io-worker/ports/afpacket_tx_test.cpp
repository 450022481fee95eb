// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <linux/if_ether.h>
#include <poll.h>
#include <sys/socket.h>

#include "io-worker/ports/afpacket.hpp"
#include "tests/unit/io-worker/ports/super_frames.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

class AfpacketTxTest : public test::VethTest {
 protected:
  void SetUp() override {
    VethTest::SetUp();
    if (IsSkipped()) return;
    queue_ = open_tx_queue(test::make_port("afpacket", {{"interface", "here"}}), 0, false);
    receiver_ = open_packet_socket();
    bind_packet_socket(receiver_, "there", 0x88b5);
  }
  static std::string frame(std::size_t bytes, char fill) {
    return std::string(12, fill) + "\x88\xb5" + std::string(bytes - 14, fill);
  }
  std::uint32_t send(const std::vector<std::string>& frames) {
    std::vector<TxPacket> packets;
    packets.reserve(frames.size());
    for (const std::string& bytes : frames) {
      packets.push_back({.bytes = std::as_bytes(std::span(bytes))});
    }
    return queue_->send(packets);
  }
  /// As many, which may be on their way.
  std::vector<std::string> received(std::size_t count) const {
    std::vector<std::string> all;
    char data[10000];
    pollfd item{receiver_.get(), POLLIN, 0};
    while (all.size() < count && ::poll(&item, 1, 30'000) == 1) {
      all.emplace_back(data, ::recv(receiver_.get(), data, sizeof data, 0));
    }
    EXPECT_EQ(::recv(receiver_.get(), data, sizeof data, MSG_DONTWAIT), -1) << "and no more";
    return all;
  }

  std::unique_ptr<TxQueue> queue_;
  UniqueFd receiver_;
};

TEST_F(AfpacketTxTest, FramesArriveInTheirOrder) {
  std::vector<std::string> frames;
  frames.reserve(64);
  for (int i = 0; i < 64; ++i) frames.push_back(frame(60 + i, static_cast<char>(i)));
  EXPECT_EQ(send(frames), 64u);
  EXPECT_EQ(received(64), frames);
  EXPECT_FALSE(queue_->holds_buffers());
  EXPECT_FALSE(queue_->waits_when_full());
}

TEST_F(AfpacketTxTest, AFrameLongerThanTheInterfaceTakesIsRefusedAlone) {
  EXPECT_EQ(send({frame(1514, 'a'), frame(1515, 'b'), frame(60, 'c')}), 1u);
  EXPECT_EQ(send({frame(1515, 'b'), frame(60, 'c')}), 0u);
  EXPECT_TRUE(queue_->refused());
  EXPECT_FALSE(queue_->failed());
  EXPECT_EQ(send({frame(60, 'c')}), 1u);
  EXPECT_FALSE(queue_->refused());
  EXPECT_EQ(received(2), (std::vector<std::string>{frame(1514, 'a'), frame(60, 'c')}));
}

class SuperFrameTxTest : public AfpacketTxTest {
 protected:
  void SetUp() override {
    AfpacketTxTest::SetUp();
    if (IsSkipped()) return;
    queue_ = open_tx_queue(
        test::make_port("afpacket", {{"interface", "here"}, {"super_frames", "true"}}), 0, false);
    bind_packet_socket(receiver_, "there", ETH_P_ALL);
  }
  /// The packets that one of 5,000 bytes of payload stands for.
  static std::vector<std::string> segments() {
    return test::SuperFrameText{.payload = 5000}.packets();
  }
};

TEST_F(SuperFrameTxTest, SegmentsLeaveAsOneBetweenOtherFrames) {
  std::vector<std::string> frames = segments();
  frames.insert(frames.begin(), {frame(60, 'a'), frame(1514, 'b')});
  frames.insert(frames.end(), {frame(60, 'c'), frame(60, 'd')});
  EXPECT_EQ(send(frames), frames.size());
  const std::vector<std::string> came = received(5);
  ASSERT_EQ(came.size(), 5u);
  const test::SuperFrameText of{.payload = 5000};
  EXPECT_EQ(came[0], frame(60, 'a'));
  EXPECT_EQ(came[1], frame(1514, 'b'));
  EXPECT_TRUE(came[2] == of.text()) << "which they were cut from";
  EXPECT_EQ(came[3], frame(60, 'c'));
  EXPECT_EQ(came[4], frame(60, 'd'));
}

TEST_F(SuperFrameTxTest, ADeviceThatTakesNoneGetsThePacketsOneByOne) {
  shell("ethtool -K here tso off gso off tx off >/dev/null");
  const std::vector<std::string> frames = segments();
  EXPECT_EQ(send(frames), 0u);
  EXPECT_FALSE(queue_->failed());
  EXPECT_FALSE(queue_->refused());
  EXPECT_EQ(send(frames), frames.size()) << "the egress tries again";
  EXPECT_TRUE(received(frames.size()) == frames);
}

TEST_F(SuperFrameTxTest, AFrameThatIsTooLongIsRefusedAlone) {
  EXPECT_EQ(send({frame(1514, 'a'), frame(1515, 'b'), frame(60, 'c')}), 1u);
  EXPECT_TRUE(queue_->refused());
  std::vector<std::string> frames = segments();
  EXPECT_EQ(send(frames), frames.size());
  EXPECT_EQ(received(2).size(), 2u);
}

TEST_F(AfpacketTxTest, ItFailsWhileTheInterfaceIsDown) {
  shell("ip link set here down");
  EXPECT_EQ(send({frame(60, 'a')}), 0u);
  EXPECT_TRUE(queue_->failed());
  EXPECT_FALSE(queue_->refused());
  shell("ip link set here up");
  EXPECT_EQ(send({frame(60, 'b')}), 1u);
  EXPECT_FALSE(queue_->failed());
  EXPECT_EQ(received(1), std::vector<std::string>{frame(60, 'b')});
}

TEST_F(AfpacketTxTest, NothingIsTakenWithoutACarrier) {
  shell("ip link set there down");
  EXPECT_EQ(send({frame(60, 'a')}), 0u);
  EXPECT_FALSE(queue_->failed()) << "that is tx_full: it may end soon";
  EXPECT_FALSE(queue_->refused());
}

}  // namespace
}  // namespace millrace
