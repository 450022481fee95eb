// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/tcp_segment.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/flow/tcp_script.hpp"

namespace millrace {
namespace {

using tcp_script::read_line;

std::vector<std::byte> bytes_of(const std::string& text) { return read_line(text).bytes; }

/// A header with these options, an ACK of 1000.
std::optional<TcpSegment> with_options(std::initializer_list<unsigned> options) {
  auto bytes = bytes_of("> A 1 ack 1000");
  tcp_script::add(bytes, options);
  while (bytes.size() % 4 != 0) bytes.push_back(std::byte{0});
  bytes[12] = static_cast<std::byte>(bytes.size() / 4 << 4);
  return parse_tcp_segment(bytes);
}

TEST(TcpSegment, SaysWhatTheHeaderSays) {
  const auto segment = parse_tcp_segment(bytes_of("> PA 4000000000+1000 ack 77 win 4321"));
  ASSERT_TRUE(segment);
  EXPECT_EQ(segment->sequence, 4000000000u);
  EXPECT_EQ(segment->end, 4000001000u);
  EXPECT_EQ(segment->acknowledgment, 77u);
  EXPECT_EQ(segment->sack, 77u);
  EXPECT_EQ(segment->window, 4321);
  EXPECT_EQ(segment->kind, TcpKind::kAck);
  EXPECT_TRUE(segment->acknowledges);
}

TEST(TcpSegment, SynAndFinTakeANumberEach) {
  EXPECT_EQ(parse_tcp_segment(bytes_of("> S 4294967295"))->end, 0u);
  EXPECT_EQ(parse_tcp_segment(bytes_of("> FA 10+5 ack 1"))->end, 16u);
  EXPECT_EQ(parse_tcp_segment(bytes_of("> R 10"))->end, 10u);
}

TEST(TcpSegment, EachCombinationOfFlagsHasAKindOrIsNone) {
  struct Valid {
    const char* flags;
    TcpKind kind;
  };
  const Valid all[] = {{"S", TcpKind::kSyn},   {"SU", TcpKind::kSyn},   {"SA", TcpKind::kSynAck},
                       {"R", TcpKind::kReset}, {"RA", TcpKind::kReset}, {"FA", TcpKind::kFin},
                       {"FAU", TcpKind::kFin}, {"A", TcpKind::kAck},    {"AU", TcpKind::kAck}};
  for (unsigned flags = 0; flags < 256; ++flags) {
    auto bytes = bytes_of("> A 1 ack 1");
    bytes[13] = static_cast<std::byte>(flags);
    std::optional<TcpKind> kind;
    for (const Valid& one : all) {  // PSH, ECE and CWR are free
      if (tcp_script::flags_of(one.flags) == (flags & 0x37)) kind = one.kind;
    }
    const auto segment = parse_tcp_segment(bytes);
    ASSERT_EQ(segment.has_value(), kind.has_value()) << flags;
    EXPECT_EQ(segment ? segment->kind : TcpKind::kNone, kind.value_or(TcpKind::kNone)) << flags;
  }
}

TEST(TcpSegment, WhatIsCutOrLiesAboutItsHeaderIsNone) {
  const auto whole = bytes_of("> S 1 ws 7 sackok");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse_tcp_segment(std::span(whole).first(size))) << size;
  }
  EXPECT_TRUE(parse_tcp_segment(whole));
  for (unsigned words = 0; words < 16; ++words) {
    auto bytes = bytes_of("> A 1+8 ack 1");
    bytes[12] = static_cast<std::byte>(words << 4);
    EXPECT_EQ(parse_tcp_segment(bytes).has_value(), words >= 5 && words <= 7) << words;
  }
}

TEST(TcpSegment, ReadsOptions) {
  const auto segment = parse_tcp_segment(bytes_of("> S 1 ws 7 sackok"));
  EXPECT_EQ(segment->scale, 8);
  EXPECT_TRUE(segment->may_sack);
  EXPECT_EQ(with_options({3, 3, 0})->scale, 1) << "a shift of 0 is an option, too";
  EXPECT_EQ(with_options({3, 3, 200})->scale, 15);
  EXPECT_EQ(with_options({1, 1, 3, 3, 2})->scale, 3);
  EXPECT_EQ(with_options({2, 4, 5, 180, 3, 3, 2})->scale, 3) << "behind another";
}

TEST(TcpSegment, MalformedOptionsEndThem) {
  EXPECT_EQ(with_options({3, 3, 2, 9, 0, 4, 2})->scale, 3);
  EXPECT_FALSE(with_options({3, 3, 2, 9, 0, 4, 2})->may_sack) << "a length of 0";
  EXPECT_FALSE(with_options({9, 1, 4, 2})->may_sack);
  EXPECT_FALSE(with_options({9, 200, 4, 2})->may_sack);
  EXPECT_FALSE(with_options({0, 4, 2})->may_sack) << "behind the end of options";
  EXPECT_EQ(with_options({3, 4, 2, 0})->scale, 0) << "a length that is not its";
  EXPECT_EQ(with_options({1, 1, 1, 3})->scale, 0);
}

TEST(TcpSegment, TakesTheHighestEdgeOfSackBeyondTheAck) {
  EXPECT_EQ(with_options({5, 10, 0, 0, 4, 0, 0, 0, 5, 0})->sack, 0x500u);
  EXPECT_EQ(with_options({5, 10, 0, 0, 0, 10, 0, 0, 0, 20})->sack, 1000u) << "D-SACK, below";
  EXPECT_EQ(with_options({5, 18, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 5, 0, 0, 0, 6, 0})->sack, 0x900u);
  EXPECT_EQ(with_options({5, 9, 0, 0, 4, 0, 0, 0, 5})->sack, 1000u);
}

}  // namespace
}  // namespace millrace
