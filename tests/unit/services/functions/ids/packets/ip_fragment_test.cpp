// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packets/ip_fragment.hpp"

#include <gtest/gtest.h>

#include "shared/packet/ip_header_checksum.hpp"
#include "shared/packet/ipv4_fragments.hpp"
#include "shared/packet/ipv6_fragments.hpp"
#include "tests/unit/services/functions/ids/packets/fragment_frames.hpp"

namespace millrace {
namespace {

std::vector<std::byte> whole_of(const IpFragment& first, std::span<const std::byte> data) {
  std::vector<std::byte> whole;
  EXPECT_TRUE(append_datagram_headers(first.front, data.size(), whole));
  whole.insert(whole.end(), data.begin(), data.end());
  return whole;
}

/// The tree's own cutters of datagrams, and what is put together by hand.
template <typename Fragments>
void expect_same_again(const Frame& frame, Fragments fragments) {
  const std::span<const std::byte> packet = std::span(frame).subspan(kIpAt);
  std::vector<std::byte> data;
  std::vector<Frame> kept;
  ASSERT_GT(fragments.count(), 2u);
  for (std::uint32_t number = 0; number < fragments.count(); ++number) {
    Frame& made = kept.emplace_back(frame.begin(), frame.begin() + kIpAt);
    made.resize(kIpAt + 600);
    made.resize(kIpAt + fragments.write(number, std::span(made).subspan(kIpAt)));
    const auto fragment = ip_fragment(made, parse_headers(made), 3);
    ASSERT_TRUE(fragment);
    EXPECT_EQ(fragment->at, data.size());
    EXPECT_EQ(fragment->more, number + 1 < fragments.count());
    EXPECT_EQ(fragment->key.zone, 3);
    EXPECT_TRUE(has_good_ip_checksum(made, parse_headers(made)));
    data.insert(data.end(), fragment->data.begin(), fragment->data.end());
    EXPECT_EQ(fragment->end(), data.size());
  }
  const auto first = ip_fragment(kept[0], parse_headers(kept[0]), 3);
  EXPECT_EQ(whole_of(*first, data), std::vector<std::byte>(packet.begin(), packet.end()));
}

TEST(IpFragment, OfEitherVersionGivesTheDatagramBack) {
  std::mt19937 random(3);
  Frame frame = udp_frame(random_text(random, 1700));
  wire_bytes::put16(frame, kIpAt + 6, 0);  // it may be cut
  put_ip_checksum(frame);
  expect_same_again(frame, Ipv4Fragments(std::span(frame).subspan(kIpAt), 576));
  const Frame other = udp_frame(random_text(random, 1700), true);
  expect_same_again(other, Ipv6Fragments(std::span(other).subspan(kIpAt), 576, 99));
}

TEST(IpFragment, HasAKeyOfItsDatagramAlone) {
  const Frame frame = udp_frame("0123456789abcdefgh");
  const auto key = [](const Frame& made) { return ip_fragment(made, parse_headers(made), 0)->key; };
  const auto fragments = fragments_of(frame, 8);
  EXPECT_EQ(key(fragments[0]), key(fragments[2]));
  EXPECT_NE(key(fragments[0]), key(fragments_of(frame, 8, 8)[0]));
  Frame other = fragments[0];
  other[kIpAt + 9] = std::byte{1};
  EXPECT_NE(key(fragments[0]), key(other));
}

/// Behind other extension headers, and where a fragment header makes no fragment.
TEST(IpFragment, IsFoundBehindExtensionHeaders) {
  const Frame frame = FrameBuilder()
                          .ipv6(60, 16 + 8 + 8 + 16)
                          .extension(44, 16)
                          .fragment(44, 0, false)
                          .fragment(17, 64, true)
                          .padding(16)
                          .build();
  const auto fragment = ip_fragment(frame, parse_headers(frame), 0);
  ASSERT_TRUE(fragment);
  EXPECT_EQ(fragment->at, 64u);
  EXPECT_EQ(fragment->data.size(), 16u);
  const std::vector<std::byte> whole = whole_of(*fragment, fragment->data);
  const PacketHeaders headers = parse_ip_headers(whole);
  EXPECT_FALSE(headers.fragment);
  EXPECT_EQ(headers.protocol, 17);
  EXPECT_EQ(headers.transport_offset, 40 + 16 + 8);
  EXPECT_EQ(headers.payload_end, whole.size());
}

TEST(IpFragment, ThatIsCutIsNone) {
  for (const bool is_ipv6 : {false, true}) {
    const Frame frame = fragments_of(udp_frame("0123456789abcdefgh", is_ipv6), 16)[0];
    for (std::size_t bytes = kIpAt + 20; bytes < frame.size(); ++bytes) {
      const Frame cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes));
      const PacketHeaders headers = parse_headers(cut);
      if (headers.ip_version == 0) continue;
      EXPECT_FALSE(ip_fragment(cut, headers, 0)) << bytes;
    }
  }
}

TEST(IpFragment, TheLongestDatagramIsSixtyFourKilobytes) {
  std::vector<std::byte> whole;
  const Frame first = fragments_of(udp_frame("0123456789abcdefgh"), 8)[0];
  const auto fragment = ip_fragment(first, parse_headers(first), 0);
  EXPECT_TRUE(append_datagram_headers(fragment->front, 65'515, whole));
  EXPECT_FALSE(append_datagram_headers(fragment->front, 65'516, whole));
}

TEST(IpFragment, AWrongChecksumIsSeen) {
  Frame frame = udp_frame("text");
  EXPECT_TRUE(has_good_ip_checksum(frame, parse_headers(frame)));
  frame[kIpAt + 8] = std::byte{3};
  EXPECT_FALSE(has_good_ip_checksum(frame, parse_headers(frame)));
  const Frame other = udp_frame("text", true);
  EXPECT_TRUE(has_good_ip_checksum(other, parse_headers(other)));
}

}  // namespace
}  // namespace millrace
