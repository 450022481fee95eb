// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/segment_run.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "io-worker/ports/checksum.hpp"
#include "tests/unit/io-worker/ports/super_frames.hpp"

namespace millrace {
namespace {

using test::SuperFrameText;
using Packets = std::vector<std::string>;

Packets cut_again(const std::string& frame, const Offload& offload) {
  SuperFrame super;
  EXPECT_EQ(super.begin(std::as_bytes(std::span(frame)), {}, offload, 9000), SuperFrameIs::kGood);
  Packets packets;
  while (super.left() != 0) {
    std::string packet(9000, '\0');
    packet.resize(super.write_next(reinterpret_cast<std::byte*>(packet.data())));
    packets.push_back(packet);
  }
  return packets;
}

Packets cut_again(const SuperFrameText& of) { return cut_again(of.text(), of.offload()); }

/// How many of them make one; cut again these are what they were.
std::size_t found(const Packets& packets) {
  std::vector<TxPacket> sent;
  for (const std::string& packet : packets) {
    sent.push_back({.bytes = std::as_bytes(std::span(packet)),
                    .wire_length = static_cast<std::uint32_t>(packet.size())});
  }
  SegmentRun run;
  const std::uint32_t count = run.find(sent);
  if (count < 2) return count;
  std::string whole(reinterpret_cast<const char*>(run.head().data()), run.head().size());
  for (std::size_t i = 0; i < count; ++i) whole += packets[i].substr(run.head().size());
  EXPECT_LE(whole.size(), 65'535u + 14);
  EXPECT_EQ(cut_again(whole, run.offload()), Packets(packets.begin(), packets.begin() + count));
  return count;
}

/// With right checksums again.
void mend(std::string& packet, const SuperFrameText& of) {
  const std::size_t transport = of.transport();
  const auto bytes = std::as_writable_bytes(std::span(packet));
  if (!of.ipv6) {
    SuperFrameText::put16(packet, 24, 0);
    complete_checksum(bytes.first(transport), 14, 10);
  }
  SuperFrameText::put16(packet, transport + 16, of.pseudo(packet, packet.size() - transport));
  complete_checksum(bytes, transport, 16);
}

TEST(SegmentRun, PacketsOfASuperFrameMakeItAgain) {
  for (const bool ipv6 : {false, true}) {
    for (const std::size_t options : {0u, 12u, 40u}) {
      for (const std::size_t payload : {1001u, 2000u, 10'500u, 60'000u}) {
        for (const char flags : {'\x10', '\x18'}) {
          const SuperFrameText of{
              .ipv6 = ipv6, .option_bytes = options, .payload = payload, .flags = flags};
          const Packets packets = cut_again(of);
          EXPECT_EQ(found(packets), packets.size());
        }
      }
    }
  }
}

TEST(SegmentRun, ItEndsWhereASuperFrameHasToEnd) {
  EXPECT_EQ(found({}), 0u);
  const SuperFrameText of{.payload = 10'500};
  Packets packets = cut_again(of);
  EXPECT_EQ(found({packets[0]}), 1u);
  packets.push_back(packets.back());
  EXPECT_EQ(found(packets), 11u) << "behind a shorter one";
  const Packets again = cut_again(of);
  packets = {again[0], again[1], again[3], again[4]};
  EXPECT_EQ(found(packets), 2u) << "one is missing";
  packets = {again[1], again[0], again[2]};
  EXPECT_EQ(found(packets), 1u) << "out of turn";
  SuperFrameText long_one{.payload = 64'000};
  packets = cut_again(long_one);
  long_one.id = static_cast<std::uint16_t>(long_one.id + 64);
  for (std::string more : cut_again(long_one)) {  // 64 more that follow
    const std::size_t sequence = long_one.transport() + 4;
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(more[sequence + i]);
    SuperFrameText::put16(more, sequence, (value + 64'000) >> 16);
    SuperFrameText::put16(more, sequence + 2, value + 64'000);
    mend(more, long_one);
    packets.push_back(more);
  }
  packets[63][long_one.transport() + 13] = '\x10';  // no PSH
  mend(packets[63], long_one);
  const std::size_t count = found(packets);
  EXPECT_GE(count, 64u);
  EXPECT_LE(count, 65u) << "no IP packet is longer than 65,535 bytes";
}

TEST(SegmentRun, OtherPacketsStandAlone) {
  for (const char flags : {'\x00', '\x02', '\x12', '\x11', '\x14', '\x30', '\x90', '\x50'}) {
    const SuperFrameText of{.flags = flags};
    const std::string packet = cut_again(of)[0];
    EXPECT_EQ(found({packet, packet}), 1u);
    Packets packets = cut_again(SuperFrameText{});
    packets[1][of.transport() + 13] = flags;
    mend(packets[1], of);
    EXPECT_EQ(found(packets), 1u);
  }
  EXPECT_EQ(found(cut_again(SuperFrameText{.tcp = false})), 1u);
  const std::string arp = std::string(12, '\1') + "\x08\x06" + std::string(46, '\0');
  EXPECT_EQ(found({arp, arp}), 1u);
  EXPECT_EQ(found({"", ""}), 1u);
}

/// What differs is seen whatever it is: else the packets, cut again, would not be what they were.
TEST(SegmentRun, AnyOtherDifferenceEndsIt) {
  for (const bool ipv6 : {false, true}) {
    const SuperFrameText of{.ipv6 = ipv6, .payload = 3000};
    for (std::size_t at = 0; at < of.head(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        Packets packets = cut_again(of);
        packets[1][at] ^= static_cast<char>(1 << bit);
        EXPECT_EQ(found(packets), 1u) << at;
        const std::size_t data_offset = of.transport() + 12;
        const bool length = at == 14 || at == data_offset;  // mend() would not find its way
        if (length) continue;
        mend(packets[1], of);
        const std::size_t checksum = of.transport() + 16;
        const bool mended = at == checksum || at == checksum + 1 || (!ipv6 && (at | 1) == 25);
        const bool push = at == of.transport() + 13 && bit == 3;
        EXPECT_EQ(found(packets), mended ? 3u : push ? 2u : 1u) << at;
      }
    }
    Packets packets = cut_again(of);
    packets[1].back() ^= 1;
    EXPECT_EQ(found(packets), 1u) << "its checksum is wrong, and stays so";
    packets = cut_again(of);
    packets[0].back() ^= 1;
    EXPECT_EQ(found(packets), 1u);
  }
}

}  // namespace
}  // namespace millrace
