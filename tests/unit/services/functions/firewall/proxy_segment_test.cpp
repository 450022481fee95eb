// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/proxy_segment.hpp"

#include <gtest/gtest.h>

#include "shared/packet/tcp_wire.hpp"
#include "tests/unit/services/functions/firewall/tcp_frames.hpp"

namespace millrace {
namespace {

using tcp_wire::kFin, tcp_wire::kSyn, tcp_wire::kReset, tcp_wire::kAck;

TEST(ProxySegment, ReadsWholeSegmentsAlone) {
  const Frame frame = tcp_frame({.sequence = 1, .acknowledgment = 2, .flags = "SA"}, true);
  const auto read = read_proxy_segment(frame, parse_headers(frame));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->sequence, 1u);
  EXPECT_EQ(read->acknowledgment, 2u);
  EXPECT_EQ(read->flags & (kFin | kSyn | kReset | kAck), kSyn | kAck);
  for (const Frame& other :
       {Frame(frame.begin(), frame.begin() + 50), FrameBuilder().ipv4(17, 8).udp(0).build(),
        FrameBuilder().ipv4(6, 20, 20, 0x2000).tcp(5).build(),
        FrameBuilder().type(0x806).build()}) {
    EXPECT_FALSE(read_proxy_segment(other, parse_headers(other)));
  }
}

TEST(ProxySegment, AnswersWhatASingleHostHasSent) {
  for (const bool is_ipv6 : {false, true}) {
    const Frame frame = tcp_frame({.flags = "S", .data = 3}, true, 7, is_ipv6);
    const auto may = [](const Frame& one) { return may_answer_segment(one, parse_headers(one)); };
    EXPECT_TRUE(may(frame));
    Frame group = frame;
    group[0] |= std::byte{1};
    EXPECT_FALSE(may(group));
    Frame broken = frame;
    broken.back() ^= std::byte{1};
    EXPECT_FALSE(may(broken));
  }
  Frame loopback = tcp_frame({.flags = "S"}, true);
  loopback[26] = std::byte{127};
  EXPECT_FALSE(may_answer_segment(loopback, parse_headers(loopback)));
}

TEST(ProxySegment, MakesAFrameOnOrBackWithItsTags) {
  const Segment wanted{.sequence = 5,
                       .acknowledgment = 6,
                       .flags = "SA",
                       .window = 7,
                       .options = syn_options(8, 9, 3)};
  const ProxySegment made{
      .sequence = 5,
      .acknowledgment = 6,
      .window = 7,
      .flags = kSyn | kAck,
      .options = {
          .mss = 1460, .scale = 4, .may_sack = true, .has_timestamp = true, .value = 8, .echo = 9}};
  for (const bool is_ipv6 : {false, true}) {
    for (const bool back : {false, true}) {
      const Frame plain = tcp_frame({.flags = "A", .data = 33}, true, 7, is_ipv6);
      Frame tagged = plain;
      const Frame tag = {std::byte{0x81}, std::byte{0}, std::byte{0}, std::byte{5}};
      tagged.insert(tagged.begin() + 12, tag.begin(), tag.end());
      const ProxyFrame out = make_proxy_frame(tagged, parse_headers(tagged),
                                              back ? ProxyWay::kBack : ProxyWay::kOn, made);
      Frame bytes(out.bytes().begin(), out.bytes().end());
      EXPECT_TRUE(std::equal(tag.begin(), tag.end(), bytes.begin() + 12));
      bytes.erase(bytes.begin() + 12, bytes.begin() + 16);
      EXPECT_EQ(segment_in(bytes), wanted);
      const Frame like = back ? reversed(plain, parse_headers(plain)) : plain;
      EXPECT_TRUE(std::equal(like.begin(), like.begin() + 14, bytes.begin()));
      const long addresses = is_ipv6 ? 22 : 26, ports_end = is_ipv6 ? 58 : 38;
      EXPECT_TRUE(std::equal(like.begin() + addresses, like.begin() + ports_end,
                             bytes.begin() + addresses));
    }
  }
}

TEST(ProxySegment, ChecksumsFollowChangesAtAnyPlace) {
  Frame frame = tcp_frame({.sequence = 1, .flags = "A", .options = timestamp_option(3, 4)}, true);
  const std::span<std::byte> segment = std::span(frame).subspan(34);
  for (std::size_t at : {std::size_t{4}, std::size_t{8}, std::size_t{24}, std::size_t{27}}) {
    change_segment_u32(segment, at, 0xfffe'0102);
    EXPECT_EQ(segment_in(frame).flags, "A") << at;
  }
  change_segment_window(segment, 0xffff);
  EXPECT_EQ(segment_in(frame).flags, "A");
  EXPECT_EQ(segment_in(frame).window, 0xffffu);
}

}  // namespace
}  // namespace millrace
