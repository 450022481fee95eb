// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/socket.h>

#include <set>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/afxdp.hpp"
#include "shared/base/clock.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"
#include "tests/unit/io-worker/ports/xdp_pool.hpp"

namespace millrace {
namespace {

using test::HoldingPool;
using test::make_port;
using test::Taken;

class AfxdpRxTest : public test::VethTest {
 protected:
  void open(HoldingPool& pool, std::uint32_t mtu = 1500, const char* ring = "128") {
    PlanPort port = make_port("afxdp", {{"interface", "here"}, {"ring", ring}});
    port.mtu = mtu;
    queue_.reset();
    queue_ = open_rx_queue(port, 0, pool, false);
    sender_ = open_packet_socket();
    bind_packet_socket(sender_, "there", 0);
    take(pool);  // the first filling
  }
  void send(const std::string& frame) const {
    ASSERT_EQ(::send(sender_.get(), frame.data(), frame.size(), 0), std::ssize(frame));
  }
  static std::string frame(std::size_t bytes, char fill) {
    std::string text(bytes, fill);
    text.replace(12, 2, "\x88\xb5", 2);
    for (std::size_t at = 14; at < bytes; ++at) text[at] = static_cast<char>(fill + at / 7);
    return text;
  }
  std::vector<Taken> take(HoldingPool& pool) { return pool.take_all(*queue_); }
  /// As many as are on their way: the kernel hands them over in its own time.
  std::vector<Taken> take_some(HoldingPool& pool, std::size_t count) {
    std::vector<Taken> all;
    const std::uint64_t end = monotonic_ns() + 30'000'000'000;
    while (all.size() < count && monotonic_ns() < end) {
      for (Taken& taken : take(pool)) all.push_back(std::move(taken));
    }
    return all;
  }

  std::unique_ptr<RxQueue> queue_;
  UniqueFd sender_;
};

TEST_F(AfxdpRxTest, FramesComeIntoThePoolsBuffersInTheirOrder) {
  HoldingPool pool(300);
  open(pool);
  EXPECT_NE(queue_->remark().find("here queue 0: AF_XDP, copy mode"), std::string::npos);
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 20; ++i) send(frame(60 + i * 70, static_cast<char>(i)));
    const std::vector<Taken> taken = take_some(pool, 20);
    ASSERT_EQ(taken.size(), 20u);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(taken[i].bytes, frame(60 + i * 70, static_cast<char>(i)));
      EXPECT_FALSE(taken[i].packet.oversize);
    }
  }
  EXPECT_EQ(pool.free_count() + queue_->held(), 300u);
}

TEST_F(AfxdpRxTest, WhatTheKernelMayFillIsHeldAndEachBufferOnce) {
  HoldingPool pool(300);
  open(pool);
  EXPECT_EQ(queue_->held(), 128u);
  EXPECT_EQ(pool.free_count(), 300u - 128);
  EXPECT_EQ(std::set(pool.held.begin(), pool.held.end()).size(), pool.held.size());
}

TEST_F(AfxdpRxTest, AFrameInPiecesIsPutTogether) {
  shell("ip link set here mtu 9000 && ip link set there mtu 9000");
  HoldingPool pool(300, 9216 + 64);
  open(pool, 9000);
  for (const std::size_t bytes : {3839u, 3840u, 3841u, 7681u, 9014u, 60u}) {
    send(frame(bytes, 'x'));
    const std::vector<Taken> taken = take_some(pool, 1);
    ASSERT_EQ(taken.size(), 1u) << bytes;
    EXPECT_EQ(taken[0].bytes, frame(bytes, 'x'));
    EXPECT_EQ(taken[0].packet.wire_length, bytes);
    EXPECT_FALSE(taken[0].packet.oversize);
  }
  EXPECT_EQ(pool.free_count() + queue_->held(), 300u) << "pieces go back to the pool";
}

TEST_F(AfxdpRxTest, AFrameInPiecesThatIsTooLongIsOversize) {
  shell("ip link set here mtu 9000 && ip link set there mtu 9000");
  HoldingPool pool(300, 9216 + 64);
  open(pool, 5000);
  send(frame(5022, 'x'));
  send(frame(5023, 'x'));
  send(frame(9014, 'x'));
  const std::vector<Taken> taken = take_some(pool, 3);
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_FALSE(taken[0].packet.oversize);
  EXPECT_TRUE(taken[1].packet.oversize);
  EXPECT_TRUE(taken[2].packet.oversize);
  EXPECT_EQ(taken[2].packet.wire_length, 9014u);
  EXPECT_EQ(pool.free_count() + queue_->held(), 300u);
}

TEST_F(AfxdpRxTest, ItsDescriptorIsReadyWhenAFrameIsThere) {
  HoldingPool pool(300);
  open(pool);
  const auto ready = [&](int wait_ms) {
    pollfd item{queue_->wait_descriptor(), POLLIN, 0};
    return ::poll(&item, 1, wait_ms) == 1;
  };
  send(frame(60, 'x'));
  EXPECT_TRUE(ready(30'000));
  EXPECT_EQ(take_some(pool, 1).size(), 1u);
  take(pool);
  EXPECT_FALSE(ready(0));
}

TEST_F(AfxdpRxTest, WhatFindsNoBufferIsMissed) {
  HoldingPool pool(300);
  open(pool, 1500, "64");
  for (int i = 0; i < 1000; ++i) send(frame(60, 'x'));
  std::size_t taken = 0;
  const std::uint64_t end = monotonic_ns() + 30'000'000'000;
  while (taken + queue_->missed() < 1000 && monotonic_ns() < end) taken += take(pool).size();
  taken += take(pool).size();
  EXPECT_GE(taken, 64u);
  EXPECT_GT(queue_->missed(), 0u);
  EXPECT_EQ(taken + queue_->missed(), 1000u);
}

TEST_F(AfxdpRxTest, AnUnfilledChecksumIsFilledIn) {
  HoldingPool pool(300);
  open(pool);
  shell(
      "ip address add 10.0.0.1/24 dev there && ip neighbour add 10.0.0.2 lladdr "
      "02:00:00:00:00:02 dev there");
  shell("bash -c 'printf hello! >/dev/udp/10.0.0.2/9'");
  const std::vector<Taken> taken = take_some(pool, 1);
  ASSERT_EQ(taken.size(), 1u);
  const std::string& bytes = taken[0].bytes;
  std::uint32_t sum = 17 + 8 + 6;  // pseudo header: protocol, length
  for (std::size_t i = 26; i + 1 < bytes.size(); i += 2) {
    sum += static_cast<unsigned char>(bytes[i]) << 8 | static_cast<unsigned char>(bytes[i + 1]);
  }
  EXPECT_EQ(sum % 0xffff, 0u);
}

TEST_F(AfxdpRxTest, AnotherLifeTakesTheQueueOver) {
  HoldingPool first(300), second(300);
  open(first);
  open(second);
  send(frame(60, 'x'));
  EXPECT_EQ(take_some(second, 1).size(), 1u);
}

TEST_F(AfxdpRxTest, SeveralQueuesShareTheProgramWhichGoesWithTheLast) {
  shell(
      "ip link add wide numrxqueues 2 numtxqueues 2 type veth peer name far numrxqueues 2 "
      "numtxqueues 2 && ip link set wide up && ip link set far up");
  const PlanPort port = make_port("afxdp", {{"interface", "wide"}, {"queues", "2"}});
  const std::string attached = "ip link show wide | grep -q xdp";
  HoldingPool pools[2] = {HoldingPool(1300), HoldingPool(1300)};
  auto one = open_rx_queue(port, 0, pools[0], false);
  auto two = open_rx_queue(port, 1, pools[1], false);
  shell(attached);
  one.reset();
  shell(attached);
  one = open_rx_queue(port, 0, pools[0], false);
  two.reset();
  one.reset();
  shell("! " + attached);
}

TEST_F(AfxdpRxTest, AnInterfaceThatIsNotThereIsNamed) {
  HoldingPool pool(300);
  const std::string said = test::error_of([&] {
    open_rx_queue(make_port("afxdp", {{"interface", "heer"}}), 0, pool, false);
  });
  EXPECT_TRUE(said.starts_with("port 'lan' (afxdp), receive queue 0: no interface 'heer'")) << said;
}

}  // namespace
}  // namespace millrace
