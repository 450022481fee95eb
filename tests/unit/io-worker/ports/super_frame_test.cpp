// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/super_frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/io-worker/ports/super_frames.hpp"

namespace millrace {
namespace {

using test::SuperFrameText;

constexpr std::uint32_t kRoom = 1522;

struct Cut {
  SuperFrameIs is;
  std::vector<std::string> packets;
};

Cut cut(const std::string& frame, const Offload& offload, const std::string& tag = {},
        std::uint32_t room = kRoom) {
  SuperFrame super;
  Cut made{
      super.begin(std::as_bytes(std::span(frame)), std::as_bytes(std::span(tag)), offload, room),
      {}};
  while (super.left() != 0) {
    std::string packet(room + 100, '#');
    const std::uint32_t bytes = super.write_next(reinterpret_cast<std::byte*>(packet.data()));
    EXPECT_LE(bytes, room);
    EXPECT_EQ(packet.substr(bytes), std::string(packet.size() - bytes, '#')) << "written behind it";
    made.packets.push_back(packet.substr(0, bytes));
  }
  return made;
}

/// What the packet has to be, put together field by field; checksums are zero in both.
std::string expected(const SuperFrameText& of, std::size_t number, std::size_t count) {
  const std::string whole = of.text();
  const std::size_t begin = number * of.segment;
  std::string text =
      whole.substr(0, of.head()) + whole.substr(of.head() + begin).substr(0, of.segment);
  const std::size_t transport = of.transport();
  SuperFrameText::put16(text, of.ipv6 ? 18 : 16, text.size() - (of.ipv6 ? transport : 14));
  if (!of.ipv6) SuperFrameText::put16(text, 18, of.id + number);
  if (!of.ipv6) SuperFrameText::put16(text, 24, 0);
  if (of.tcp) {
    std::uint32_t sequence = 0;
    for (int i = 4; i < 8; ++i) {
      sequence = sequence << 8 | static_cast<unsigned char>(text[transport + i]);
    }
    sequence += static_cast<std::uint32_t>(begin);
    SuperFrameText::put16(text, transport + 4, sequence >> 16);
    SuperFrameText::put16(text, transport + 6, sequence);
    char& flags = text[transport + 13];
    if (number + 1 != count) flags &= '\xf6';  // neither FIN nor PSH
    if (number != 0) flags &= '\x7f';          // no CWR
  } else {
    SuperFrameText::put16(text, transport + 4, text.size() - transport);
  }
  SuperFrameText::put16(text, transport + (of.tcp ? 16 : 6), 0);
  return text;
}

void expect_cut_right(const SuperFrameText& of) {
  const Cut made = cut(of.text(), of.offload());
  ASSERT_EQ(made.is, SuperFrameIs::kGood);
  ASSERT_EQ(made.packets.size(), (of.payload + of.segment - 1) / of.segment);
  for (std::size_t i = 0; i < made.packets.size(); ++i) {
    std::string packet = made.packets[i];
    const std::size_t transport = of.transport();
    EXPECT_EQ(SuperFrameText::sum(packet, transport, packet.size(),
                                  of.pseudo(packet, packet.size() - transport)),
              0xffff);
    if (!of.ipv6) {
      EXPECT_EQ(SuperFrameText::sum(packet, 14, 34, 0), 0xffff);
      SuperFrameText::put16(packet, 24, 0);
    }
    SuperFrameText::put16(packet, transport + (of.tcp ? 16 : 6), 0);
    ASSERT_EQ(packet, expected(of, i, made.packets.size())) << "packet " << i;
  }
}

TEST(SuperFrame, IsCutIntoThePacketsThatItStandsFor) {
  for (const bool ipv6 : {false, true}) {
    for (const bool tcp : {false, true}) {
      for (const std::size_t payload : {1u, 999u, 1000u, 1001u, 2000u, 65'000u}) {
        for (const std::size_t options : {0u, 12u, 40u}) {
          for (const char flags : {'\x10', '\x19', '\xd8'}) {
            expect_cut_right({.ipv6 = ipv6,
                              .tcp = tcp,
                              .option_bytes = options,
                              .payload = payload,
                              .flags = flags});
          }
        }
      }
    }
  }
  expect_cut_right({.payload = 300, .segment = 1});
  expect_cut_right({.payload = 65'535 - 20 - 32, .segment = 1448});  // the longest of IPv4
}

TEST(SuperFrame, ATagBelongsIntoEveryPacket) {
  const SuperFrameText of;
  const std::string tag("\x81\x00\x00\x07", 4);
  const Cut bare = cut(of.text(), of.offload());
  const Cut tagged = cut(of.text(), of.offload(), tag);
  ASSERT_EQ(tagged.packets.size(), bare.packets.size());
  for (std::size_t i = 0; i < bare.packets.size(); ++i) {
    EXPECT_EQ(tagged.packets[i], std::string(bare.packets[i]).insert(12, tag));
  }
  std::string inside = of.text().insert(12, tag);
  Offload offload = of.offload();
  offload.checksum_start += 4;
  EXPECT_EQ(cut(inside, offload).packets, tagged.packets);
}

TEST(SuperFrame, AChecksumThatNobodyWantsStaysOut) {
  const SuperFrameText of{.tcp = false};
  std::string text = of.text();
  SuperFrameText::put16(text, of.transport() + 6, 0);
  Offload offload = of.offload();
  offload.flags = 0;
  for (const std::string& packet : cut(text, offload).packets) {
    EXPECT_EQ(packet.substr(of.transport() + 6, 2), std::string(2, '\0'));
  }
}

TEST(SuperFrame, OneThatLiesIsMalformed) {
  const SuperFrameText of;
  const SuperFrameText udp{.tcp = false};
  const auto is = [](std::string text, Offload offload) { return cut(text, offload).is; };
  const auto with = [](Offload offload, auto field, auto value) {
    offload.*field = value;
    return offload;
  };
  const auto changed = [](std::string text, std::size_t at, char value) {
    text[at] = value;
    return text;
  };
  using enum SuperFrameIs;
  EXPECT_EQ(is(of.text(), with(of.offload(), &Offload::segment_bytes, 0)), kMalformed);
  EXPECT_EQ(is(of.text(), with(of.offload(), &Offload::checksum_start, 65'000)), kMalformed);
  EXPECT_EQ(is(of.text(), with(of.offload(), &Offload::checksum_offset, 6)), kMalformed);
  EXPECT_EQ(is(of.text() + "x", of.offload()), kMalformed) << "longer than it says";
  EXPECT_EQ(is(of.text().substr(0, 5000), of.offload()), kMalformed) << "shorter";
  EXPECT_EQ(is(changed(of.text(), 14, '\x44'), of.offload()), kMalformed) << "half an IP header";
  EXPECT_EQ(is(changed(of.text(), of.transport() + 12, '\x40'), of.offload()), kMalformed);
  EXPECT_EQ(is(changed(udp.text(), udp.transport() + 5, 0), udp.offload()), kMalformed);
  const SuperFrameText empty{.payload = 0};
  EXPECT_EQ(is(empty.text(), empty.offload()), kMalformed);
  for (std::size_t size = 14; size < of.head(); ++size) {
    EXPECT_EQ(is(of.text().substr(0, size), of.offload()), kMalformed) << size;
  }
}

TEST(SuperFrame, WhatCannotBeCutIsSaid) {
  const SuperFrameText of;
  Offload offload = of.offload();
  offload.checksum_start += 28;  // of the packet that another one carries
  EXPECT_EQ(cut(of.text(), offload).is, SuperFrameIs::kUnknown);
  for (const std::uint8_t type : {3, 4, 5, 9}) {
    offload = of.offload();
    offload.segment_type = type;
    EXPECT_EQ(cut(of.text(), offload).is, SuperFrameIs::kUnknown) << int{type};
  }
  EXPECT_EQ(cut(of.text(), of.offload(), {}, of.head() + 999).is, SuperFrameIs::kUnknown);
  EXPECT_EQ(cut(of.text(), of.offload(), {}, of.head() + 1000).is, SuperFrameIs::kGood);
  std::string fragment = of.text();
  fragment[20] = 0x20;
  EXPECT_EQ(cut(fragment, of.offload()).is, SuperFrameIs::kUnknown);
  std::string arp = of.text();
  arp[13] = 6;
  EXPECT_EQ(cut(arp, of.offload()).is, SuperFrameIs::kUnknown);
}

TEST(SuperFrame, WhateverIsInItNothingIsReadOrWrittenBeyond) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    const SuperFrameText of{
        .ipv6 = random() % 2 == 0, .tcp = random() % 2 == 0, .payload = random() % 3000};
    std::string text = of.text().substr(0, random() % 2 == 0 ? random() % 200 : std::string::npos);
    Offload offload = of.offload();
    for (int i = 0; i < 3; ++i) {
      if (!text.empty()) text[random() % std::min<std::size_t>(text.size(), 90)] ^= random();
      reinterpret_cast<std::uint8_t*>(&offload)[random() % sizeof offload] ^= random();
    }
    text.shrink_to_fit();
    cut(text, offload, random() % 2 == 0 ? "" : "tag!");
  }
}

}  // namespace
}  // namespace millrace
