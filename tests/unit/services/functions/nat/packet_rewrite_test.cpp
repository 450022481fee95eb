// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/packet_rewrite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "services/functions/flow/flow_usual.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/wire_bytes.hpp"
#include "tests/unit/services/functions/nat/rewrite_frames.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"
#include "tests/unit/shared/packet/hex_bytes.hpp"

namespace millrace::packet_rewrite_test {
namespace {

/// The tuple as its first fragment or the whole packet says it; of a later fragment the addresses.
FlowTuple tuple_of(const Frame& frame) {
  const PacketHeaders headers = parse_headers(frame);
  if (const auto tuple = flow_tuple_of(frame, headers)) return *tuple;
  FlowTuple tuple{.protocol = headers.protocol, .version = headers.ip_version};
  const std::size_t bytes = tuple.version == 4 ? 4 : 16;
  const std::size_t at = headers.network_offset + (tuple.version == 4 ? 12u : 8u);
  std::memcpy(tuple.source.data(), frame.data() + at, bytes);
  std::memcpy(tuple.destination.data(), frame.data() + at + bytes, bytes);
  return tuple;
}

TEST(PacketRewrite, MakesOfAPacketWhatScapyBuildsForTheOtherAddresses) {
  for (const auto& packet : rewrite_frames::kPackets) {
    SCOPED_TRACE(packet.name);
    const Frame before = bytes_of_hex(packet.before), after = bytes_of_hex(packet.after);
    const FlowTuple has = tuple_of(before), gets = tuple_of(after);
    ASSERT_NE(has, gets);
    Frame frame = before;
    ASSERT_TRUE(rewrite_packet(frame, parse_headers(frame), has, gets));
    EXPECT_EQ(frame, after);
    ASSERT_TRUE(rewrite_packet(frame, parse_headers(frame), gets, has));
    EXPECT_EQ(frame, before);
    ASSERT_TRUE(rewrite_packet(frame, parse_headers(frame), has, has));
    EXPECT_EQ(frame, before);
  }
}

/// Also where sums and checksums are 0 or all ones.
TEST(PacketRewrite, MakesOfAUsualPacketTheSameInTheShortWay) {
  std::mt19937 random(11);
  const auto word = [&] {
    constexpr std::uint16_t kEdges[] = {0, 0xffff, 1, 0xfffe};
    return random() % 4 == 0 ? kEdges[random() % 4] : static_cast<std::uint16_t>(random());
  };
  std::uint32_t zeros = 0;
  for (int round = 0; round < 20'000; ++round) {
    const bool is_tcp = random() % 2 == 0;
    Frame frame(is_tcp ? 60 : 50);
    wire_bytes::put16(frame, 12, 0x0800);
    wire_bytes::put8(frame, 14, 0x45);
    wire_bytes::put16(frame, 16, static_cast<std::uint16_t>(frame.size() - 14));
    wire_bytes::put8(frame, 23, is_tcp ? 6 : 17);
    for (const std::size_t at : {24u, 26u, 28u, 30u, 32u, 34u, 36u}) {
      wire_bytes::put16(frame, at, word());
    }
    if (is_tcp) wire_bytes::put8(frame, 46, 0x50);
    if (!is_tcp) wire_bytes::put16(frame, 38, static_cast<std::uint16_t>(frame.size() - 34));
    wire_bytes::put16(frame, is_tcp ? 50 : 40, word());
    FlowTuple has;
    ASSERT_TRUE(usual_packet::find_tuple(frame, has));
    FlowTuple gets = has;
    if (random() % 2 == 0) {
      for (std::size_t i = 0; i < 4; ++i) gets.source[i] = static_cast<std::uint8_t>(word());
    }
    if (random() % 3 == 0) {
      for (std::size_t i = 0; i < 4; ++i) gets.destination[i] = static_cast<std::uint8_t>(word());
    }
    if (random() % 2 == 0) gets.source_port = word();
    if (random() % 3 == 0) gets.destination_port = word();
    Frame wanted = frame;
    ASSERT_TRUE(rewrite_packet(wanted, parse_headers(wanted), has, gets));
    ASSERT_TRUE(rewrite_usual(frame.data(), has, gets));
    ASSERT_EQ(frame, wanted) << round;
    zeros += !is_tcp && wire_bytes::u16(frame, 40) == 0 ? 1 : 0;
    // Not its tuple any more.
    const bool is_another = has != gets;
    ASSERT_NE(rewrite_usual(frame.data(), has, gets), is_another);
    ASSERT_EQ(frame, wanted);
  }
  EXPECT_GT(zeros, 100u);
}

const rewrite_frames::NamedPacket& packet_named(std::string_view name) {
  return *std::ranges::find(rewrite_frames::kPackets, name, &rewrite_frames::NamedPacket::name);
}

/// Tuples of an error about the packet: of the other direction.
struct ErrorTuples {
  FlowTuple has, gets;
};
ErrorTuples tuples_of(const rewrite_frames::NamedError& error) {
  const auto& packet = packet_named(error.quoted);
  const FlowTuple before = reversed(tuple_of(bytes_of_hex(packet.before)));
  const FlowTuple after = reversed(tuple_of(bytes_of_hex(packet.after)));
  if (error.quoted_before) return {before, after};
  return {after, before};
}

TEST(PacketRewrite, MakesOfAnErrorWhatScapyBuildsAboutThePacketOfTheOtherSide) {
  for (const auto& error : rewrite_frames::kErrors) {
    SCOPED_TRACE(error.name);
    const auto [has, gets] = tuples_of(error);
    Frame frame = bytes_of_hex(error.before);
    ASSERT_TRUE(rewrite_icmp_error(frame, parse_headers(frame), has, gets));
    EXPECT_EQ(frame, bytes_of_hex(error.after));
  }
}

TEST(PacketRewrite, LeavesAnErrorAloneThatIsAboutSomethingElse) {
  for (const auto& error : rewrite_frames::kErrors) {
    SCOPED_TRACE(error.name);
    const auto [has, gets] = tuples_of(error);
    FlowTuple other = has;
    other.source[1] ^= 1;
    const Frame before = bytes_of_hex(error.before);
    Frame frame = before;
    EXPECT_FALSE(rewrite_icmp_error(frame, parse_headers(frame), other, gets));
    other = has;
    other.protocol = 50;
    EXPECT_FALSE(rewrite_icmp_error(frame, parse_headers(frame), other, gets));
    const std::size_t icmp = parse_headers(frame).transport_offset;
    for (const unsigned type : {5u, 8u, 0u, 128u, 137u}) {  // a redirect, and what is no error
      Frame changed = before;
      changed[icmp] = std::byte(type);
      const Frame kept = changed;
      EXPECT_FALSE(rewrite_icmp_error(changed, parse_headers(changed), has, gets)) << type;
      EXPECT_EQ(changed, kept);
    }
    EXPECT_EQ(frame, before);
  }
  const auto& tcp = rewrite_frames::kErrors[2];  // the port of the quote is another one's
  const auto [has, gets] = tuples_of(tcp);
  FlowTuple other = has;
  ++other.destination_port;
  Frame frame = bytes_of_hex(tcp.before);
  EXPECT_FALSE(rewrite_icmp_error(frame, parse_headers(frame), other, gets));
}

/// Every beginning of an error: false, or a translation that comes back to where it was.
TEST(PacketRewrite, AnErrorMayEndAnywhere) {
  for (const auto& error : rewrite_frames::kErrors) {
    const auto [has, gets] = tuples_of(error);
    const Frame whole = bytes_of_hex(error.before);
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      const Frame before(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      Frame frame = before;
      const bool done = rewrite_icmp_error(frame, parse_headers(frame), has, gets);
      ASSERT_EQ(frame != before, done) << error.name << " " << size;
    }
  }
}

TEST(PacketRewrite, RefusesAPacketThatEndsBeforeItsChecksum) {
  for (const auto& packet : rewrite_frames::kPackets) {
    const Frame whole = bytes_of_hex(packet.before);
    const FlowTuple has = tuple_of(whole), gets = tuple_of(bytes_of_hex(packet.after));
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Frame before(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      Frame frame = before;
      const bool done = rewrite_packet(frame, parse_headers(frame), has, gets);
      ASSERT_EQ(frame != before, done) << packet.name << " " << size;
    }
  }
  const auto& tcp = packet_named("Ipv4TcpSource");
  Frame tiny = bytes_of_hex(tcp.before);
  wire_bytes::put16(tiny, 16, 20 + 8);  // RFC 1858: 8 bytes of TCP
  wire_bytes::put16(tiny, 20, 0x2000);
  EXPECT_FALSE(rewrite_packet(tiny, parse_headers(tiny), tuple_of(bytes_of_hex(tcp.before)),
                              tuple_of(bytes_of_hex(tcp.after))));
  const auto& sctp = packet_named("Ipv4Sctp");
  Frame first = bytes_of_hex(sctp.before);
  wire_bytes::put16(first, 20, 0x2000);
  FlowTuple gets = tuple_of(bytes_of_hex(sctp.after));
  const FlowTuple has = tuple_of(bytes_of_hex(sctp.before));
  EXPECT_FALSE(rewrite_packet(first, parse_headers(first), has, gets));
  gets.source_port = has.source_port;
  EXPECT_TRUE(rewrite_packet(first, parse_headers(first), has, gets));
}

TEST(PacketRewrite, RefusesWhatNoTranslationIs) {
  Frame frame = bytes_of_hex(packet_named("Ipv4Echo").before);
  const FlowTuple has = tuple_of(frame);
  FlowTuple gets = has;
  gets.protocol = 17;
  EXPECT_FALSE(rewrite_packet(frame, parse_headers(frame), has, gets));
  gets = has;
  ++gets.source_port, ++gets.destination_port;  // the type of an echo request
  EXPECT_FALSE(rewrite_packet(frame, parse_headers(frame), has, gets));
  Frame gre = bytes_of_hex(packet_named("Ipv4Gre").before);
  gets = tuple_of(gre);
  ++gets.source_port;
  EXPECT_FALSE(rewrite_packet(gre, parse_headers(gre), tuple_of(gre), gets));
  EXPECT_FALSE(rewrite_packet({}, parse_headers({}), has, has));
}

/// The checksum of the packet's transport computed from nothing; nothing where it has none, is cut
/// or a fragment.
std::optional<std::uint16_t> slow_checksum(const Frame& frame) {
  const PacketHeaders headers = parse_headers(frame);
  const bool tcp = headers.protocol == 6, udp = headers.protocol == 17;
  if (headers.status != ParseStatus::kOk || headers.fragment || (!tcp && !udp)) {
    return std::nullopt;
  }
  const std::span<const std::byte> bytes = std::span(frame).first(headers.payload_end);
  const auto transport = bytes.subspan(headers.transport_offset);
  const auto ip = bytes.subspan(headers.network_offset);
  const auto length = static_cast<std::uint16_t>(transport.size());
  const std::uint16_t pseudo =
      headers.ip_version == 4
          ? pseudo_sum(wire_bytes::u32(ip, 12), wire_bytes::u32(ip, 16), headers.protocol, length)
          : pseudo_sum(ip.subspan<8, 16>(), ip.subspan<24, 16>(), headers.protocol, length);
  Frame zeroed(transport.begin(), transport.end());
  wire_bytes::put16(zeroed, tcp ? 16 : 6, 0);
  const std::uint16_t checksum = internet_checksum(zeroed, pseudo);
  return udp && checksum == 0 ? 0xffff : checksum;
}

TEST(PacketRewrite, HasTheChecksumsOfThePacketsBuiltAnew) {
  std::mt19937 random(11);
  std::uint32_t compared = 0;
  for (int i = 0; i < 50'000; ++i) {
    Frame frame = random_frame(random);
    PacketHeaders headers = parse_headers(frame);
    const auto has = flow_tuple_of(frame, headers);
    if (!has) continue;
    const std::size_t checksum_at = headers.transport_offset + (headers.protocol == 6 ? 16u : 6u);
    if (const auto right = slow_checksum(frame)) wire_bytes::put16(frame, checksum_at, *right);
    FlowTuple gets = *has;
    const std::size_t bytes = has->version == 4 ? 4 : 16;
    for (std::size_t at = 0; at < bytes; ++at) {
      gets.source[at] ^= static_cast<std::uint8_t>(random() % 3 == 0 ? random() : 0);
      gets.destination[at] ^= static_cast<std::uint8_t>(random() % 9 == 0 ? random() : 0);
    }
    const bool icmp = has->protocol == 1 || has->protocol == 58;  // random frames have only echoes
    if (icmp ? has->destination_port == 8 : has->source_port != 0) {
      gets.source_port ^= static_cast<std::uint16_t>(random());
    }
    const Frame before = frame;
    if (!rewrite_packet(frame, headers, *has, gets)) {
      ASSERT_EQ(frame, before);
      continue;
    }
    ASSERT_EQ(flow_tuple_of(frame, parse_headers(frame)), gets);
    if (const auto right = slow_checksum(frame)) {
      ASSERT_EQ(wire_bytes::u16(frame, checksum_at), *right);
      ++compared;
    }
    ASSERT_TRUE(rewrite_packet(frame, headers, gets, *has));
    if (headers.protocol != 17) {
      ASSERT_EQ(frame, before);
    }
  }
  EXPECT_GT(compared, 5000u);
}

}  // namespace
}  // namespace millrace::packet_rewrite_test
