// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What outlives the reader of a queue: its socket, and the ring that tells the next one where to go
// on.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>

#include "tests/unit/io-worker/ports/afpacket_fixture.hpp"

namespace millrace {
namespace {

using test::make_port;
using test::Taken;

class KeptFileTest : public test::AfpacketFixture {};

TEST_F(KeptFileTest, WhatComesWhileItsReaderIsDeadIsReadByTheNextOne) {
  keep(1);
  open();
  queues_[0]->resume(0);
  take();
  hold_ = true;
  for (int i = 0; i < 10; ++i) send(frame(60 + i, 'x'));
  const std::vector<Taken> first = take_some(10);
  ASSERT_EQ(first.size(), 10u);
  const std::uint64_t sealed = first[7].packet.ordinal;
  seal(0, sealed);
  queues_[0].reset();
  for (int i = 10; i < 20; ++i) send(frame(60 + i, 'x'));
  replace_reader(0);
  EXPECT_THAT(queues_[0]->remark(), ::testing::HasSubstr("packets read again: 3"));
  const std::vector<Taken> second = take_some(13);
  ASSERT_EQ(second.size(), 13u);
  for (std::size_t i = 0; i < second.size(); ++i) {
    EXPECT_EQ(second[i].bytes, frame(67 + i, 'x'));
    // Those that were read before have the ordinals that they had.
    const std::uint64_t first_new = second[3].packet.ordinal;
    EXPECT_EQ(second[i].packet.ordinal, i < 3 ? sealed + i : first_new + i - 3);
  }
  EXPECT_GE(second[3].packet.ordinal, sealed + kBufferCountMax);
}

TEST_F(KeptFileTest, NoFlowGoesToAnotherQueueWhileAReaderIsDead) {
  keep(4);
  open({{"queues", "4"}});
  for (const auto& queue : queues_) queue->resume(0);
  const auto queue_of = [&](std::uint16_t port) {
    send(udp(1, 2, port, 53));
    const std::uint64_t end = monotonic_ns() + kLong;
    while (monotonic_ns() < end) {
      for (std::size_t i = 0; i < 4; ++i) {
        if (queues_[i] && !take(i).empty()) return i;
      }
    }
    return queues_.size();
  };
  std::array<std::size_t, 32> before{};
  for (std::uint16_t flow = 0; flow < 32; ++flow) before[flow] = queue_of(1000 + flow);
  for (std::size_t dead = 0; dead < 4; ++dead) {
    queues_[dead].reset();
    std::size_t waiting = 0;
    for (std::uint16_t flow = 0; flow < 32; ++flow) {
      if (before[flow] == dead) {
        send(udp(1, 2, 1000 + flow, 53));
        ++waiting;
      } else {
        EXPECT_EQ(queue_of(1000 + flow), before[flow]);
      }
    }
    replace_reader(dead);
    std::size_t come = 0;
    const std::uint64_t end = monotonic_ns() + kLong;
    while (come < waiting && monotonic_ns() < end) come += take(dead).size();
    EXPECT_EQ(come, waiting);
    for (std::uint16_t flow = 0; flow < 32; ++flow) {
      EXPECT_EQ(queue_of(1000 + flow), before[flow]) << "queue " << dead << " had died";
    }
  }
}

TEST_F(KeptFileTest, TheSocketOfAnInterfaceThatIsGoneIsNotUsedAgain) {
  keep(1);
  open();
  queues_[0]->resume(0);
  take();
  shell("ip link del here; ip link add here type veth peer name there");
  shell("ip link set here up && ip link set there up");
  sender_ = open_packet_socket();
  bind_packet_socket(sender_, "there", 0);
  for (int life = 0; life < 2; ++life) {  // the first one opens a socket and leaves it too
    replace_reader(0);
    EXPECT_EQ(queues_[0]->remark().empty(), life == 0);
    take();
    std::size_t taken = 0;
    const std::uint64_t end = monotonic_ns() + kLong;
    while (taken == 0 && monotonic_ns() < end) {  // until the cable is up
      send(frame(60, 'x'));
      taken = take().size();
    }
    EXPECT_GT(taken, 0u);
  }
}

/// A tap whose writer says of packets that they are segmented, as a host behind a virtual machine's
/// interface may.
class SegmentingHost {
 public:
  explicit SegmentingHost(const std::string& interface) {
    ifreq request{};
    interface.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    EXPECT_EQ(::ioctl(tap_.get(), TUNSETIFF, &request), 0);
  }
  void send(std::string frame, bool segments) const {
    std::string head(10, '\0');  // virtio_net_hdr
    if (segments) head = std::string("\x01\x03\x2a\x00\xc8\x05\x22\x00\x06\x00", 10);  // UDP
    frame.insert(0, head);
    ASSERT_EQ(::write(tap_.get(), frame.data(), frame.size()), std::ssize(frame));
  }

 private:
  UniqueFd tap_{::open("/dev/net/tun", O_RDWR | O_CLOEXEC)};
};

TEST_F(KeptFileTest, APacketThatTheKernelCannotDescribeStopsNothing) {
  if (::access("/dev/net/tun", R_OK | W_OK) != 0) GTEST_SKIP() << "no /dev/net/tun";
  const SegmentingHost host("host");
  shell("ip link set host up");
  port_ = make_port("afpacket", {{"interface", "host"}});
  queues_.push_back(open_rx_queue(port_, 0, pool_, false));
  queues_[0]->resume(0);
  host.send(udp(1, 2, 40000, 9), false);
  ASSERT_EQ(take_some(1).size(), 1u);
  const std::uint64_t before = sealed_[0];
  std::string datagram = udp(1, 2, 40000, 9);
  datagram.resize(6000, 'x');
  datagram.replace(16, 2, std::string("\x17\x62", 2));  // lengths of IP and UDP
  datagram.replace(38, 2, std::string("\x17\x4e", 2));
  host.send(datagram, true);
  const std::uint64_t end = monotonic_ns() + kLong;
  std::vector<Taken> taken;
  while (std::ranges::none_of(taken, [](const Taken& one) { return one.bytes.size() == 60; }) &&
         monotonic_ns() < end) {
    host.send(udp(1, 2, 40000, 9), false);
    taken = take();
  }
  ASSERT_FALSE(taken.empty()) << "it drops all that comes, with an empty ring";
  EXPECT_GE(taken.back().packet.ordinal, before) << "numbers go on";
}

}  // namespace
}  // namespace millrace
