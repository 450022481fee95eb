// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/packet_tests.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/detect/packet_by_hand.hpp"
#include "tests/unit/services/functions/ids/detect/rule_by_hand.hpp"

namespace millrace {
namespace {

using by_hand::Packet, by_hand::Rule;

bool passes(const Packet& packet, HeaderField field, std::uint32_t number) {
  PacketTests tests;
  tests.headers.push_back({field, {.low = number, .high = number}});
  return headers_pass(tests, packet.view());
}

TEST(PacketTests, FieldsOfIpAreReadFromEitherVersion) {
  const Packet ipv4(FrameBuilder().ipv4(17, 12).udp(4).text("abcd"));
  EXPECT_TRUE(passes(ipv4, HeaderField::kTtl, 64));
  EXPECT_FALSE(passes(ipv4, HeaderField::kTtl, 63));
  EXPECT_TRUE(passes(ipv4, HeaderField::kTos, 0));
  EXPECT_TRUE(passes(ipv4, HeaderField::kIpId, 77));
  EXPECT_TRUE(passes(ipv4, HeaderField::kIpProtocol, 17));
  EXPECT_TRUE(passes(ipv4, HeaderField::kFragmentOffset, 0));
  EXPECT_TRUE(passes(ipv4, HeaderField::kDataSize, 4));
  Frame classed = FrameBuilder().ipv6(17, 12).udp(4).text("abcd").build();
  classed[14] = std::byte{0x6a};
  classed[15] = std::byte{0xb0};
  const Packet ipv6(classed);
  EXPECT_TRUE(passes(ipv6, HeaderField::kTtl, 64));
  EXPECT_TRUE(passes(ipv6, HeaderField::kTos, 0xab));
  EXPECT_FALSE(passes(ipv6, HeaderField::kIpId, 77)) << "it has none";
  EXPECT_TRUE(passes(ipv6, HeaderField::kIpProtocol, 17));
}

TEST(PacketTests, FieldsOfTcpAreOfTcpAlone) {
  const Packet tcp(FrameBuilder().ipv4(6, 20).tcp(5));
  EXPECT_TRUE(passes(tcp, HeaderField::kTcpSequence, 1));
  EXPECT_TRUE(passes(tcp, HeaderField::kTcpAcknowledgment, 2));
  EXPECT_TRUE(passes(tcp, HeaderField::kTcpWindow, 1024));
  EXPECT_FALSE(passes(tcp, HeaderField::kIcmpType, 0x9c));
  const Packet udp(FrameBuilder().ipv4(17, 28).udp(20).padding(20));
  EXPECT_FALSE(passes(udp, HeaderField::kTcpWindow, 0));
  PacketTests flags;
  flags.tcp_flags = BitsTest{.how = BitsTest::How::kExactly, .bits = 0x18, .ignored = 0};
  EXPECT_TRUE(headers_pass(flags, tcp.view()));
  EXPECT_FALSE(headers_pass(flags, udp.view()));
  flags.tcp_flags->bits = 0x10;
  EXPECT_FALSE(headers_pass(flags, tcp.view()));
}

TEST(PacketTests, TheSegmentSizeIsFoundAmongOptions) {
  Frame frame = FrameBuilder().ipv4(6, 28).tcp(7).build();
  constexpr std::size_t kOptions = 14 + 20 + 20;
  const std::uint8_t options[] = {1, 1, 4, 2, 2, 4, 5, 0xb4};
  for (std::size_t at = 0; at < sizeof options; ++at) frame[kOptions + at] = std::byte{options[at]};
  EXPECT_TRUE(passes(Packet(frame), HeaderField::kTcpMss, 1460));
  frame[kOptions + 3] = std::byte{0};  // an option without a length ends the walk
  EXPECT_FALSE(passes(Packet(frame), HeaderField::kTcpMss, 1460));
  frame[kOptions + 2] = std::byte{0};
  EXPECT_FALSE(passes(Packet(frame), HeaderField::kTcpMss, 1460));
  EXPECT_FALSE(passes(Packet(FrameBuilder().ipv4(6, 20).tcp(5)), HeaderField::kTcpMss, 1460));
}

TEST(PacketTests, IcmpOfBothVersionsHasTypesAndItsQuestionsNumbers) {
  using std::string_view_literals::operator""sv;
  const Packet echo(
      FrameBuilder().ipv4(1, 12).text("\x08\x00??\x12\x34\x00\x07"
                                      "data"sv));
  EXPECT_TRUE(passes(echo, HeaderField::kIcmpType, 8));
  EXPECT_TRUE(passes(echo, HeaderField::kIcmpCode, 0));
  EXPECT_TRUE(passes(echo, HeaderField::kIcmpId, 0x1234));
  EXPECT_TRUE(passes(echo, HeaderField::kIcmpSequence, 7));
  EXPECT_TRUE(passes(echo, HeaderField::kDataSize, 4)) << "its header is no payload";
  const Packet error(FrameBuilder().ipv4(1, 8).text("\x03\x01??\x12\x34\x00\x07"sv));
  EXPECT_TRUE(passes(error, HeaderField::kIcmpCode, 1));
  EXPECT_FALSE(passes(error, HeaderField::kIcmpId, 0x1234));
  EXPECT_TRUE(passes(error, HeaderField::kDataSize, 0));
  const Packet echo6(FrameBuilder().ipv6(58, 8).text("\x80\x00??\x12\x34\x00\x07"sv));
  EXPECT_TRUE(passes(echo6, HeaderField::kIcmpSequence, 7));
  const Packet neighbour(FrameBuilder().ipv6(58, 8).text("\x87\x00??\x12\x34\x00\x07"sv));
  EXPECT_FALSE(passes(neighbour, HeaderField::kIcmpSequence, 7));
}

TEST(PacketTests, FragmentsTellTheirBitsAndOffsets) {
  const Packet first(FrameBuilder().ipv4(17, 16, 20, 0x2000).udp(8).text("abcdefgh"));
  const Packet later(FrameBuilder().ipv4(17, 16, 20, 0x2003).text("abcdefghijklmnop"));
  PacketTests more;
  more.fragment_bits = BitsTest{.how = BitsTest::How::kExactly, .bits = 0x2000, .ignored = 0};
  EXPECT_TRUE(headers_pass(more, first.view()));
  EXPECT_TRUE(headers_pass(more, later.view()));
  EXPECT_FALSE(headers_pass(more, Packet(FrameBuilder().ipv4(17, 8).udp(0)).view()));
  EXPECT_TRUE(passes(later, HeaderField::kFragmentOffset, 3));
  Signature whole = Rule(RuleProtocol::kUdp);
  whole.flow.no_fragments = true;
  EXPECT_FALSE(head_fits(whole, first.view()));
  whole.flow = {};
  whole.flow.only_fragments = true;
  EXPECT_TRUE(head_fits(whole, later.view()));
  Signature port = Rule(RuleProtocol::kUdp);
  port.destination_ports = {.is_any = false, .ranges = {{0, 65535}}};
  EXPECT_TRUE(head_fits(port, first.view()));
  EXPECT_FALSE(head_fits(port, later.view())) << "it does not tell its ports";
}

TEST(PacketTests, SameAddressIsOfPacketsToThemselves) {
  PacketTests same;
  same.same_address = true;
  Packet packet(FrameBuilder().ipv4(17, 8).udp(0));
  EXPECT_FALSE(headers_pass(same, packet.view()));
  packet.tuple.destination = packet.tuple.source;
  EXPECT_TRUE(headers_pass(same, packet.view()));
}

TEST(PacketTests, ProtocolsOfAHeadAreThoseOfIp) {
  const Packet tcp(FrameBuilder().ipv4(6, 20).tcp(5));
  const Packet udp(FrameBuilder().ipv4(17, 8).udp(0));
  const Packet icmp6(FrameBuilder().ipv6(58, 8).padding(8));
  const Packet sctp(FrameBuilder().ipv4(132, 12).padding(12));
  const Packet none(FrameBuilder().type(0x806).padding(28));
  const auto fitting = [&](RuleProtocol protocol) {
    std::string fits;
    if (head_fits(Rule(protocol), tcp.view())) fits += 't';
    if (head_fits(Rule(protocol), udp.view())) fits += 'u';
    if (head_fits(Rule(protocol), icmp6.view())) fits += 'i';
    if (head_fits(Rule(protocol), sctp.view())) fits += 's';
    if (head_fits(Rule(protocol), none.view())) fits += '-';
    return fits;
  };
  EXPECT_EQ(fitting(RuleProtocol::kIp), "tuis");
  EXPECT_EQ(fitting(RuleProtocol::kTcp), "t");
  EXPECT_EQ(fitting(RuleProtocol::kTcpPacket), "t");
  EXPECT_EQ(fitting(RuleProtocol::kUdp), "u");
  EXPECT_EQ(fitting(RuleProtocol::kIcmp), "i");
  EXPECT_EQ(fitting(RuleProtocol::kSctp), "s");
  EXPECT_EQ(fitting(RuleProtocol::kDns), "tu");
  EXPECT_EQ(fitting(RuleProtocol::kTls), "t");
}

TEST(PacketTests, EndsFitInTheRulesDirectionOrInBoth) {
  const Packet packet(FrameBuilder().ipv4(6, 20).tcp(5, 40000, 80));  // 10.1.0.5 -> 192.0.2.9
  const AddressSet client{.is_any = false,
                          .ranges = {{4, Ipv6Bytes{10, 1, 0, 0}, Ipv6Bytes{10, 1, 0, 255}}}};
  Signature rule = Rule(RuleProtocol::kTcp);
  rule.source = client;
  rule.destination_ports = {.is_any = false, .ranges = {{80, 81}}};
  EXPECT_TRUE(head_fits(rule, packet.view()));
  std::swap(rule.source, rule.destination);
  std::swap(rule.source_ports, rule.destination_ports);
  EXPECT_FALSE(head_fits(rule, packet.view()));
  rule.both_ways = true;
  EXPECT_TRUE(head_fits(rule, packet.view()));
  rule.source_ports = {.is_any = false, .ranges = {{81, 81}}};
  EXPECT_FALSE(head_fits(rule, packet.view()));
}

TEST(PacketTests, FlowAsksForDirectionAndState) {
  Packet packet(FrameBuilder().ipv4(6, 20).tcp(5));
  const auto fits = [&](auto&& set) {
    Signature rule = Rule(RuleProtocol::kTcp);
    set(rule.flow);
    return head_fits(rule, packet.view());
  };
  const auto to_server = [](FlowTest& flow) { flow.to_server = true; };
  const auto to_client = [](FlowTest& flow) { flow.to_client = true; };
  const auto established = [](FlowTest& flow) { flow.established = true; };
  const auto not_established = [](FlowTest& flow) { flow.not_established = true; };
  EXPECT_TRUE(fits(to_server));
  EXPECT_FALSE(fits(to_client));
  EXPECT_TRUE(fits(established));
  EXPECT_FALSE(fits(not_established));
  packet.direction = 1;
  EXPECT_TRUE(fits(to_client));
  packet.has_flow = false;
  EXPECT_FALSE(fits(to_client));
  EXPECT_FALSE(fits(established));
  EXPECT_TRUE(fits(not_established));
}

TEST(PacketTests, WhatAFlowCarriesFitsOrIsNotKnown) {
  EXPECT_EQ(app_fits(Rule(RuleProtocol::kTcp), AppProtocol::kUnknown), AppFit::kYes);
  EXPECT_EQ(app_fits(Rule(RuleProtocol::kHttp), AppProtocol::kUnknown), AppFit::kNotYet);
  EXPECT_EQ(app_fits(Rule(RuleProtocol::kHttp), AppProtocol::kHttp), AppFit::kYes);
  EXPECT_EQ(app_fits(Rule(RuleProtocol::kHttp), AppProtocol::kNone), AppFit::kNo);
  EXPECT_EQ(app_fits(Rule(RuleProtocol::kSmb), AppProtocol::kTls), AppFit::kNo);
}

/// Nothing outside a frame is read, whatever its headers say (under AddressSanitizer).
TEST(PacketTests, CutFramesPassNoTestOfWhatTheyLack) {
  std::mt19937 random(1);
  std::uint64_t passed = 0;
  for (int round = 0; round < 20'000; ++round) {
    const Packet packet(random_frame(random));
    for (std::size_t field = 0; field < static_cast<std::size_t>(HeaderField::kCount); ++field) {
      PacketTests any;
      any.headers.push_back({static_cast<HeaderField>(field), {}});
      if (headers_pass(any, packet.view())) ++passed;
    }
  }
  EXPECT_GT(passed, 100'000u);
}

TEST(PacketTests, AFlowMayCarryNoneOfSomeProtocols) {
  Signature rule = Rule(RuleProtocol::kTcp);
  rule.not_protocols = {RuleProtocol::kHttp, RuleProtocol::kTls};
  EXPECT_EQ(app_fits(rule, AppProtocol::kUnknown), AppFit::kNotYet);
  EXPECT_EQ(app_fits(rule, AppProtocol::kNone), AppFit::kYes);
  EXPECT_EQ(app_fits(rule, AppProtocol::kSsh), AppFit::kYes);
  EXPECT_EQ(app_fits(rule, AppProtocol::kHttp), AppFit::kNo);
  EXPECT_EQ(app_fits(rule, AppProtocol::kTls), AppFit::kNo);
}

TEST(PacketTests, APacketOfTheOtherDirectionHasNoPayload) {
  const PacketHeaders headers{};
  const std::byte bytes[1] = {};
  PacketView packet{.frame = bytes, .headers = headers};
  packet.tuple = {.source_port = 1, .destination_port = 2};
  packet.payload = bytes;
  EXPECT_EQ(turned_to(packet, 0).payload.size(), 1u);
  EXPECT_EQ(turned_to(packet, 0).tuple, packet.tuple);
  EXPECT_EQ(turned_to(packet, 1).payload.size(), 0u);
  EXPECT_EQ(turned_to(packet, 1).direction, 1);
  EXPECT_EQ(turned_to(packet, 1).tuple, reversed(packet.tuple));
}

}  // namespace
}  // namespace millrace
