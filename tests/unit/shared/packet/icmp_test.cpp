// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/icmp.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "tests/unit/shared/packet/hex_bytes.hpp"
#include "tests/unit/shared/packet/icmp_frames.hpp"

namespace millrace::icmp_test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr MacAddress kRouter = {2, 0, 0, 0, 0, 1}, kHost = {2, 0, 0, 0, 0, 2};

/// A UDP datagram from 10.1.0.5 to 198.51.100.9, changed.
Bytes changed(std::size_t at, std::initializer_list<unsigned> values) {
  Bytes packet = bytes_of_hex(icmp_frames::kQuoteHex);
  for (const unsigned value : values) packet[at++] = static_cast<std::byte>(value);
  return packet;
}

std::uint16_t slow_checksum(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    sum += std::to_integer<std::uint32_t>(bytes[at]) << (at % 2 == 0 ? 8 : 0);
  }
  while (sum > 0xffff) sum = sum % 65536 + sum / 65536;
  return static_cast<std::uint16_t>(~sum);
}

void set_header_checksum(Bytes& frame) {
  const std::size_t bytes = std::to_integer<std::size_t>(frame[14]) % 16 * 4;
  frame[24] = frame[25] = std::byte{0};
  const std::uint16_t checksum = slow_checksum(std::span(frame).subspan(14, bytes));
  frame[24] = static_cast<std::byte>(checksum >> 8);
  frame[25] = static_cast<std::byte>(checksum);
}

TEST(MayAnswerIpv4, AUdpDatagramOfAHost) {
  EXPECT_TRUE(may_answer_ipv4(bytes_of_hex(icmp_frames::kQuoteHex)));
}

TEST(MayAnswerIpv4, NoSourceThatIsNoHost) {
  for (unsigned first = 0; first < 256; ++first) {
    const bool host = first != 0 && first != 127 && first < 224;
    EXPECT_EQ(may_answer_ipv4(changed(12, {first, 1, 0, 5})), host) << first;
  }
  EXPECT_FALSE(may_answer_ipv4(changed(12, {255, 255, 255, 255})));
  EXPECT_FALSE(may_answer_ipv4(changed(12, {0, 0, 0, 0})));
}

TEST(MayAnswerIpv4, NoDestinationOfMany) {
  for (unsigned first = 0; first < 256; ++first) {
    EXPECT_EQ(may_answer_ipv4(changed(16, {first, 1, 0, 5})), first < 224 || first > 239) << first;
  }
  EXPECT_FALSE(may_answer_ipv4(changed(16, {255, 255, 255, 255})));
}

TEST(MayAnswerIpv4, OnlyTheFirstFragment) {
  EXPECT_TRUE(may_answer_ipv4(changed(6, {0x20, 0})));   // MF, offset 0
  EXPECT_TRUE(may_answer_ipv4(changed(6, {0x40, 0})));   // DF
  EXPECT_FALSE(may_answer_ipv4(changed(6, {0x20, 1})));  // in the middle
  EXPECT_FALSE(may_answer_ipv4(changed(6, {0x10, 0})));  // the last
}

TEST(MayAnswerIpv4, NoIcmpErrorAndNoUnknownType) {
  Bytes packet = changed(9, {1});
  for (unsigned type = 0; type < 256; ++type) {
    packet[20] = static_cast<std::byte>(type);
    bool query = false;
    for (const unsigned known : {0, 8, 9, 10, 13, 14, 15, 16, 17, 18}) query |= type == known;
    EXPECT_EQ(may_answer_ipv4(packet), query) << type;
  }
}

TEST(MayAnswerIpv4, NoIcmpWithoutItsType) {
  Bytes packet = changed(9, {1});
  packet[20] = std::byte{8};
  packet.resize(21);
  packet.shrink_to_fit();
  EXPECT_TRUE(may_answer_ipv4(packet));
  EXPECT_FALSE(may_answer_ipv4(std::span(packet).first(20)));
  packet[0] = std::byte{0x46};
  EXPECT_FALSE(may_answer_ipv4(packet));
}

TEST(MayAnswerIpv4, ReadsTheTypeBehindTheOptions) {
  Bytes packet = changed(0, {0x46});
  packet[9] = std::byte{1};
  packet[20] = std::byte{3};  // an option
  packet[24] = std::byte{8};
  EXPECT_TRUE(may_answer_ipv4(packet));
  packet[24] = std::byte{11};
  EXPECT_FALSE(may_answer_ipv4(packet));
}

TEST(MayAnswerIpv4, NothingWithoutAWholeHeader) {
  const Bytes whole = bytes_of_hex(icmp_frames::kQuoteHex);
  for (std::size_t size = 0; size < 20; ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(may_answer_ipv4(cut)) << size;
  }
  EXPECT_FALSE(may_answer_ipv4(changed(0, {0x44})));
  EXPECT_FALSE(may_answer_ipv4(changed(0, {0x65})));
}

TEST(IcmpError, QuotesSoMuchThatTheErrorHas576Bytes) {
  EXPECT_EQ(icmp_quote_bytes(0), 0U);
  EXPECT_EQ(icmp_quote_bytes(20), 20U);
  EXPECT_EQ(icmp_quote_bytes(548), 548U);
  EXPECT_EQ(icmp_quote_bytes(549), 548U);
  EXPECT_EQ(icmp_quote_bytes(65535) + 28, 576U);
}

TEST(IcmpError, WrittenFrontsAreThoseOfScapy) {
  const Bytes quote = bytes_of_hex(icmp_frames::kQuoteHex);
  for (const icmp_frames::NamedError& expected : icmp_frames::kErrors) {
    Bytes frame(kIcmpErrorFrontBytes, std::byte{0xee});
    write_icmp_error(frame, quote, kRouter, kHost, 0xc0000201, 0x0a010005, expected.error);
    frame.insert(frame.end(), quote.begin(), quote.end());
    EXPECT_EQ(hex_of_bytes(frame), expected.hex) << unsigned{expected.error.type};
  }
}

TEST(IcmpError, ChecksumsAreRightForEveryLengthOfTheQuote) {
  for (std::size_t size = 0; size <= icmp_quote_bytes(65535); ++size) {
    const Bytes quote(size, std::byte{0xfe});
    Bytes frame(kIcmpErrorFrontBytes);
    write_icmp_error(frame, quote, kRouter, kHost, 0xc0000201, 0x0a010005, kIcmpHostUnreachable);
    frame.insert(frame.end(), quote.begin(), quote.end());
    EXPECT_EQ(slow_checksum(std::span(frame).subspan(14, 20)), 0) << size;
    EXPECT_EQ(slow_checksum(std::span(frame).subspan(34)), 0) << size;
  }
}

TEST(IcmpError, NamedErrorsHaveTheNumbersOfIana) {
  EXPECT_EQ(kIcmpNetUnreachable, (IcmpError{3, 0, 0}));
  EXPECT_EQ(kIcmpHostUnreachable, (IcmpError{3, 1, 0}));
  EXPECT_EQ(kIcmpProtocolUnreachable, (IcmpError{3, 2, 0}));
  EXPECT_EQ(kIcmpPortUnreachable, (IcmpError{3, 3, 0}));
  EXPECT_EQ(icmp_fragmentation_needed(1500), (IcmpError{3, 4, 1500}));
  EXPECT_EQ(kIcmpSourceRouteFailed, (IcmpError{3, 5, 0}));
}

void expect_unchanged(Bytes frame, const char* what) {
  const Bytes before = frame;
  EXPECT_FALSE(echo_reply_in_place(frame)) << what;
  EXPECT_EQ(frame, before) << what;
}

TEST(EchoReply, IsThatOfScapy) {
  Bytes frame = bytes_of_hex(icmp_frames::kEchoRequestHex);
  ASSERT_TRUE(echo_reply_in_place(frame));
  EXPECT_EQ(hex_of_bytes(frame), icmp_frames::kEchoReplyHex);
  frame = bytes_of_hex(icmp_frames::kRequestWithOptionsHex);
  ASSERT_TRUE(echo_reply_in_place(frame));
  EXPECT_EQ(hex_of_bytes(frame), icmp_frames::kReplyWithOptionsHex);
}

TEST(EchoReply, PaddingBehindTheDatagramStays) {
  Bytes frame = bytes_of_hex(icmp_frames::kEchoRequestHex);
  Bytes reply = bytes_of_hex(icmp_frames::kEchoReplyHex);
  frame.resize(70, std::byte{0x5a});
  reply.resize(70, std::byte{0x5a});
  ASSERT_TRUE(echo_reply_in_place(frame));
  EXPECT_EQ(frame, reply);
}

TEST(EchoReply, ChecksumsAreRightForEveryTtl) {
  for (unsigned value = 0; value < 256; ++value) {
    Bytes frame = bytes_of_hex(icmp_frames::kRequestWithOptionsHex);
    frame[22] = static_cast<std::byte>(value);
    set_header_checksum(frame);
    ASSERT_TRUE(echo_reply_in_place(frame)) << value;
    EXPECT_EQ(slow_checksum(std::span(frame).subspan(14, 32)), 0) << value;
    EXPECT_EQ(slow_checksum(std::span(frame).subspan(46)), 0) << value;
  }
}

TEST(EchoReply, EveryOtherFrameStays) {
  expect_unchanged(bytes_of_hex(icmp_frames::kEchoReplyHex), "reply");
  expect_unchanged(bytes_of_hex(icmp_frames::kFirstFragmentOfARequestHex), "first fragment");
  for (const icmp_frames::NamedError& error : icmp_frames::kErrors) {
    expect_unchanged(bytes_of_hex(error.hex), "error");
  }
}

TEST(EchoReply, CutRequestsStay) {
  const Bytes whole = bytes_of_hex(icmp_frames::kRequestWithOptionsHex);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect_unchanged(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)),
                     "cut");
  }
}

// A change of one bit breaks a checksum, the EtherType or what the header says; MAC addresses may
// be any but groups.
TEST(EchoReply, RequestsWithAnyWrongBitStay) {
  const Bytes whole = bytes_of_hex(icmp_frames::kEchoRequestHex);
  for (std::size_t at = 12; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes frame = whole;
      frame[at] ^= static_cast<std::byte>(1 << bit);
      expect_unchanged(frame, "wrong bit");
    }
  }
  for (const std::size_t at : {0U, 6U}) {
    Bytes frame = whole;
    frame[at] |= std::byte{1};
    expect_unchanged(frame, "group address");
  }
}

TEST(EchoReply, RequestsBetweenAddressesThatCannotBeTheRepliesStay) {
  struct Change {
    std::size_t at;
    unsigned first;
    bool answered;
  };
  for (const Change& change : {Change{26, 0, false}, Change{26, 127, false}, Change{26, 224, false},
                               Change{26, 240, false}, Change{30, 224, false},
                               Change{30, 239, false}, Change{30, 11, true}}) {
    Bytes frame = bytes_of_hex(icmp_frames::kEchoRequestHex);
    frame[change.at] = static_cast<std::byte>(change.first);
    set_header_checksum(frame);
    if (change.answered) {
      EXPECT_TRUE(echo_reply_in_place(frame));
    } else {
      expect_unchanged(frame, "address");
    }
  }
}

TEST(EchoReply, FragmentsStay) {
  for (const unsigned field : {0x2000U, 0x2001U, 0x0001U, 0x1fffU}) {
    Bytes frame = bytes_of_hex(icmp_frames::kEchoRequestHex);
    frame[20] = static_cast<std::byte>(field >> 8);
    frame[21] = static_cast<std::byte>(field);
    set_header_checksum(frame);
    expect_unchanged(frame, "fragment");
  }
}

TEST(EchoReply, LengthsThatLieChangeNothing) {
  // 27: no room for an ICMP header; 42: more than the frame has; 40: the message is cut.
  for (const unsigned total : {0U, 19U, 27U, 40U, 42U, 65535U}) {
    Bytes frame = bytes_of_hex(icmp_frames::kEchoRequestHex);
    frame[16] = static_cast<std::byte>(total >> 8);
    frame[17] = static_cast<std::byte>(total);
    set_header_checksum(frame);
    expect_unchanged(frame, "total length");
  }
}

}  // namespace
}  // namespace millrace::icmp_test
