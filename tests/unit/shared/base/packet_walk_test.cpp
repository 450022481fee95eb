// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/packet_walk.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {
namespace {

/// A frame that lies in two places, and knows whether anything behind it was asked for.
struct TwoPlaces {
  const std::byte* first;
  const std::byte* rest;
  std::size_t split;
  std::size_t size;
  bool* outside;

  std::uint8_t u8(std::size_t at) const {
    if (at >= size) {
      *outside = true;
      return 0;
    }
    return std::to_integer<std::uint8_t>(at < split ? first[at] : rest[at]);
  }
  std::uint16_t u16(std::size_t at) const {
    return static_cast<std::uint16_t>(u8(at) << 8 | u8(at + 1));
  }
};

TEST(PacketWalk, IsTheSameWhereverTheFrameLies) {
  std::mt19937 random(9);
  for (int i = 0; i < 50'000; ++i) {
    const Frame frame = random_frame(random);
    const std::size_t split = random() % (frame.size() + 1);
    Frame first = frame, rest = frame;
    std::fill(first.begin() + static_cast<std::ptrdiff_t>(split), first.end(), std::byte{0xaa});
    std::fill(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(split), std::byte{0x55});
    bool outside = false;
    const PacketHeaders walked =
        walk_headers(TwoPlaces{first.data(), rest.data(), split, frame.size(), &outside});
    const PacketHeaders parsed = parse_headers(frame);
    ASSERT_FALSE(outside) << "frame " << i;
    EXPECT_EQ(walked.status, parsed.status);
    EXPECT_EQ(walked.protocol, parsed.protocol);
    EXPECT_EQ(walked.network_offset, parsed.network_offset);
    EXPECT_EQ(walked.transport_offset, parsed.transport_offset);
    EXPECT_EQ(walked.payload_offset, parsed.payload_offset);
    EXPECT_EQ(walked.payload_end, parsed.payload_end);
    EXPECT_EQ(walked.fragment, parsed.fragment);
    EXPECT_EQ(walked.fragment_offset, parsed.fragment_offset);
  }
}

}  // namespace
}  // namespace millrace
