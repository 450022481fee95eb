// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/fragmented_echo.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace {
namespace {

/// An ICMP message with `bytes` of data; the checksum is over `pseudo` too.
RouteFrame echo_message(std::uint8_t type, std::size_t bytes, std::uint64_t pseudo = 0) {
  RouteFrame message(8 + bytes);
  message[0] = std::byte(type);
  put32(message, 4, 0x00070001);
  for (std::size_t i = 0; i < bytes; ++i) message[8 + i] = std::byte(i * 7 & 255);
  put16(message, 2, slow_checksum(message, 0, pseudo));
  return message;
}

std::uint64_t pseudo_of(std::size_t message_bytes) {
  const RouteFrame frame = make_ipv6_frame({.destination = kLanIpv6});
  const RouteFrame addresses(frame.begin() + 22, frame.begin() + 54);
  return std::uint64_t{0xffff} - slow_checksum(addresses, 0) + 58 + message_bytes;
}

/// The bytes [at, at + count) of a message to us.
RouteFrame ipv4_piece(const RouteFrame& message, std::size_t at, std::size_t count) {
  RouteFrame frame = to_own(1);
  frame.resize(34);
  const bool more = at + count < message.size();
  put16(frame, 16, static_cast<std::uint32_t>(20 + count));
  put16(frame, 20, static_cast<std::uint32_t>(at / 8 | (more ? 0x2000 : 0)));
  put16(frame, 24, header_checksum(frame));
  frame.insert(frame.end(), message.begin() + static_cast<std::ptrdiff_t>(at),
               message.begin() + static_cast<std::ptrdiff_t>(at + count));
  return frame;
}

RouteFrame ipv6_piece(const RouteFrame& message, std::size_t at, std::size_t count) {
  RouteFrame frame = addressed(make_ipv6_frame({.destination = kLanIpv6, .next_header = 44}), 0x0a);
  frame.resize(62);
  put16(frame, 18, static_cast<std::uint32_t>(8 + count));
  put32(frame, 54, static_cast<std::uint32_t>(58u << 24 | at | (at + count < message.size())));
  put32(frame, 58, 0x11223344);
  frame.insert(frame.end(), message.begin() + static_cast<std::ptrdiff_t>(at),
               message.begin() + static_cast<std::ptrdiff_t>(at + count));
  return frame;
}

struct EchoParts : RouterParts {
  using RouterParts::RouterParts;
  void ipv4_end(const RouteFrame& frame) {
    take(frame);
    ipv4.end(call(), 0, RouteReason::kOwnAddress);
  }
  void ipv6_end(const RouteFrame& frame) {
    take(frame);
    ipv6.end(call(), 0, RouteReason::kOwnAddress);
  }
  /// Of the answer's frames what is behind `header_bytes`, in their order.
  RouteFrame data(std::size_t header_bytes) const {
    RouteFrame all;
    for (std::size_t i = 0; i <= records().size(); ++i) {
      const RouteFrame one = i < records().size() ? side_frame(i) : frame();
      all.insert(all.end(), one.begin() + static_cast<std::ptrdiff_t>(header_bytes), one.end());
    }
    return all;
  }
};

TEST(FragmentedEcho, ARequestOfIpv4IsAnsweredWhenItIsWhole) {
  const RouteFrame message = echo_message(8, 2000);
  EchoParts parts;
  parts.ipv4_end(ipv4_piece(message, 1480, 528));
  EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
  EXPECT_TRUE(parts.records().empty());
  parts.ipv4_end(ipv4_piece(message, 0, 1480));
  EXPECT_TRUE(parts.is_answer(Reason::kReply));
  ASSERT_EQ(parts.records().size(), 1U);
  EXPECT_TRUE(parts.has_record(0, SideKind::kSend, 0, Reason::kFragment));
  EXPECT_EQ(parts.data(34), echo_message(0, 2000));
  RouteFrame header = ipv4_piece(message, 0, 1480);
  header.resize(34);
  put_mac(header, 0, kStationMac);
  put_mac(header, 6, kLanMac);
  put32(header, 26, kLanIpv4);
  put32(header, 30, 0x0a010005);
  header[22] = std::byte{64};
  put16(header, 24, header_checksum(header));
  RouteFrame first = parts.side_frame();
  first.resize(34);
  EXPECT_EQ(first, header);
}

TEST(FragmentedEcho, ARequestOfIpv6IsAnsweredWhenItIsWhole) {
  const RouteFrame message = echo_message(128, 2000, pseudo_of(2008));
  EchoParts parts;
  parts.ipv6_end(ipv6_piece(message, 0, 1440));
  EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
  parts.ipv6_end(ipv6_piece(message, 1440, 568));
  EXPECT_TRUE(parts.is_answer(Reason::kReply));
  ASSERT_EQ(parts.records().size(), 1U);
  EXPECT_EQ(parts.data(62), echo_message(129, 2000, pseudo_of(2008)));
}

TEST(FragmentedEcho, AnAnswerThatFitsLeavesWhole) {
  const RouteFrame message = echo_message(8, 1000),
                   message6 = echo_message(128, 1000, pseudo_of(1008));
  EchoParts parts;
  parts.ipv4_end(ipv4_piece(message, 0, 504));
  parts.ipv4_end(ipv4_piece(message, 504, 504));
  EXPECT_TRUE(parts.is_answer(Reason::kReply));
  EXPECT_TRUE(parts.records().empty());
  EXPECT_EQ(parts.data(34), echo_message(0, 1000));
  parts.ipv6_end(ipv6_piece(message6, 504, 504));
  parts.ipv6_end(ipv6_piece(message6, 0, 504));
  EXPECT_TRUE(parts.is_answer(Reason::kReply));
  EXPECT_EQ(parts.data(54), echo_message(129, 1000, pseudo_of(1008)));
}

TEST(FragmentedEcho, OverlapsAreDroppedForTheirReason) {
  const RouteFrame message = echo_message(8, 2000),
                   message6 = echo_message(128, 2000, pseudo_of(2008));
  EchoParts parts;
  parts.ipv4_end(ipv4_piece(message, 0, 1480));
  parts.ipv4_end(ipv4_piece(message, 1472, 536));
  EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kBadFragment)));
  parts.ipv6_end(ipv6_piece(message6, 0, 1440));
  parts.ipv6_end(ipv6_piece(message6, 1432, 576));
  EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kBadFragment)));
}

TEST(FragmentedEcho, FragmentsOfIpv6ThatAreWrongByThemselvesAreReported) {
  const RouteFrame message = echo_message(128, 2000, pseudo_of(2008));
  EchoParts parts;
  const RouteFrame uneven = ipv6_piece(message, 0, 1001);
  parts.ipv6_end(uneven);
  EXPECT_TRUE(parts.is_answer(Reason::kReport));
  EXPECT_EQ(parts.frame(), slow_icmpv6_error({.type = 4, .rest = 4}, datagram(uneven)));
  RouteFrame too_far = ipv6_piece(message, 0, 1000);
  put16(too_far, 56, 0xfff9);
  parts.ipv6_end(too_far);
  EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kBadFragment)))
      << "a later fragment of ICMPv6 may be of an error, which nothing answers";
}

TEST(FragmentedEcho, WhatIsNoRequestIsNotAnswered) {
  RouteFrame message = echo_message(8, 2000);
  message[100] ^= std::byte{1};
  EchoParts parts;
  parts.ipv4_end(ipv4_piece(message, 0, 1480));
  parts.ipv4_end(ipv4_piece(message, 1480, 528));
  EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kOwnAddress))) << "a wrong checksum";
  const RouteFrame reply = echo_message(0, 2000);
  parts.facts.now_ns += Reassembler::kTimeNs;
  parts.ipv4_end(ipv4_piece(reply, 0, 1480));
  parts.ipv4_end(ipv4_piece(reply, 1480, 528));
  EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kOwnAddress)));
}

TEST(FragmentedEcho, WithoutRoomInTheSideListThereIsNoAnswer) {
  const RouteFrame message = echo_message(8, 2000);
  EchoParts parts;
  parts.ipv4_end(ipv4_piece(message, 0, 1480));
  parts.take(ipv4_piece(message, 1480, 528));
  parts.fill_side_list();
  parts.ipv4.end(parts.call(), 0, RouteReason::kOwnAddress);
  EXPECT_TRUE(parts.is_dropped_for(Reason::kSideFull));
}

TEST(FragmentedEcho, TheHostBehindThePortPutsTogetherByItself) {
  EchoParts parts(hosted_ports());
  parts.ipv4_end(ipv4_piece(echo_message(8, 2000), 0, 1480));
  EXPECT_TRUE(parts.is_punted());
}

}  // namespace
}  // namespace millrace
