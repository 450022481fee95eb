// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/version_change.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ipv6_fragments.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "tests/unit/services/functions/nat64/version_frames.hpp"

namespace millrace::nat64_test {
namespace {

TEST(VersionChange, MakesOfAPacketWhatScapyBuildsForTheOtherVersion) {
  const std::vector<Case> cases = golden_cases();
  ASSERT_GT(cases.size(), 40u);
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    Frame frame = one.before;
    bool splits = false;
    const Changed changed = change_frame(frame, tuple_of(one.before), &splits);
    EXPECT_FALSE(splits);
    const char* const kWhy[] = {"", "malformed", "unknown"};
    EXPECT_EQ(kWhy[static_cast<int>(changed)], one.why);
    EXPECT_EQ(hex_of_bytes(frame), hex_of_bytes(one.why.empty() ? one.after : one.before));
  }
}

TEST(VersionChange, WhatRoutersOfIpv4MightCutLeavesInTheFragmentsOfScapy) {
  const std::vector<Case> cases = golden_cases(true);
  ASSERT_GT(cases.size(), 7u);
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    Frame frame = one.before;
    bool splits = false;
    ASSERT_EQ(change_frame(frame, tuple_of(one.before), &splits), Changed::kDone);
    EXPECT_TRUE(splits);
    const std::span<const std::byte> ip(frame.begin() + 14, frame.end());
    const Ipv6Fragments fragments(ip, ipv6_wire::kMtuMin, 0);
    ASSERT_EQ(fragments.count(), one.parts.size());
    for (std::uint32_t i = 0; i < fragments.count(); ++i) {
      Frame part(frame.begin(), frame.begin() + 14);
      part.resize(14 + ipv6_wire::kMtuMin);
      part.resize(14 + fragments.write(i, std::span(part).subspan(14)));
      EXPECT_EQ(hex_of_bytes(part), hex_of_bytes(one.parts[i]));
    }
  }
}

TEST(VersionChange, PaddingBehindThePacketGoes) {
  for (const Case& one : golden_cases()) {
    if (!one.why.empty()) continue;
    SCOPED_TRACE(one.name);
    Frame frame = one.before;
    frame.resize(frame.size() + 9, std::byte{0xee});
    EXPECT_EQ(change_frame(frame, tuple_of(one.before)), Changed::kDone);
    EXPECT_EQ(frame, one.after);
  }
}

TEST(VersionChange, AWrongChecksumStaysWrong) {
  for (const Case& one : golden_cases()) {
    const PacketHeaders headers = parse_headers(one.before);
    if (!one.why.empty() || is_error(one.before) || headers.payload_offset == 0) continue;
    if (headers.fragment || one.name.starts_with("UDP without")) continue;
    SCOPED_TRACE(one.name);
    Frame frame = one.before, right = one.after;
    frame.back() ^= std::byte{0x55};  // of the data, or of the sequence number of an echo
    right.back() ^= std::byte{0x55};
    EXPECT_EQ(change_frame(frame, tuple_of(one.before)), Changed::kDone);
    EXPECT_EQ(frame, right);
  }
}

TEST(VersionChange, AnythingIsTranslatedOrLeftAsItIs) {
  const std::vector<Case> cases = golden_cases();
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const Case& one = cases[random() % cases.size()];
    Frame frame = one.before;
    for (unsigned i = random() % 4; i < 4; ++i) {
      frame[14 + random() % (frame.size() - 14)] = static_cast<std::byte>(random());
    }
    frame.resize(random() % 3 == 0 ? random() % (frame.size() + 1) : frame.size());
    const Frame before = frame;
    const Changed changed = change_frame(frame, tuple_of(one.before));
    if (changed != Changed::kDone) {
      EXPECT_EQ(frame, before);
      continue;
    }
    EXPECT_LE(frame.size(), before.size() + NewFront::kGrowthMax);
    const PacketHeaders headers = parse_headers(frame);
    EXPECT_EQ(headers.ip_version, tuple_of(one.before).version == 4 ? 6 : 4);
    EXPECT_EQ(headers.payload_end, frame.size());
  }
}

TEST(VersionChange, AnExtensionBehindAQuoteIsCut) {  // RFC 4884
  const auto cases = golden_cases();
  const Case& one = *std::ranges::find(cases, "host unreachable", &Case::name);
  Frame frame = one.before;
  const std::size_t message = 14 + 20;
  frame.resize(message + 8 + 128, std::byte{0});  // the quote, padded to 128
  frame.resize(frame.size() + 8, std::byte{0x20});
  wire_bytes::put8(frame, message + 5, 128 / 4);
  wire_bytes::put16(frame, message + 2, 0);
  wire_bytes::put16(frame, message + 2,
                    internet_checksum(std::span<const std::byte>(frame).subspan(message)));
  const auto header = std::span(frame).subspan(14, 20);
  wire_bytes::put16(header, 2, static_cast<std::uint16_t>(frame.size() - 14));
  wire_bytes::put16(header, 10, 0);
  wire_bytes::put16(header, 10, internet_checksum(header));
  ASSERT_EQ(change_frame(frame, tuple_of(one.before)), Changed::kDone);
  EXPECT_EQ(frame.size(), 14u + 40 + 8 + 20 + 128);
}

}  // namespace
}  // namespace millrace::nat64_test
