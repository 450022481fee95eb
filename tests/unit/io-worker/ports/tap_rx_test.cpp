// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <poll.h>

#include <set>

#include "shared/base/clock.hpp"
#include "tests/unit/io-worker/ports/super_frames.hpp"
#include "tests/unit/io-worker/ports/tap_world.hpp"

namespace millrace {
namespace {

using test::SuperFrameText;
using test::Taken;
using test::TestPool;

class TapRxTest : public test::TapTest {
 protected:
  void open(Settings more = {}, std::uint32_t mtu = 1500) {
    TapTest::open(std::move(more), mtu);
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const std::uint32_t index = i == 0 ? tap_index(files_[0]) : 0;
      queues_.push_back(open_tap_rx(port_, copy(files_[i]), index, pool_));
    }
  }
  std::vector<Taken> take(std::size_t queue = 0) { return take_all(*queues_[queue], pool_); }
  bool ready() {
    pollfd item{queues_[0]->wait_descriptor(), POLLIN, 0};
    return ::poll(&item, 1, 0) == 1;
  }

  TestPool pool_{600};
  std::vector<std::unique_ptr<RxQueue>> queues_;
};

TEST_F(TapRxTest, FramesComeInTheirOrder) {
  open();
  take();
  std::uint64_t ordinal = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 20; ++i) send(frame(60 + i, static_cast<char>(i)));
    const std::vector<Taken> taken = take();
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

TEST_F(TapRxTest, ItsDescriptorIsReadyWhenAFrameIsThere) {
  open();
  send(frame(60, 'x'));
  EXPECT_TRUE(ready());
  while (!take().empty()) {
  }
  EXPECT_FALSE(ready());
}

TEST_F(TapRxTest, WhatTheRingCannotHoldIsMissed) {
  open({{"ring", "64"}});
  take();
  for (int i = 0; i < 1000; ++i) ::send(host_.get(), frame(60, 'x').data(), 60, 0);
  std::size_t taken = 0;
  const std::uint64_t end = monotonic_ns() + 5'000'000'000;
  while (taken + queues_[0]->missed() < 1000 && monotonic_ns() < end) taken += take().size();
  EXPECT_GE(taken, 64u);
  EXPECT_GT(queues_[0]->missed(), 0u);
  EXPECT_GE(taken + queues_[0]->missed(), 1000u);
}

TEST_F(TapRxTest, AFrameLongerThanTheMtuAllowsIsOversize) {
  open();
  shell("ip link set mill mtu 9000");
  for (const std::size_t bytes : {1522u, 1523u, 9014u, 60u}) send(frame(bytes, 'x'));
  const std::vector<Taken> taken = take();
  ASSERT_EQ(taken.size(), 4u);
  EXPECT_FALSE(taken[0].packet.oversize);
  EXPECT_TRUE(taken[1].packet.oversize);
  EXPECT_TRUE(taken[2].packet.oversize);
  EXPECT_EQ(taken[2].packet.wire_length, 9014u);
  EXPECT_EQ(taken[3].bytes, frame(60, 'x'));
}

TEST_F(TapRxTest, TheKernelFillsChecksumsInAndCutsSegments) {
  open({{"host_addresses", "10.0.0.1/24"}});
  shell("ip neighbour add 10.0.0.2 lladdr 02:00:00:00:00:02 dev mill");
  shell("bash -c 'printf hello! >/dev/udp/10.0.0.2/9'");
  const std::vector<Taken> taken = take();
  ASSERT_EQ(taken.size(), 1u);
  const std::string& bytes = taken[0].bytes;
  EXPECT_EQ(bytes.substr(0, 6), std::string("\x02\0\0\0\0\x02", 6));
  EXPECT_EQ(bytes.substr(6, 6), std::string("\x06\0\0\0\0\x01", 6));
  std::uint32_t sum = 17 + 8 + 6;  // pseudo header: protocol, length
  for (std::size_t i = 26; i + 1 < bytes.size(); i += 2) {
    sum += static_cast<unsigned char>(bytes[i]) << 8 | static_cast<unsigned char>(bytes[i + 1]);
  }
  EXPECT_EQ(sum % 0xffff, 0u);
  shell("ethtool -k mill | grep -q 'tcp-segmentation-offload: off'");
}

class TapSuperFramesTest : public TapRxTest {
 protected:
  void open_for_super_frames() {
    open({{"super_frames", "true"}});
    host_ = open_packet_socket();  // of no protocol: the kernel looks for it in the frame
    bind_packet_socket(host_, "mill", 0);
    const int on = 1, bytes = 1 << 20;
    ASSERT_EQ(::setsockopt(host_.get(), SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on), 0);
    ::setsockopt(host_.get(), SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
    take();
  }
  void send_super(const Offload& offload, const std::string& frame) const {
    send(std::string(reinterpret_cast<const char*>(&offload), sizeof offload) + frame);
  }
  void host_cuts(bool cuts) {
    shell(std::string("ethtool -K mill tso ") + (cuts ? "off gso off tx off" : "on gso on tx on") +
          " >/dev/null");
  }
};

TEST_F(TapSuperFramesTest, PacketsAreThoseThatTheKernelMakes) {
  open_for_super_frames();
  const SuperFrameText kinds[] = {
      {.payload = 60'000, .segment = 1448, .flags = '\x19'},
      {.option_bytes = 0, .payload = 1461, .segment = 1460, .flags = '\x90'},
      {.payload = 2000, .segment = 600},
      {.ipv6 = true, .payload = 40'000, .segment = 1428},
      {.tcp = false, .payload = 20'000, .segment = 1472},
      {.ipv6 = true, .tcp = false, .payload = 1200, .segment = 500},
  };
  for (const SuperFrameText& kind : kinds) {
    const std::size_t count = (kind.payload + kind.segment - 1) / kind.segment;
    host_cuts(false);
    send_super(kind.offload(), kind.text());
    const std::vector<Taken> ours = take();
    host_cuts(true);
    send_super(kind.offload(), kind.text());
    const std::vector<Taken> kernels = take();
    ASSERT_EQ(ours.size(), count);
    ASSERT_EQ(kernels.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(ours[i].bytes, kernels[i].bytes) << "packet " << i;
      EXPECT_EQ(ours[i].packet.wire_length, ours[i].bytes.size());
      EXPECT_FALSE(ours[i].packet.oversize);
      if (i == 0) continue;
      EXPECT_EQ(ours[i].packet.ordinal, ours[i - 1].packet.ordinal + 1);
    }
  }
  EXPECT_EQ(pool_.free_count(), 600u);
}

TEST_F(TapSuperFramesTest, AChecksumThatWasLeftOutIsFilledIn) {
  open_for_super_frames();
  const SuperFrameText kind{.payload = 700};
  Offload offload = kind.offload();
  offload.segment_type = 0;
  offload.segment_bytes = 0;
  host_cuts(false);
  send_super(offload, kind.text());
  const std::vector<Taken> ours = take();
  host_cuts(true);
  send_super(offload, kind.text());
  const std::vector<Taken> kernels = take();
  ASSERT_EQ(ours.size(), 1u);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(ours[0].bytes, kernels[0].bytes);
  EXPECT_NE(ours[0].bytes, kind.text());
}

TEST_F(TapSuperFramesTest, PacketsForWhichThereIsNoBufferWait) {
  open_for_super_frames();
  const SuperFrameText kind{.payload = 10'000};
  send_super(kind.offload(), kind.text());
  send_super({}, frame(60, 'z'));
  std::vector<RxPacket> out(3);
  ASSERT_EQ(queues_[0]->poll(pool_, out), 3u);
  EXPECT_EQ(queues_[0]->wait_descriptor(), -1) << "what is left does not make it ready";
  std::vector<std::uint32_t> all(597);
  ASSERT_EQ(pool_.take(all), 597u);
  EXPECT_EQ(queues_[0]->poll(pool_, out), 0u);
  pool_.give_back(all);
  const std::vector<Taken> rest = take();
  ASSERT_EQ(rest.size(), 8u);
  EXPECT_EQ(rest[7].bytes, frame(60, 'z'));
  EXPECT_NE(queues_[0]->wait_descriptor(), -1);
}

TEST_F(TapSuperFramesTest, WhatIsLongerThanThePortAllowsIsOversize) {
  open_for_super_frames();
  shell("ip link set mill mtu 9000");
  const SuperFrameText kind{.payload = 20'000, .segment = 4000};
  send_super(kind.offload(), kind.text());
  send_super({}, frame(1523, 'x'));
  send_super({}, frame(60, 'z'));
  const std::vector<Taken> taken = take();
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_TRUE(taken[0].packet.oversize);
  EXPECT_FALSE(taken[0].packet.malformed);
  EXPECT_EQ(taken[0].packet.wire_length, 20'066u);
  EXPECT_TRUE(taken[1].packet.oversize);
  EXPECT_EQ(taken[2].bytes, frame(60, 'z'));
}

TEST_F(TapRxTest, AnotherReaderGoesOnWhereADeadOneEnded) {
  open();
  take();
  for (char i = 0; i < 10; ++i) send(frame(60, i));
  std::vector<RxPacket> out(4);
  ASSERT_EQ(queues_[0]->poll(pool_, out), 4u);
  queues_[0] = open_tap_rx(port_, copy(files_[0]), tap_index(files_[0]), pool_);
  queues_[0]->resume(1000);
  for (char i = 10; i < 20; ++i) send(frame(60, i));
  const std::vector<Taken> taken = take();
  ASSERT_EQ(taken.size(), 16u) << "what comes in between waits";
  for (std::size_t i = 0; i < 16; ++i)
    EXPECT_EQ(taken[i].bytes, frame(60, static_cast<char>(i + 4)));
  EXPECT_GT(taken[0].packet.ordinal, 1000u);
}

TEST_F(TapRxTest, AFlowGoesToTheQueueIntoWhichItsAnswersAreSent) {
  open({{"queues", "4"}, {"host_addresses", "10.0.0.1/24"}});
  shell("ip neighbour add 10.0.0.2 lladdr 02:00:00:00:00:02 dev mill");
  const auto tx = [&] {
    std::vector<UniqueFd> files;
    for (const UniqueFd& file : files_) files.push_back(copy(file));
    return open_tap_tx(port_, std::move(files));
  }();
  std::set<std::size_t> used;
  const auto queue_of_next = [&] {
    for (std::size_t i = 0; i < 4; ++i) {
      for (const Taken& taken : take(i)) {
        std::string answer = taken.bytes;  // with both ends exchanged
        answer.replace(0, 6, taken.bytes, 6, 6).replace(6, 6, taken.bytes, 0, 6);
        answer.replace(26, 4, taken.bytes, 30, 4).replace(30, 4, taken.bytes, 26, 4);
        answer.replace(34, 2, taken.bytes, 36, 2).replace(36, 2, taken.bytes, 34, 2);
        const TxPacket packet{.bytes = std::as_bytes(std::span(answer))};
        EXPECT_EQ(tx->send({&packet, 1}), 1u);
        return i;
      }
    }
    return std::size_t{4};
  };
  for (int port = 1000; port < 1032; ++port) {
    const UniqueFd udp(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const auto say = [&] {
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_port = htons(static_cast<std::uint16_t>(port));
      to.sin_addr.s_addr = inet_addr("10.0.0.2");
      ::sendto(udp.get(), "x", 1, 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
      return queue_of_next();
    };
    say();
    const std::size_t queue = say();
    ASSERT_LT(queue, 4u);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(say(), queue);
    used.insert(queue);
  }
  EXPECT_EQ(used.size(), 4u);
}

TEST_F(TapRxTest, ItGoesOnAfterItsInterfaceWasDown) {
  open();
  take();
  shell("ip link set mill down");
  EXPECT_TRUE(take().empty());
  EXPECT_FALSE(ready()) << "it would not sleep";
  shell("ip link set mill up");
  bind_packet_socket(host_, "mill", 0x88b5);
  int error = 0;
  socklen_t bytes = sizeof error;
  ::getsockopt(host_.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);  // the sender's own
  send(frame(60, 'x'));
  EXPECT_EQ(take().size(), 1u);
  EXPECT_EQ(queues_[0]->errors(), 0u);
}

TEST_F(TapRxTest, ItSleepsWhenItsInterfaceHasGone) {
  open();
  take();
  shell("ip link del mill");
  EXPECT_TRUE(take().empty());
  EXPECT_EQ(queues_[0]->errors(), 1u);
  EXPECT_EQ(queues_[0]->wait_descriptor(), -1);
  EXPECT_GT(queues_[0]->next_ready_ns(), 0u);
  EXPECT_FALSE(queues_[0]->exhausted());
}

TEST_F(TapRxTest, WithoutABufferNothingIsTaken) {
  open();
  take();
  send(frame(60, 'x'));
  std::vector<std::uint32_t> all(600);
  ASSERT_EQ(pool_.take(all), 600u);
  RxPacket out;
  EXPECT_EQ(queues_[0]->poll(pool_, {&out, 1}), 0u);
  pool_.give_back(all);
  EXPECT_EQ(take().size(), 1u) << "it has waited";
}

}  // namespace
}  // namespace millrace
