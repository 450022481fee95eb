// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/ip_fields.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {
namespace {

std::optional<IpFields> fields_of(const Frame& frame) {
  return read_ip_fields(frame, parse_headers(frame));
}

TEST(IpFields, AreReadOfAFragmentOfEitherVersion) {
  const auto four = fields_of(FrameBuilder().ipv4(17, 40, 24, 0x2005).text("x").build());
  ASSERT_TRUE(four);
  EXPECT_TRUE(four->more && four->has_fragment);
  EXPECT_EQ(four->offset, 5);
  EXPECT_EQ(four->identification, 77u);
  EXPECT_EQ(four->payload_bytes, 40);
  const auto six = fields_of(
      FrameBuilder().ipv6(44, 24).fragment(17, 40, true).text("0123456789abcdef").build());
  ASSERT_TRUE(six);
  EXPECT_TRUE(six->more && six->has_fragment);
  EXPECT_EQ(six->offset, 5);
  EXPECT_EQ(six->identification, 9u);
  EXPECT_EQ(six->payload_bytes, 16);
}

TEST(IpFields, HeadersBehindTheFragmentHeaderOfAPartAreRefused) {
  const auto with = [](bool more) {
    return FrameBuilder().ipv6(44, 24).fragment(60, 0, more).extension(17, 8).udp(0).build();
  };
  EXPECT_FALSE(fields_of(with(true)));
  EXPECT_TRUE(fields_of(with(false)));
}

TEST(IpFields, APacketThatIsTooLongForItsLengthFieldIsRefused) {
  std::array<std::byte, kIpFieldsBytesMax> bytes{};
  const FlowTuple four{.protocol = 17, .version = 4}, six{.protocol = 17, .version = 6};
  EXPECT_TRUE(write_ip_fields(bytes, {.payload_bytes = 65515}, four, 0));
  EXPECT_FALSE(write_ip_fields(bytes, {.payload_bytes = 65516}, four, 0));
  EXPECT_TRUE(write_ip_fields(bytes, {.payload_bytes = 65535}, six, 0));
  EXPECT_FALSE(write_ip_fields(bytes, {.more = true, .payload_bytes = 65528}, six, 0));
}

}  // namespace
}  // namespace millrace
