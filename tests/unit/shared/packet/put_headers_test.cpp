// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/put_headers.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "shared/base/ip_protocol.hpp"
#include "tests/unit/shared/packet/hex_bytes.hpp"

/// The bytes that are expected were put together by hand from the RFCs; their checksums were
/// computed word by word elsewhere. All room is full of ones before: each byte has to be written.

namespace millrace::put_headers_test {
namespace {

std::vector<std::byte> room(std::size_t bytes) {
  return std::vector<std::byte>(bytes, std::byte{0xff});
}

constexpr std::uint32_t kSource = 0xc0000201, kDestination = 0xc6336407;

TEST(PutHeaders, EthernetNamesTheReceiverFirst) {
  auto frame = room(14);
  put_ethernet(frame, {2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 9}, ipv6_wire::kEtherType);
  EXPECT_EQ(hex_of_bytes(frame), "02000000000902000000000186dd");
}

TEST(PutHeaders, Ipv4HasEachFieldAndItsChecksum) {
  auto packet = room(24);
  put_ipv4(packet,
           {.type_of_service = 0xc0,
            .identification = 0x1c46,
            .fragment = ipv4_wire::kMoreFragments | 0x80ff,
            .ttl = 63,
            .protocol = ip_protocol::kUdp,
            .source = kSource,
            .destination = kDestination},
           40);
  EXPECT_EQ(hex_of_bytes(packet), "45c0003c1c46a0ff3f11d16fc0000201c6336407ffffffff");
}

TEST(PutHeaders, Ipv4IsThatOfAHostThatSaysNothingElse) {
  auto packet = room(20);
  put_ipv4(packet, {.fragment = ipv4_wire::kDontFragment, .protocol = ip_protocol::kUdp}, 0x5f);
  EXPECT_EQ(hex_of_bytes(std::span(packet).first(10)), "45000073000040004011");
}

TEST(PutHeaders, ChecksumOfIpv4CoversItsOptions) {
  auto header = bytes_of_hex("46c0003c1c46a0ff3f11eeeec0000201c633640794040000");
  put_ipv4_checksum(header);
  EXPECT_EQ(hex_of_bytes(std::span(header).subspan(10, 2)), "3c6b");
}

TEST(PutHeaders, Ipv6HasEachField) {
  const Ipv6Bytes source = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  const Ipv6Bytes destination = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  auto packet = room(41);
  put_ipv6(packet,
           {.traffic_class = 0xb8,
            .next_header = ip_protocol::kTcp,
            .hop_limit = 255,
            .source = source,
            .destination = destination},
           1440);
  EXPECT_EQ(hex_of_bytes(packet),
            "6b80000005a006ff20010db8000000000000000000000001ff020000000000000000000000000002ff");
}

TEST(PutHeaders, TcpLeavesItsOptionsAndCoversThem) {
  auto segment = room(24);
  const auto options = bytes_of_hex("020405b4");
  std::ranges::copy(options, segment.begin() + 20);
  put_tcp(segment, {.source = 443,
                    .destination = 51000,
                    .sequence = 0x01020304,
                    .acknowledgment = 0xa0b0c0d0,
                    .flags = tcp_wire::kSyn | tcp_wire::kAck,
                    .window = 0xfaf0});
  EXPECT_EQ(hex_of_bytes(segment), "01bbc73801020304a0b0c0d06012faf000000000020405b4");
  put_tcp_checksum(segment, pseudo_sum(kSource, kDestination, ip_protocol::kTcp, 24));
  EXPECT_EQ(hex_of_bytes(segment), "01bbc73801020304a0b0c0d06012faf0826e0000020405b4");
}

TEST(PutHeaders, IcmpCoversWhatStandsBehindItElsewhere) {
  auto message = room(8);
  const auto quote = bytes_of_hex("0102030405");
  put_icmp(message, {.type = 3, .code = 4, .rest = 1400}, 0, quote);
  EXPECT_EQ(hex_of_bytes(message), "0304ee7d00000578");
}

TEST(PutHeaders, IcmpOfIpv6CoversThePseudoHeader) {
  Ipv6Bytes source = {0x20, 1, 0xd, 0xb8}, destination = source;
  source[15] = 1;
  destination[15] = 0xff;
  auto message = room(13);
  const auto quote = bytes_of_hex("0102030405");
  std::ranges::copy(quote, message.begin() + 8);
  put_icmp(message, {.type = 1, .code = 4},
           pseudo_sum(std::as_bytes(std::span(source)), std::as_bytes(std::span(destination)),
                      ip_protocol::kIcmpv6, 13));
  EXPECT_EQ(hex_of_bytes(message), "0104993c000000000102030405");
}

}  // namespace
}  // namespace millrace::put_headers_test
