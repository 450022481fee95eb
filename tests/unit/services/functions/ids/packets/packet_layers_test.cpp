// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packets/packet_layers.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/ids_stage.hpp"
#include "tests/unit/services/functions/ids/packets/tunnel_frames.hpp"

namespace millrace {
namespace {

using PacketLayersTest = IdsStage;

constexpr char kUdpWord[] = "drop udp any any -> any 53 (content:\"forbidden\"; sid:1;)\n";
constexpr char kTcpWord[] =
    "drop tcp any any -> any 80 (flow:established,to_server; content:\"forbidden\"; sid:1;)\n";

std::string long_text(std::string_view word) {
  return std::string(1470, 'x') + std::string(word) + std::string(2500, 'y');
}

TEST_F(PacketLayersTest, TheFragmentThatCompletesAWordIsDropped) {
  use(kUdpWord);
  for (const bool is_ipv6 : {false, true}) {
    auto frames = fragments_of(udp_frame(long_text("forbidden"), is_ipv6), 1480);
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(send(frames), (std::vector{kPasses, kPasses, kByRule}));
    EXPECT_EQ(send(frames[2]), kConflict);  // nor when it comes again
    frames = fragments_of(udp_frame(long_text("harmless"), is_ipv6), 1480, 8);
    EXPECT_EQ(send({frames[2], frames[0], frames[1]}), (std::vector(3, kPasses)));
  }
  EXPECT_EQ(hits(0), 2u);
  EXPECT_EQ(hits(IdsCounter::kDatagram), 4u);
  EXPECT_EQ(hits(IdsCounter::kHidden), 2u);
}

TEST_F(PacketLayersTest, ADiedWorkersFragmentsAreThereStill) {
  use(kUdpWord);
  const auto frames = fragments_of(udp_frame(long_text("forbidden")), 1480);
  EXPECT_EQ(send(frames[1]), kPasses);
  EXPECT_EQ(send(frames[0]), kPasses);
  EXPECT_EQ(send(frames[2]), kByRule);
  die();
  EXPECT_EQ(send(frames[2]), kByRule);
}

TEST_F(PacketLayersTest, OverlapsAreDropped) {
  use(kUdpWord);
  const Frame dirty = udp_frame(long_text("forbidden")), clean = udp_frame(long_text("harmless!"));
  EXPECT_EQ(send(cut_of(clean, {0, 1480, true}, 7)), kPasses);
  EXPECT_EQ(send(cut_of(dirty, {1472, 2960, true}, 7)), kConflict);
  EXPECT_EQ(send(cut_of(clean, {1480, 2960, true}, 7)), kConflict);
}

TEST_F(PacketLayersTest, AFirstFragmentWithoutItsPortsIsDropped) {
  use(kUdpWord);
  const Frame frame = segment(false, kAck, 1, 1, "0123456789");
  EXPECT_EQ(send(cut_of(frame, {0, 8, true}, 7)), kConflict);
  EXPECT_EQ(hits(IdsCounter::kHidden), 1u);
}

TEST_F(PacketLayersTest, AWrongHeaderChecksumIsOfNoDatagram) {
  use(kUdpWord);
  const auto frames = fragments_of(udp_frame(long_text("forbidden")), 1480);
  Frame bad = frames[0];
  bad[kIpAt + 10] ^= std::byte{1};
  EXPECT_EQ(send(bad), kConflict);
  EXPECT_EQ(send({frames[0], frames[1], frames[2]}), (std::vector{kPasses, kPasses, kByRule}));
}

TEST_F(PacketLayersTest, ASegmentInFragmentsIsReadAsOne) {
  use(kTcpWord);
  open();
  EXPECT_EQ(client("a forb"), kPasses);
  const std::string rest = "idden" + std::string(60, 'z');
  const Frame whole = segment(false, kAck, first_ + 7, kServer + 1, rest);
  EXPECT_EQ(send(fragments_of(whole, 32)), (std::vector{kPasses, kPasses, kByRule}));
  EXPECT_EQ(hits(0), 1u);
}

TEST_F(PacketLayersTest, ASegmentInFragmentsGoesOn) {
  use(kTcpWord);
  open();
  const Frame one = segment(false, kAck, first_ + 1, kServer + 1, std::string(60, 'z') + "forb");
  auto frames = fragments_of(one, 40);
  EXPECT_EQ(send({frames[1], frames[2], frames[0]}), (std::vector(3, kPasses)));
  sent_[0] = 64;
  EXPECT_EQ(client("idden"), kByRule);
  // URG cannot be taken away from what has gone.
  open(40'001);
  const Frame urgent =
      segment(false, kAck | kUrg, first_ + 1, kServer + 1, std::string(60, 'z'), 40'001);
  EXPECT_EQ(send(fragments_of(urgent, 64)), (std::vector{kPasses, kConflict}));
}

/// A first fragment that does not pass names another connection, as of which `flow` sees the rest.
TEST_F(PacketLayersTest, ADatagramIsOfTheFlowOfTheFirstFragmentThatPassed) {
  use(kTcpWord);
  open(40'001);
  open();
  const std::string word = "forbidden" + std::string(60, 'z');
  const Frame whole = segment(false, kAck, first_ + 1, kServer + 1, word);
  const Frame other = segment(false, kAck, first_ + 1, kServer + 1, word, 40'001);
  const auto frames = fragments_of(whole, 32);
  EXPECT_EQ(send(frames[0]), kPasses);
  EXPECT_EQ(send(frames[1]), kPasses);
  EXPECT_EQ(send(cut_of(other, {0, 8, true}, 7)), kConflict);
  EXPECT_EQ(send(frames[2]), kConflict);
  EXPECT_EQ(hits(0), 0u);
}

TEST_F(PacketLayersTest, AnUrgentFlagInATunnelDoesNotPassWithoutDataEither) {
  use(kTcpWord);
  const auto fate = [&](const Frame& frame) { return send(in_tunnel(frame, Tunnel::kGre)); };
  EXPECT_EQ(fate(segment(false, kSyn, 1000, 0)), kPasses);
  EXPECT_EQ(fate(segment(true, kSyn | kAck, 5000, 1001)), kPasses);
  EXPECT_EQ(fate(segment(false, kAck | kUrg, 1001, 5001)), kConflict);
  EXPECT_EQ(fate(segment(false, kAck, 1001, 5001)), kPasses);
}

TEST_F(PacketLayersTest, AnIdsLetsAllFragmentsPass) {
  use(kUdpWord, {{"mode", "ids"}});
  const Frame dirty = udp_frame(long_text("forbidden"));
  EXPECT_EQ(send(fragments_of(dirty, 1480)), (std::vector(3, kPasses)));
  EXPECT_EQ(hits(0), 1u);
  EXPECT_EQ(send(cut_of(dirty, {0, 1480, true}, 9)), kPasses);
  EXPECT_EQ(send(cut_of(udp_frame(long_text("other")), {8, 1480, true}, 9)), kPasses);
  EXPECT_EQ(hits(IdsCounter::kHidden), 1u);
}

TEST_F(PacketLayersTest, PacketsInTunnelsAreLookedAt) {
  use(kUdpWord);
  for (const Tunnel tunnel : kTunnels) {
    for (const bool outer_ipv6 : {false, true}) {
      const bool inner_ipv6 = tunnel == Tunnel::kTeredo;
      const auto fate = [&](std::string_view text) {
        return send(in_tunnel(udp_frame(text, inner_ipv6), tunnel, outer_ipv6));
      };
      EXPECT_EQ(fate("a forbidden word"), kByRule) << static_cast<int>(tunnel);
      EXPECT_EQ(fate("another word"), kPasses) << static_cast<int>(tunnel);
    }
  }
}

TEST_F(PacketLayersTest, TunnelsInTunnelsToADepth) {
  use(kUdpWord);
  Frame frame = udp_frame("forbidden");
  for (std::uint32_t depth = 1; depth < PacketLayers::kLayersMax; ++depth) {
    frame = in_tunnel(frame, Tunnel::kIp, depth % 2 == 0);
    EXPECT_EQ(send(frame), kByRule);
  }
  EXPECT_EQ(send(in_tunnel(frame, Tunnel::kIp)), kConflict);
}

TEST_F(PacketLayersTest, FragmentsOfTunnelsAndInTunnels) {
  use(kUdpWord);
  const auto send_in = [&](Tunnel tunnel, const std::vector<Frame>& frames) {
    std::vector<Frame> made;
    for (const Frame& one : frames) made.push_back(in_tunnel(one, tunnel));
    return send(made);
  };
  const Frame inner = udp_frame(long_text("forbidden"));
  const std::vector wanted{kPasses, kPasses, kByRule};
  EXPECT_EQ(send_in(Tunnel::kGre, fragments_of(inner, 1480)), wanted);
  EXPECT_EQ(send_in(Tunnel::kVxlan, fragments_of(inner, 1480, 8)), wanted);
  EXPECT_EQ(send(fragments_of(in_tunnel(inner, Tunnel::kGre), 1480, 9)), wanted);
  // Pieces of an inner fragment.
  const auto halves = fragments_of(inner, 2000, 10);
  std::vector<Frame> pieces;
  pieces.reserve(4);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const auto id = static_cast<std::uint16_t>(20 + i);
    for (const Frame& piece : fragments_of(in_tunnel(halves[i], Tunnel::kGre), 1200, id)) {
      pieces.push_back(piece);
    }
  }
  ASSERT_EQ(pieces.size(), 4u);
  EXPECT_EQ(send(pieces), (std::vector{kPasses, kPasses, kPasses, kByRule}));
}

TEST_F(PacketLayersTest, StreamsInTunnelsAreRead) {
  use(kTcpWord);
  const auto fate = [&](const Frame& frame) { return send(in_tunnel(frame, Tunnel::kGre)); };
  EXPECT_EQ(fate(segment(false, kSyn, 1000, 0)), kPasses);
  EXPECT_EQ(fate(segment(true, kSyn | kAck, 5000, 1001)), kPasses);
  EXPECT_EQ(fate(segment(false, kAck, 1001, 5001)), kPasses);
  EXPECT_EQ(fate(segment(false, kAck, 1001, 5001, "a forb")), kPasses);
  EXPECT_EQ(fate(segment(false, kAck, 1012, 5001, "behind")), kPasses);  // ahead
  EXPECT_EQ(fate(segment(false, kAck, 1007, 5001, "idden")), kByRule);
  EXPECT_EQ(fate(segment(true, kAck, 5001, 1007, "answer")), kByRule);  // its flow is dropped
  EXPECT_EQ(send(in_tunnel(udp_frame("other"), Tunnel::kGre)), kPasses);
}

TEST_F(PacketLayersTest, APassedTunnelIsLookedInto) {
  use("pass udp any any -> any 4789 (sid:2;)\n" + std::string(kUdpWord));
  EXPECT_EQ(send(in_tunnel(udp_frame("forbidden"), Tunnel::kVxlan)), kByRule);
  EXPECT_EQ(send(in_tunnel(udp_frame("allowed"), Tunnel::kVxlan)), kPasses);
}

TEST_F(PacketLayersTest, ARejectOfACarriedPacketDropsTheOuterOne) {
  use("reject udp any any -> any 53 (content:\"forbidden\"; sid:1;)\n");
  EXPECT_EQ(send(in_tunnel(udp_frame("forbidden"), Tunnel::kGre)), kByRule);
  EXPECT_EQ(hits(IdsCounter::kReset), 0u);
}

}  // namespace
}  // namespace millrace
