// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "shared/base/packet.hpp"
#include "tests/unit/io-worker/ports/afpacket_fixture.hpp"

namespace millrace {
namespace {

using test::Taken;

class AfpacketRxTest : public test::AfpacketFixture {};

TEST_F(AfpacketRxTest, FramesComeInTheirOrderAndTheRingComesRound) {
  open({{"ring", "64"}});
  std::uint64_t ordinal = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 20; ++i) send(frame(60 + i, static_cast<char>(i)));
    const std::vector<Taken> taken = take_some(20);
    ASSERT_EQ(taken.size(), 20u);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(taken[i].bytes, frame(60 + i, static_cast<char>(i)));
      EXPECT_EQ(taken[i].packet.wire_length, 60u + i);
      EXPECT_FALSE(taken[i].packet.oversize);
      EXPECT_GE(taken[i].packet.ordinal, ordinal);
      ordinal = taken[i].packet.ordinal + 1;
    }
  }
  EXPECT_EQ(pool_.free_count(), 600u);
}

TEST_F(AfpacketRxTest, ItsOrdinalsAreAboveAllThatALifeBeforeMayHaveHandedOut) {
  open();
  queues_[0]->resume(1000);
  send(frame(60, 'x'));
  const std::vector<Taken> taken = take_some(1);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_GE(taken[0].packet.ordinal, 1000u + kBufferCountMax);
}

TEST_F(AfpacketRxTest, AQueueOfAnInterfaceThatWasRenamedIsOpenedAgain) {
  keep(1);
  take_port(test::make_port("afpacket", {{"interface", "here"}}), folder_,
            [](const std::string&) { return false; });
  open();
  shell("ip link set here name other && ip link add here type bridge && ip link set here up");
  replace_reader(0);
  send(frame(60, 'x'));
  EXPECT_EQ(take_some(1).size(), 1u);
  EXPECT_NE(queues_[0]->remark(), "") << "the socket of the life before";
  const auto tx = open_tx_queue(port_, 0, true, folder_);
  const std::string sent = frame(60, 'y');
  const TxPacket packet{.bytes = std::as_bytes(std::span(sent))};
  EXPECT_EQ(tx->send({&packet, 1}), 1u);
  shell(
      "ip -s link show other | grep -A1 'TX:' | awk 'NR == 2 && $2 >= 1 { ok = 1 } "
      "END { exit !ok }'");
}

TEST_F(AfpacketRxTest, WhatThisSideSendsIsNotReceived) {
  open();
  const auto tx = open_tx_queue(port_, 0, false);
  const std::string sent = frame(60, 'x');
  const TxPacket packet{.bytes = std::as_bytes(std::span(sent))};
  EXPECT_EQ(tx->send({&packet, 1}), 1u);
  EXPECT_TRUE(take().empty());
}

TEST_F(AfpacketRxTest, ItsDescriptorIsReadyWhenAFrameIsThere) {
  open();
  take();
  const auto ready = [&](int wait_ms) {
    pollfd item{queues_[0]->wait_descriptor(), POLLIN, 0};
    return ::poll(&item, 1, wait_ms) == 1;
  };
  send(frame(60, 'x'));
  EXPECT_TRUE(ready(30'000));
  EXPECT_EQ(take_some(1).size(), 1u);
  take();
  EXPECT_FALSE(ready(0));
}

TEST_F(AfpacketRxTest, WhatTheRingCannotHoldIsMissed) {
  open({{"ring", "64"}});
  for (int i = 0; i < 1000; ++i) send(frame(60, 'x'));
  std::size_t taken = 0;
  const std::uint64_t end = monotonic_ns() + kLong;
  while (taken + queues_[0]->missed() < 1000 && monotonic_ns() < end) taken += take().size();
  EXPECT_GE(taken, 64u);
  EXPECT_GE(taken + queues_[0]->missed(), 1000u);
  EXPECT_GT(queues_[0]->missed(), 0u);
}

TEST_F(AfpacketRxTest, AFrameLongerThanTheMtuAllowsIsOversize) {
  shell("ip link set here mtu 9000 && ip link set there mtu 9000");
  open();
  for (const std::size_t bytes : {1522u, 1523u, 9000u}) send(frame(bytes, 'x'));
  const std::vector<Taken> taken = take_some(3);
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_FALSE(taken[0].packet.oversize);
  EXPECT_TRUE(taken[1].packet.oversize);
  EXPECT_TRUE(taken[2].packet.oversize);
  EXPECT_EQ(taken[2].packet.wire_length, 9000u);
}

TEST_F(AfpacketRxTest, ATagThatTheKernelTookOffIsPutBack) {
  open();
  for (const char* tag : {"\x81\x00\x20\x05", "\x88\xa8\x00\x07"}) {
    std::string tagged = frame(64, 'x');
    tagged.insert(12, std::string(tag, 4));
    send(tagged);
    const std::vector<Taken> taken = take_some(1);
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].bytes, tagged);
    EXPECT_EQ(taken[0].packet.wire_length, tagged.size());
  }
}

TEST_F(AfpacketRxTest, AnUnfilledChecksumIsFilledIn) {
  open();
  shell(
      "ip address add 10.0.0.1/24 dev there && ip neighbour add 10.0.0.2 lladdr "
      "02:00:00:00:00:02 dev there");
  // By way of the stack, which leaves checksums to the interface.
  shell("bash -c 'printf hello! >/dev/udp/10.0.0.2/9'");
  const std::vector<Taken> taken = take_some(1);
  ASSERT_EQ(taken.size(), 1u);
  const std::string& bytes = taken[0].bytes;
  std::uint32_t sum = 17 + 8 + 6;  // pseudo header: protocol, length
  for (std::size_t i = 26; i + 1 < bytes.size(); i += 2) {
    sum += static_cast<unsigned char>(bytes[i]) << 8 | static_cast<unsigned char>(bytes[i + 1]);
  }
  EXPECT_EQ(sum % 0xffff, 0u);
  EXPECT_EQ(bytes.substr(bytes.size() - 6), "hello!");
}

TEST_F(AfpacketRxTest, BothDirectionsOfAFlowComeToTheSameOfSeveralQueues) {
  open({{"queues", "4"}});
  for (std::size_t i = 0; i < 4; ++i) take(i);
  std::mt19937_64 random(1);
  std::vector<std::size_t> used(4);
  for (int flow = 0; flow < 64; ++flow) {
    const auto port = static_cast<std::uint16_t>(random());
    send(udp(1, 2, port, 53));
    send(udp(2, 1, 53, port));
    send(udp(1, 2, port, 53));
    std::vector<std::size_t> found(4);
    const auto sum = [](const auto& counts) {
      return std::accumulate(counts.begin(), counts.end(), 0u);
    };
    const std::uint64_t end = monotonic_ns() + kLong;
    while (sum(found) < 3 && monotonic_ns() < end) {
      for (std::size_t i = 0; i < 4; ++i) found[i] += take(i).size();
    }
    EXPECT_EQ(std::count(found.begin(), found.end(), 3u), 1) << "a flow is split";
    for (std::size_t i = 0; i < 4; ++i) used[i] += found[i];
  }
  EXPECT_EQ(used[0] + used[1] + used[2] + used[3], 3u * 64);
  for (const std::size_t count : used) EXPECT_GT(count, 0u);
}

TEST_F(AfpacketRxTest, ItGoesOnAfterItsInterfaceWasDown) {
  open();
  take();
  shell("ip link set here down");
  take();  // what the kernel had to say until then
  EXPECT_GE(queues_[0]->wait_descriptor(), 0);
  EXPECT_EQ(queues_[0]->errors(), 1u);
  pollfd item{queues_[0]->wait_descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&item, 1, 0), 0) << "always ready: it would not sleep";
  shell("ip link set here up");
  std::size_t taken = 0;
  const std::uint64_t end = monotonic_ns() + kLong;
  while (taken == 0 && monotonic_ns() < end) {  // what is sent before the cable is up again is lost
    send(frame(60, 'x'));
    taken = take().size();
  }
  EXPECT_GT(taken, 0u);
  EXPECT_FALSE(queues_[0]->exhausted());
}

}  // namespace
}  // namespace millrace
