// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/seen_view.hpp"

#include <gtest/gtest.h>

#include <string>

#include "shared/layout/payload_hint.hpp"
#include "tests/unit/services/functions/packet_call.hpp"
#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kLiterals = 77;

/// A packet of a batch whose hint says that it is clean.
struct SeenCase {
  explicit SeenCase(const Frame& frame) : call({frame}) {
    seen.frame = call.batch.bytes(0);
    seen.headers = parse_headers(seen.frame);
    begin_hint(*call.batch.header, kLiterals);
    hint_clean(*call.batch.header, 0);
  }
  bool is_hinted(std::uint32_t literals = kLiterals) {
    const PacketView view = view_of(call.context(), seen);
    return is_hinted_clean(call.context(), seen, view, literals);
  }
  PacketCall call;
  SeenPacket seen;
};

TEST(SeenView, AHintCountsForWholePacketsOfTcpAndUdp) {
  EXPECT_TRUE(SeenCase(frame_of_hex(kUdpFrame)).is_hinted());
  EXPECT_TRUE(SeenCase(frame_of_hex(kTcpWithOptionsFrame)).is_hinted());
  EXPECT_TRUE(SeenCase(frame_of_hex(kUdpBehindOptionsIpv6Frame)).is_hinted());
  EXPECT_FALSE(SeenCase(frame_of_hex(kIcmpFrame)).is_hinted());
  EXPECT_FALSE(SeenCase(frame_of_hex(kFirstFragmentFrame)).is_hinted());
  EXPECT_FALSE(SeenCase(frame_of_hex(kLaterFragmentFrame)).is_hinted());
  EXPECT_FALSE(SeenCase(frame_of_hex(kUdpFrame)).is_hinted(kLiterals + 1));
}

TEST(SeenView, AHintSaysNothingOfWhatAPacketCarries) {
  SeenCase seen(frame_of_hex(kUdpFrame));
  for (const auto layer : {SeenPacket::Layer::kDatagram, SeenPacket::Layer::kCarried}) {
    seen.seen.layer = layer;
    EXPECT_FALSE(seen.is_hinted());
  }
}

TEST(SeenView, AHintIsOfThePortsThatThePacketHas) {
  SeenCase seen(frame_of_hex(kUdpFrame));
  PacketView view = view_of(seen.call.context(), seen.seen);
  EXPECT_TRUE(is_hinted_clean(seen.call.context(), seen.seen, view, kLiterals));
  ++view.tuple.source_port;
  EXPECT_FALSE(is_hinted_clean(seen.call.context(), seen.seen, view, kLiterals));
}

TEST(SeenView, ATextThatEndsWithThePayloadIsNewOfIt) {
  const auto is_of = [](const std::string& payload, const std::string& text, std::uint32_t carry) {
    StreamReader::Offer offer;
    offer.text = std::as_bytes(std::span(text));
    offer.carry = carry;
    return ends_with_new_of(std::as_bytes(std::span(payload)), offer);
  };
  EXPECT_TRUE(is_of("new", "old new", 4));
  EXPECT_TRUE(is_of("old new", "old new", 0));
  EXPECT_TRUE(is_of("again new", "before new", 7));  // some of it was there before
  EXPECT_TRUE(is_of("new", "old", 3));
  EXPECT_FALSE(is_of("new", "old new and what has waited", 4));
  EXPECT_FALSE(is_of("new", "old NEW", 4));
  EXPECT_FALSE(is_of("", "a", 0));
}

TEST(SeenView, AViewHasTheEndsOfThePacket) {
  SeenCase seen(frame_of_hex(kUdpFrame));
  EXPECT_FALSE(is_of_batch(seen.seen));
  const PacketView view = view_of(seen.call.context(), seen.seen);
  EXPECT_EQ(view.tuple.source_port, 5000);
  EXPECT_EQ(view.tuple.destination_port, 53);
  EXPECT_EQ(view.frame.data(), seen.seen.frame.data());
  EXPECT_TRUE(view.payload.empty());
  EXPECT_FALSE(view.is_clean);
  seen.seen.has_flow = true;
  EXPECT_TRUE(is_of_batch(seen.seen));
  seen.seen.layer = SeenPacket::Layer::kCarried;
  EXPECT_FALSE(is_of_batch(seen.seen));
}

TEST(SeenView, APacketWithAFlowHasADirection) {
  SeenCase seen(frame_of_hex(kUdpFrame));
  EXPECT_EQ(direction_of(seen.seen), FlowDirection::kUnknown);
  seen.seen.has_flow = true;
  EXPECT_EQ(direction_of(seen.seen), FlowDirection::kToServer);
  seen.seen.flow.direction = 1;
  EXPECT_EQ(direction_of(seen.seen), FlowDirection::kToClient);
}

TEST(SeenView, ASynBeginsASideOfAConnection) {
  EXPECT_TRUE(begins_connection(SeenCase(segment(false, kSyn, 1, 0)).seen));
  EXPECT_TRUE(begins_connection(SeenCase(segment(true, kSyn | kAck, 1, 2)).seen));
  EXPECT_FALSE(begins_connection(SeenCase(segment(false, kAck, 1, 2)).seen));
}

TEST(SeenView, ASegmentIsOfThePacketsFlow) {
  SeenCase seen(segment(false, kAck, 1, 2, "data"));
  OverlapPolicies overlaps;
  overlaps.add("solaris");
  const FlowTuple tuple{.source_port = 7, .version = 4};
  seen.seen.flow.flow = kNoFlow;
  const TcpStreams::Segment without = segment_of(seen.call.context(), seen.seen, overlaps);
  EXPECT_EQ(without.tuple, nullptr);
  EXPECT_EQ(without.overlaps, OverlapPolicy::kNone);
  seen.seen.tuple = &tuple;
  const TcpStreams::Segment segment = segment_of(seen.call.context(), seen.seen, overlaps);
  EXPECT_EQ(segment.tuple, &tuple);
  EXPECT_EQ(segment.frame.data(), seen.seen.frame.data());
  EXPECT_EQ(segment.overlaps, OverlapPolicy::kSolaris);
}

}  // namespace
}  // namespace millrace
