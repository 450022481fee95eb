// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/icmpv6.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "tests/unit/shared/packet/hex_bytes.hpp"
#include "tests/unit/shared/packet/icmpv6_frames.hpp"

namespace millrace {
namespace {

constexpr MacAddress kAskingMac = {2, 0, 0, 0, 0, 1}, kAskedMac = {2, 0, 0, 0, 0, 2};
constexpr Ipv6Bytes kAsking = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr Ipv6Bytes kRouterLinkLocal = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr Ipv6Bytes kAskedLinkLocal = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};

TEST(MayAnswerIpv6, FollowsRfc4443) {
  for (const auto& [what, hex, answer] : icmpv6_frames::kAnswers) {
    const std::vector<std::byte> packet = bytes_of_hex(hex);
    EXPECT_EQ(may_answer_ipv6(packet, false), answer == icmpv6_frames::Answer::kAlways) << what;
    EXPECT_EQ(may_answer_ipv6(packet, true), answer != icmpv6_frames::Answer::kNever) << what;
  }
}

TEST(MayAnswerIpv6, SaysNoToEachErrorOfOurOwn) {
  for (const auto& [what, hex, error] : icmpv6_frames::kErrors) {
    const std::vector<std::byte> frame = bytes_of_hex(hex);
    EXPECT_FALSE(may_answer_ipv6(std::span(frame).subspan(14), true)) << what;
  }
}

TEST(Icmpv6QuoteBytes, KeepTheErrorWithinTheMinimumMtu) {
  EXPECT_EQ(icmpv6_quote_bytes(0), 0u);
  EXPECT_EQ(icmpv6_quote_bytes(1231), 1231u);
  EXPECT_EQ(icmpv6_quote_bytes(1232), 1280u - 48);
  EXPECT_EQ(icmpv6_quote_bytes(1233), 1232u);
  EXPECT_EQ(icmpv6_quote_bytes(65575), 1232u);
}

std::vector<std::byte> front_of_error(std::span<const std::byte> quote, Icmpv6Error error) {
  std::vector<std::byte> front(kIcmpv6ErrorFrontBytes, std::byte{0xee});
  write_icmpv6_error(front, quote, kAskingMac, kAskedMac, kRouterLinkLocal, kAsking, error);
  return front;
}

TEST(WriteIcmpv6Error, WritesWhatScapyWrites) {
  const std::vector<std::byte> quote = bytes_of_hex(icmpv6_frames::kQuoted);
  for (const auto& [what, hex, error] : icmpv6_frames::kErrors) {
    EXPECT_EQ(hex_of_bytes(front_of_error(quote, error)) + icmpv6_frames::kQuoted, hex) << what;
  }
}

TEST(WriteIcmpv6Error, QuotesUpToItsLimit) {
  std::vector<std::byte> quote(kIcmpv6QuoteBytesMax);
  for (std::size_t i = 0; i < quote.size(); ++i) quote[i] = static_cast<std::byte>(i * 7);
  EXPECT_EQ(hex_of_bytes(front_of_error(quote, Icmpv6Error::hop_limit_exceeded())),
            icmpv6_frames::kLongestFront);
  EXPECT_EQ(icmpv6_quote_bytes(quote.size()), quote.size());
}

TEST(WriteIcmpv6ErrorDeathTest, WantsTheFrontAloneAndAQuoteWithinItsLimit) {
  std::vector<std::byte> bytes(kIcmpv6QuoteBytesMax + 1);
  EXPECT_DEATH(front_of_error(bytes, Icmpv6Error::no_route()), "CHECK");
  EXPECT_DEATH(write_icmpv6_error(bytes, {}, kAskingMac, kAskedMac, kAsking, kAsking,
                                  Icmpv6Error::no_route()),
               "CHECK");
}

TEST(EchoReplyIpv6, IsWhatScapyWrites) {
  std::vector<std::byte> frame = bytes_of_hex(icmpv6_frames::kEchoRequest);
  ASSERT_TRUE(echo_reply_in_place_ipv6(frame, nullptr));
  EXPECT_EQ(hex_of_bytes(frame), icmpv6_frames::kEchoReply);
  EXPECT_FALSE(echo_reply_in_place_ipv6(frame, nullptr)) << "a reply is not answered";
}

TEST(EchoReplyIpv6, KeepsAUnicastDestinationWhateverIsGivenInstead) {
  std::vector<std::byte> frame = bytes_of_hex(icmpv6_frames::kEchoRequest);
  ASSERT_TRUE(echo_reply_in_place_ipv6(frame, &kAskedLinkLocal, &kAskingMac));
  EXPECT_EQ(hex_of_bytes(frame), icmpv6_frames::kEchoReply);
}

TEST(EchoReplyIpv6, LeavesPaddingBehindThePayloadLength) {
  std::vector<std::byte> frame = bytes_of_hex(icmpv6_frames::kEchoRequest);
  frame.resize(frame.size() + 3, std::byte{0xa5});
  ASSERT_TRUE(echo_reply_in_place_ipv6(frame, nullptr));
  EXPECT_EQ(hex_of_bytes(frame), std::string(icmpv6_frames::kEchoReply) + "a5a5a5");
}

TEST(EchoReplyIpv6, ComesFromAnOwnAddressWhenAGroupWasAsked) {
  std::vector<std::byte> frame = bytes_of_hex(icmpv6_frames::kGroupEchoRequest);
  EXPECT_FALSE(echo_reply_in_place_ipv6(frame, nullptr, &kAskedMac));
  EXPECT_FALSE(echo_reply_in_place_ipv6(frame, &kAskedLinkLocal));
  EXPECT_EQ(hex_of_bytes(frame), icmpv6_frames::kGroupEchoRequest);
  ASSERT_TRUE(echo_reply_in_place_ipv6(frame, &kAskedLinkLocal, &kAskedMac));
  EXPECT_EQ(hex_of_bytes(frame), icmpv6_frames::kGroupEchoReply);
}

TEST(EchoReplyIpv6, AnswersNothingElseAndLeavesIt) {
  for (const auto& [what, hex] : icmpv6_frames::kRefusedEchoes) {
    std::vector<std::byte> frame = bytes_of_hex(hex);
    EXPECT_FALSE(echo_reply_in_place_ipv6(frame, &kAskedLinkLocal, &kAskedMac)) << what;
    EXPECT_EQ(hex_of_bytes(frame), hex) << what;
  }
}

TEST(EchoReplyIpv6, AnswersNoFrameThatIsCut) {
  const std::vector<std::byte> whole = bytes_of_hex(icmpv6_frames::kEchoRequest);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(echo_reply_in_place_ipv6(cut, nullptr)) << size;
  }
}

}  // namespace
}  // namespace millrace
