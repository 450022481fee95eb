// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Super-frames over a cable: cut by us, and by the kernel.

#include "io-worker/ports/frame_reader.hpp"

#include <linux/if_packet.h>

#include "tests/unit/io-worker/ports/afpacket_fixture.hpp"
#include "tests/unit/io-worker/ports/super_frames.hpp"

namespace millrace {
namespace {

using test::SuperFrameText;
using test::Taken;

class FrameReaderTest : public test::AfpacketFixture {
 protected:
  void open_for_super_frames() {
    open({{"super_frames", "true"}, {"ring", "64"}});
    const int on = 1;
    ASSERT_EQ(::setsockopt(sender_.get(), SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on), 0);
    const int bytes = 1 << 20;
    ::setsockopt(sender_.get(), SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
  }
  void send_super(const SuperFrameText& of) const {
    const Offload offload = of.offload();
    std::string text(reinterpret_cast<const char*>(&offload), sizeof offload);
    text += of.text();
    ASSERT_EQ(::send(sender_.get(), text.data(), text.size(), 0), std::ssize(text));
  }
};

TEST_F(FrameReaderTest, PacketsAreThoseThatTheKernelMakes) {
  open_for_super_frames();
  const SuperFrameText kinds[] = {
      {.payload = 60'000, .segment = 1448, .flags = '\x19'},
      {.option_bytes = 0, .payload = 1461, .segment = 1460, .flags = '\x90'},
      {.ipv6 = true, .payload = 40'000, .segment = 1428},
      {.tcp = false, .payload = 20'000, .segment = 1472},
      {.ipv6 = true, .tcp = false, .payload = 1200, .segment = 500},
  };
  for (const SuperFrameText& kind : kinds) {
    const std::size_t count = (kind.payload + kind.segment - 1) / kind.segment;
    shell("ethtool -K there tx on gso on tso on tx-udp-segmentation on >/dev/null");
    send_super(kind);
    const std::vector<Taken> ours = take_some(count);
    shell("ethtool -K there tx on gso off tso off tx-udp-segmentation off >/dev/null");
    send_super(kind);
    const std::vector<Taken> kernels = take_some(count);
    ASSERT_EQ(ours.size(), count);
    ASSERT_EQ(kernels.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(ours[i].bytes, kernels[i].bytes) << "packet " << i;
      EXPECT_EQ(ours[i].packet.wire_length, ours[i].bytes.size());
      EXPECT_FALSE(ours[i].packet.oversize);
    }
  }
  EXPECT_EQ(pool_.free_count(), 600u);
}

TEST_F(FrameReaderTest, WithoutRoomForThemTheyAreOversize) {
  open();
  const int on = 1;
  ASSERT_EQ(::setsockopt(sender_.get(), SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on), 0);
  send_super({.payload = 20'000});
  send_super({.payload = 1200, .segment = 700});
  const std::vector<Taken> taken = take_some(3);
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_TRUE(taken[0].packet.oversize);
  EXPECT_FALSE(taken[0].packet.malformed);
  EXPECT_EQ(taken[0].packet.wire_length, 20'066u);
  EXPECT_FALSE(taken[1].packet.oversize) << "what the ring has room for is cut all the same";
  EXPECT_FALSE(taken[2].packet.oversize);
}

/// As a kernel would hand it over that had not looked.
TEST(FrameReader, OneThatLiesIsOnePacketWhichIsMalformed) {
  alignas(TPACKET_ALIGNMENT) std::array<std::byte, 20'000> memory{};
  const SuperFrameText of;
  const std::string text = of.text();
  Offload offload = of.offload();
  offload.segment_bytes = 0;
  auto& frame = *reinterpret_cast<tpacket2_hdr*>(memory.data());
  frame.tp_mac = 128;
  frame.tp_len = frame.tp_snaplen = static_cast<std::uint32_t>(text.size());
  std::memcpy(memory.data() + 128 - sizeof offload, &offload, sizeof offload);
  std::memcpy(memory.data() + 128, text.data(), text.size());
  FrameReader reader;
  test::TestPool pool(1);
  reader.begin(frame, 1522);
  ASSERT_EQ(reader.left(), 1u);
  RxPacket packet;
  reader.next(pool.area(), pool.first(), packet);
  EXPECT_EQ(reader.left(), 0u);
  EXPECT_TRUE(packet.oversize);
  EXPECT_TRUE(packet.malformed);
  EXPECT_EQ(packet.wire_length, text.size());
}

TEST_F(FrameReaderTest, AReaderThatDiesAmidOneIsFollowedByOneThatReadsTheRest) {
  keep(1);
  hold_ = true;
  open_for_super_frames();
  queues_[0]->resume(0);
  const SuperFrameText of{.payload = 30'000};
  send(std::string(10, '\0') + frame(60, 'a'));
  send_super(of);
  send(std::string(10, '\0') + frame(60, 'z'));
  std::vector<Taken> first;
  const std::uint64_t end = monotonic_ns() + kLong;
  while (first.size() < 12 && monotonic_ns() < end) {
    for (Taken& taken : test::take_all(*queues_[0], pool_, 12 - first.size())) {
      first.push_back(std::move(taken));
    }
  }
  ASSERT_EQ(first.size(), 12u) << "11 of the super-frame's 30";
  for (const std::size_t sealed : {0u, 7u, 12u}) {  // a reader each
    if (sealed != 0) seal(0, first[sealed - 1].packet.ordinal + 1);
    replace_reader(0);
    const std::vector<Taken> again = take_some(sealed == 0 ? 32 : 31);
    // Of a frame that is not sealed as a whole all packets come, under the ordinals that they had.
    const std::size_t from = sealed == 0 ? 0 : 1;
    ASSERT_EQ(again.size(), 32 - from) << sealed;
    for (std::size_t i = from; i < first.size(); ++i) {
      EXPECT_EQ(again[i - from].packet.ordinal, first[i].packet.ordinal);
      EXPECT_EQ(again[i - from].bytes, first[i].bytes);
    }
    for (std::size_t i = 1; i < again.size(); ++i) {
      EXPECT_GT(again[i].packet.ordinal, again[i - 1].packet.ordinal);
    }
    EXPECT_EQ(again.back().bytes, frame(60, 'z'));
  }
}

TEST_F(FrameReaderTest, AShareIsNotLeftAmidOne) {
  keep(2);
  hold_ = true;
  open_for_super_frames();
  queues_.clear();
  open({{"super_frames", "true"}, {"ring", "64"}, {"queues_max", "2"}});
  const int on = 1;
  ASSERT_EQ(::setsockopt(sender_.get(), SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on), 0);
  queues_[0]->resume(0);
  send_super({.payload = 30'000});
  std::vector<Taken> taken;
  const std::uint64_t end = monotonic_ns() + kLong;
  while (taken.empty() && monotonic_ns() < end) taken = test::take_all(*queues_[0], pool_, 5);
  ASSERT_FALSE(taken.empty());
  RxShares& shares = *queues_[0]->shares();
  const ShareSet all = shares.read_here();
  ASSERT_TRUE(shares.hold(all));
  seal(0, taken.back().packet.ordinal + 1);
  EXPECT_FALSE(shares.leave(0) && shares.leave(1));
  const std::vector<Taken> rest = take_some(30 - taken.size());
  EXPECT_EQ(rest.size(), 30 - taken.size()) << "what is begun is read to its end";
  seal(0, rest.back().packet.ordinal + 1);
  EXPECT_TRUE(shares.leave(0));
  EXPECT_TRUE(shares.leave(1));
}

}  // namespace
}  // namespace millrace
