// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A port whose flows are divided into four shares, read by two queues.

#include "io-worker/ports/ring_share.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>

#include "tests/unit/io-worker/ports/afpacket_fixture.hpp"

namespace millrace {
namespace {

using test::Taken;

class RingShareTest : public test::AfpacketFixture {
 protected:
  static constexpr std::uint32_t kShares = 4;

  void open_two() {
    open({{"queues", "2"}, {"queues_max", "4"}});
    for (const auto& queue : queues_) queue->resume(0);
  }
  RxShares& shares(std::size_t queue) { return *queues_[queue]->shares(); }
  /// That to which the kernel gives such a frame; seals it.
  std::uint32_t share_of(const std::string& frame) {
    send(frame);
    std::uint32_t found = kShares;
    const std::uint64_t end = monotonic_ns() + kLong;
    while (found == kShares && monotonic_ns() < end) {
      for (std::uint32_t share = 0; share < kShares; ++share) {
        const std::size_t queue = (reads_[0] >> share & 1) != 0 ? 0 : 1;
        shares(queue).hold(reads_[queue] & ~(ShareSet{1} << share));
        for (const Taken& taken : take(queue)) {
          EXPECT_EQ(taken.bytes, frame);
          found = share;
        }
      }
    }
    for (std::size_t queue = 0; queue < 2; ++queue) shares(queue).hold(0);
    return found;
  }
  /// Packet `number` of a flow of that share.
  std::string packet_of(std::uint32_t share, std::uint8_t number) {
    while (flow_[share] == 0) {
      const std::uint32_t at = share_of(udp(1, 2, ++last_flow_, 53));
      if (at < kShares && flow_[at] == 0) flow_[at] = last_flow_;
      if (at == kShares) break;
    }
    std::string text = udp(1, 2, flow_[share], 53);
    text.back() = static_cast<char>(number);
    return text;
  }
  /// Packets [from, to) of a flow of that share.
  void send_of(std::uint32_t share, std::uint8_t from, std::uint8_t to) {
    for (std::uint8_t i = from; i < to; ++i) send(packet_of(share, i));
  }
  /// Those come to that queue, in order, and nothing else.
  void expect_of(std::uint32_t share, std::uint8_t from, std::uint8_t to, std::size_t queue) {
    const std::vector<Taken> taken = take_some(to - from, queue);
    ASSERT_EQ(taken.size(), static_cast<std::size_t>(to - from));
    for (std::size_t i = 0; i < taken.size(); ++i) {
      EXPECT_EQ(taken[i].bytes, packet_of(share, static_cast<std::uint8_t>(from + i)));
      if (i != 0) {
        EXPECT_GT(taken[i].packet.ordinal, taken[i - 1].packet.ordinal);
      }
      last_ordinal_[queue] = taken[i].packet.ordinal;
    }
    EXPECT_TRUE(take(queue).empty());
  }
  bool is_ready(std::size_t queue, int wait_ms = 0) {
    pollfd item{queues_[queue]->wait_descriptor(), POLLIN, 0};
    return ::poll(&item, 1, wait_ms) == 1;
  }
  /// The keeper may not have the time to answer soon; the client tries again.
  static bool soon(const std::function<bool()>& done) {
    const std::uint64_t end = monotonic_ns() + kLong;
    while (!done()) {
      if (monotonic_ns() > end) return false;
    }
    return true;
  }
  bool leaves(std::size_t queue, std::uint32_t share) {
    return soon([&] { return shares(queue).leave(share); });
  }
  bool joins(std::size_t queue, std::uint32_t share) {
    return soon([&] { return shares(queue).join(share); });
  }
  void goes_over(std::uint32_t share, std::size_t from, std::size_t to) {
    reads_[from] &= ~(ShareSet{1} << share);
    reads_[to] |= ShareSet{1} << share;
  }

  std::array<std::uint16_t, kShares> flow_{};  ///< source port; 0: none is known yet
  std::uint16_t last_flow_ = 1000;
  std::array<std::uint64_t, 2> last_ordinal_{};  ///< by queue
};

TEST_F(RingShareTest, APortOfOneQueueHasNone) {
  open();
  EXPECT_EQ(queues_[0]->shares(), nullptr);
}

TEST_F(RingShareTest, NothingIsReceivedBeforeAllAreThere) {
  admit_ = false;
  open_two();
  EXPECT_EQ(shares(0).read_here(), 0b0011u);
  EXPECT_EQ(shares(1).read_here(), 0b1100u);
  for (std::uint16_t flow = 0; flow < 100; ++flow) send(udp(3, 4, 1000 + flow, 53));
  EXPECT_TRUE(take(0).empty());
  EXPECT_TRUE(take(1).empty());
  admit();
  EXPECT_LT(share_of(udp(1, 2, 1000, 53)), kShares) << "and that is the first frame";
}

/// PACKET_IGNORE_OUTGOING does not hold in a fanout group.
TEST_F(RingShareTest, WhatThisHostSendsDoesNotCome) {
  open_two();
  const UniqueFd stack = open_packet_socket();
  bind_packet_socket(stack, "here", 0);
  for (std::uint16_t flow = 0; flow < 100; ++flow) {
    const std::string frame = udp(5, 6, 1000 + flow, 53);
    ASSERT_EQ(::send(stack.get(), frame.data(), frame.size(), 0), std::ssize(frame));
  }
  EXPECT_LT(share_of(udp(1, 2, 1000, 53)), kShares) << "and that is the first frame";
  EXPECT_TRUE(take(0).empty() && take(1).empty());
}

TEST_F(RingShareTest, AllFlowsComeOnce) {
  open_two();
  constexpr std::uint16_t kFlows = 200;
  for (std::uint16_t flow = 0; flow < kFlows; ++flow) send(udp(1, 2, 1000 + flow, 53));
  std::array<std::vector<std::string>, 2> come;
  const std::uint64_t end = monotonic_ns() + kLong;
  while (come[0].size() + come[1].size() < kFlows && monotonic_ns() < end) {
    for (std::size_t queue = 0; queue < 2; ++queue) {
      for (Taken& taken : take(queue)) come[queue].push_back(std::move(taken.bytes));
    }
  }
  EXPECT_TRUE(take(0).empty() && take(1).empty());
  for (const auto& frames : come) EXPECT_GT(frames.size(), kFlows / 10u);
  std::vector<std::string> all = come[0];
  all.insert(all.end(), come[1].begin(), come[1].end());
  std::ranges::sort(all);
  ASSERT_EQ(all.size(), kFlows);
  for (std::uint16_t flow = 0; flow < kFlows; ++flow) {
    EXPECT_EQ(all[flow], udp(1, 2, 1000 + flow, 53));
  }
}

TEST_F(RingShareTest, BothDirectionsOfAFlowComeToTheSameShareAndAllAreUsed) {
  open_two();
  std::mt19937_64 random(1);
  std::array<int, kShares> used{};
  for (int flow = 0; flow < 64; ++flow) {
    const auto port = static_cast<std::uint16_t>(random());
    const std::uint32_t share = share_of(udp(1, 2, port, 53));
    ASSERT_LT(share, kShares);
    EXPECT_EQ(share_of(udp(2, 1, 53, port)), share);
    ++used[share];
  }
  for (const int count : used) EXPECT_GT(count, 0);
}

TEST_F(RingShareTest, FragmentsOfADatagramComeToTheSameShare) {
  open_two();
  std::array<int, kShares> used{};
  for (std::uint8_t host = 3; host < 67; ++host) {
    std::string first = udp(1, host, 1000 + host, 53);
    first[20] = 0x20;                                   // more follow
    std::string second = udp(1, host, 0x7878, 0x1234);  // what lies there is no port
    second[21] = 7;
    const std::uint32_t share = share_of(first);
    ASSERT_LT(share, kShares);
    EXPECT_EQ(share_of(second), share);
    ++used[share];
  }
  for (const int count : used) EXPECT_GT(count, 0);
}

TEST_F(RingShareTest, WhatComesToOneThatIsHeldWaits) {
  open_two();
  for (std::uint32_t share = 0; share < kShares; ++share) packet_of(share, 0);
  shares(0).hold(0b0001);
  EXPECT_EQ(shares(0).read_here(), 0b0011u);
  send_of(0, 0, 5);
  for (std::uint32_t share = 1; share < kShares; ++share) {
    send_of(share, 10, 15);
    expect_of(share, 10, 15, share / 2);
  }
  EXPECT_EQ(queues_[0]->wait_descriptor(), -1) << "what waits would wake it all the time";
  send_of(0, 5, 10);
  shares(0).hold(0);
  EXPECT_GE(queues_[0]->wait_descriptor(), 0);
  expect_of(0, 0, 10, 0);
}

TEST_F(RingShareTest, WhatWaitsGoesOverToAnotherQueue) {
  keep(kShares);
  open_two();
  for (std::uint32_t share = 0; share < kShares; ++share) packet_of(share, 0);
  hold_ = true;
  send_of(0, 0, 5);
  expect_of(0, 0, 5, 0);
  shares(0).hold(0b0001);
  send_of(0, 5, 10);
  EXPECT_FALSE(shares(0).leave(0)) << "its packets are in open batches";
  seal(0, last_ordinal_[0]);
  EXPECT_FALSE(shares(0).leave(0)) << "one is";
  seal(0, last_ordinal_[0] + 1);
  EXPECT_FALSE(shares(0).leave(1)) << "it is not held";
  EXPECT_FALSE(shares(0).leave(2)) << "it is another queue's";
  EXPECT_TRUE(leaves(0, 0));
  goes_over(0, 0, 1);
  EXPECT_EQ(shares(0).read_here(), reads_[0]);
  send_of(0, 10, 15);
  ASSERT_TRUE(joins(1, 0));
  EXPECT_EQ(shares(1).read_here(), reads_[1]);
  expect_of(0, 5, 15, 1);
  replace_reader(1);
  expect_of(0, 5, 15, 1);
  seal(1, last_ordinal_[1] + 1);
  hold_ = false;
  for (std::uint32_t share = 0; share < kShares; ++share) {
    send_of(share, 20, 25);
    expect_of(share, 20, 25, share == 1 ? 0 : 1);
  }
}

TEST_F(RingShareTest, OneOfAnInterfaceThatIsGoneIsNotToBeHad) {
  keep(kShares);
  open_two();
  shares(0).hold(0b0001);
  ASSERT_TRUE(leaves(0, 0));
  shell("ip link del here");
  EXPECT_FALSE(shares(1).join(0));
}

TEST_F(RingShareTest, AQueueMayLeaveAllAndTakeThemBack) {
  keep(kShares);
  open_two();
  for (std::uint32_t share = 0; share < kShares; ++share) packet_of(share, 0);
  for (int round = 0; round < 3; ++round) {
    shares(0).hold(0b0011);
    for (const std::uint32_t share : {0u, 1u}) {
      send_of(share, 0, 5);
      ASSERT_TRUE(leaves(0, share));
      EXPECT_FALSE(is_ready(1));
      ASSERT_TRUE(joins(1, share));
      goes_over(share, 0, 1);
      EXPECT_TRUE(is_ready(1, 30'000));
      expect_of(share, 0, 5, 1);
    }
    EXPECT_TRUE(take(0).empty());
    send_of(0, 0, 5);
    EXPECT_GE(queues_[0]->wait_descriptor(), 0);
    EXPECT_FALSE(is_ready(0)) << "it is the other one's now";
    expect_of(0, 0, 5, 1);
    shares(1).hold(0b0011);
    for (const std::uint32_t share : {0u, 1u}) {
      send_of(share, 5, 10);
      ASSERT_TRUE(leaves(1, share));
      ASSERT_TRUE(joins(0, share));
      goes_over(share, 1, 0);
      expect_of(share, 5, 10, 0);
    }
  }
  EXPECT_EQ(queues_[0]->missed() + queues_[1]->missed(), 0u);
}

TEST_F(RingShareTest, ItIsNotLeftWhereNobodyKeepsIt) {
  open_two();
  packet_of(0, 0);
  shares(0).hold(0b0001);
  send_of(0, 0, 5);
  EXPECT_FALSE(shares(0).leave(0));
  EXPECT_FALSE(shares(1).join(0));
  EXPECT_EQ(shares(0).read_here(), 0b0011u);
  shares(0).hold(0);
  expect_of(0, 0, 5, 0);
}

TEST_F(RingShareTest, AKeeperThatCameLateGetsItThen) {
  keep(kShares);
  keeper_.reset();
  open_two();
  packet_of(0, 0);
  shares(0).hold(0b0001);
  EXPECT_FALSE(shares(0).leave(0));
  keep(kShares);
  EXPECT_FALSE(shares(1).join(0)) << "the keeper has nothing yet";
  send_of(0, 0, 5);
  ASSERT_TRUE(leaves(0, 0));
  ASSERT_TRUE(joins(1, 0));
  goes_over(0, 0, 1);
  expect_of(0, 0, 5, 1);
}

TEST_F(RingShareTest, ItIsNotLeftToAKeeperThatHasAnotherOneInItsPlace) {
  keep(kShares);
  keeper_.reset();
  open_two();
  packet_of(0, 0);
  keep(kShares);
  ASSERT_TRUE(leave_file(folder_ + kHubFiles, "lan.0", open_packet_socket()));
  shares(0).hold(0b0001);
  send_of(0, 0, 5);
  EXPECT_FALSE(shares(0).leave(0));
  shares(0).hold(0);
  expect_of(0, 0, 5, 0);
}

TEST_F(RingShareTest, WhoLeavesOneAndDiesLosesNothing) {
  keep(kShares);
  open_two();
  for (std::uint32_t share = 0; share < kShares; ++share) packet_of(share, 0);
  shares(0).hold(0b0001);
  send_of(0, 0, 5);
  ASSERT_TRUE(leaves(0, 0));
  queues_[0].reset();
  send_of(0, 5, 10);
  send_of(1, 0, 5);
  ASSERT_TRUE(joins(1, 0));
  goes_over(0, 0, 1);
  expect_of(0, 0, 10, 1);
  replace_reader(0);
  EXPECT_EQ(shares(0).read_here(), 0b0010u);
  expect_of(1, 0, 5, 0);
}

TEST_F(RingShareTest, WhoLeavesOneAndDiesBeforeItHasSaidSoHasItAgain) {
  keep(kShares);
  open_two();
  packet_of(0, 0);
  shares(0).hold(0b0001);
  send_of(0, 0, 5);
  ASSERT_TRUE(leaves(0, 0));
  send_of(0, 5, 10);
  replace_reader(0);
  EXPECT_EQ(shares(0).read_here(), 0b0011u);
  expect_of(0, 0, 10, 0);
}

TEST_F(RingShareTest, PacketsOfSeveralComeAgainInTheOrderInWhichTheyWereRead) {
  keep(kShares);
  open_two();
  packet_of(0, 0);
  packet_of(1, 0);
  hold_ = true;
  std::vector<Taken> first;
  for (std::uint8_t i = 0; i < 10; ++i) {
    send(packet_of(i % 3 == 0 ? 0 : 1, i));
    for (Taken& taken : take_some(1)) first.push_back(std::move(taken));
  }
  ASSERT_EQ(first.size(), 10u);
  seal(0, first[2].packet.ordinal);
  queues_[0].reset();
  send_of(0, 10, 12);
  replace_reader(0);
  const std::vector<Taken> second = take_some(10);
  ASSERT_EQ(second.size(), 10u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(second[i].bytes, first[2 + i].bytes);
    EXPECT_EQ(second[i].packet.ordinal, first[2 + i].packet.ordinal);
  }
  EXPECT_GT(second[8].packet.ordinal, second[7].packet.ordinal);
  EXPECT_EQ(second[9].bytes, packet_of(0, 11));
}

}  // namespace
}  // namespace millrace
