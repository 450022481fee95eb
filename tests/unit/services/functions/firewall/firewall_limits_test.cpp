// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/firewall/firewall_stage.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr char kTwoEach[] =
    "drop udp any -> any state new connections over 2 per source\n"
    "pass udp any -> any\n";

TEST(FirewallLimits, ConnectionsOfASourceHurtNoOther) {
  FirewallStage stage(kTwoEach);
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 1, 7), udp_of(1, 2, 7), udp_of(1, 3, 7), udp_of(2, 1, 7)}),
            "++-+");
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 3, 7), udp_of(1, 1, 7), udp_of(2, 2, 7)}), "-++");
  EXPECT_EQ(stage.send(kWan, {answer(udp_of(1, 1, 7))}), "+");
  stage.now_ns += 1000 * kSecond;
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 3, 7), udp_of(1, 4, 7), udp_of(1, 5, 7)}), "++-")
      << "the others have ended";
}

TEST(FirewallLimits, WithoutASourceTheRuleCountsAll) {
  FirewallStage stage("pass udp any -> any connections 2\n");
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 1, 7), udp_of(2, 1, 7), udp_of(3, 1, 7)}), "++-");
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 1, 7), udp_of(3, 1, 7)}), "+-");
}

TEST(FirewallLimits, WhatIsNotKeptCountsNot) {
  FirewallStage stage(kTwoEach);
  stage.wall.closed = true;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(stage.send(kLan, {udp_of(1, 1, 7), udp_of(1, 2, 7), udp_of(1, 3, 7)}), "---");
  }
  stage.wall.closed = false;
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 4, 7), udp_of(1, 5, 7), udp_of(1, 6, 7)}), "++-");
}

Frame tcp(unsigned from, std::uint8_t flags, std::uint8_t sequence) {
  Frame frame = FrameBuilder().ipv4(6, 20).tcp(5, from, 7).build();
  frame[14 + 20 + 7] = std::byte{sequence};
  frame[14 + 20 + 13] = std::byte{flags};
  return frame;
}

TEST(FirewallLimits, AClosedConnectionCountsNot) {
  constexpr std::uint8_t kSyn = 2, kRst = 4;
  FirewallStage stage(
      "drop tcp any -> any connections over 1 per source\n"
      "pass tcp any -> any\n");
  EXPECT_EQ(stage.send(kLan, {tcp(1, kSyn, 1)}), "+");
  EXPECT_EQ(stage.send(kLan, {tcp(2, kSyn, 1)}), "-");
  EXPECT_EQ(stage.send(kLan, {tcp(1, kRst, 2)}), "+");
  EXPECT_EQ(stage.send(kLan, {tcp(2, kSyn, 1), tcp(3, kSyn, 1)}), "+-");
  stage.now_ns += 1000 * kSecond;
  EXPECT_EQ(stage.send(kLan, {tcp(4, kSyn, 1), tcp(5, kSyn, 1)}), "+-") << "it ended once";
}

TEST(FirewallLimits, AWorkerThatDiesTakesBackItsBatchAlone) {
  FirewallStage stage(kTwoEach);
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 1, 7)}), "+");
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 2, 7), udp_of(2, 1, 7)}), "++");
  ASSERT_TRUE(stage.take_back());
  stage.load(kTwoEach);
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 3, 7), udp_of(1, 4, 7)}), "+-");
}

/// Packets of few hosts and ports, both ways, that begin, reset and end connections.
std::vector<Frame> random_frames(std::mt19937& random) {
  std::vector<Frame> frames(1 + random() % 20);
  for (Frame& frame : frames) {
    const auto port = static_cast<unsigned>(1 + random() % 30);
    const auto flags = std::array<std::uint8_t, 4>{2, 2, 4, 16}[random() % 4];
    frame = random() % 2 == 0 ? udp_of(static_cast<std::uint8_t>(random() % 6), port,
                                       static_cast<unsigned>(7 + random() % 3))
                              : tcp(port, flags, static_cast<std::uint8_t>(random() % 3));
    if (random() % 4 == 0) frame = answer(frame);
  }
  return frames;
}

TEST(FirewallLimits, AllThatIsTakenIsGivenBack) {
  constexpr const char* kRules[] = {
      "drop ip any -> any port 7 connections over 3 per source\n"
      "drop tcp any -> any connections over 9\n"
      "alert ip any -> any connections over 5 per source\n"
      "pass ip any -> any\n",
      "drop ip any -> any connections over 12 per source\n"
      "drop tcp any -> any connections over 9\n"
      "pass ip any -> any port 7-8\n"
      "pass ip any -> any connections 20\n",
      "pass ip any -> any\n"};
  FirewallStage stage(kRules[0], {{"sources", "40"}});
  std::mt19937 random(11);
  for (int round = 0; round < 4000; ++round) {
    stage.wall.closed = random() % 4 == 0;
    stage.now_ns += random() % (2 * kSecond);
    stage.send(random() % 2 == 0 ? kLan : kWan, random_frames(random));
    if (random() % 10 == 0) {
      ASSERT_TRUE(stage.take_back());
      stage.load(kRules[random() % std::size(kRules)]);
    }
  }
  const auto counts = stage.state().bytes.subspan(2 * kCacheLine);
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  stage.load(kRules[0]);
  stage.wall.closed = false;
  stage.send(kLan, random_frames(random));
  EXPECT_FALSE(std::ranges::all_of(counts, is_zero));
  stage.now_ns += 1'000'000 * kSecond;
  for (int i = 0; i < 100; ++i) stage.send(kLan, {Frame(60)});
  EXPECT_TRUE(std::ranges::all_of(counts, is_zero));
}

TEST(FirewallLimits, CountsStayWithTheRuleOverAReload) {
  FirewallStage stage(kTwoEach);
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 1, 7), udp_of(1, 2, 7)}), "++");
  stage.load(
      "drop udp any -> any port 9 connections over 0 per source\n"
      "drop udp any -> any state new connections over 3 per source\n"
      "pass udp any -> any\n");
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 3, 7), udp_of(1, 4, 7), udp_of(2, 1, 9)}), "+--");
  stage.load("pass udp any -> any\n");
  stage.now_ns += 1000 * kSecond;
  EXPECT_EQ(stage.send(kLan, {udp_of(9, 9, 7)}), "+") << "rules that are gone give back";
  stage.load(kTwoEach);
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 3, 7), udp_of(1, 4, 7), udp_of(1, 5, 7)}), "++-");
}

TEST(FirewallLimits, ConnectionsThatWereThereAreCountedWhenTheRuleSeesThem) {
  FirewallStage stage("pass udp any -> any\n");
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 1, 7), udp_of(1, 2, 7)}), "++");
  stage.load(
      "drop udp any -> any connections over 2 per source\n"
      "pass udp any -> any\n");
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 1, 7), udp_of(1, 2, 7), udp_of(1, 3, 7)}), "++-");
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 1, 7), udp_of(1, 2, 7)}), "++");
}

TEST(FirewallLimits, WithoutRoomWhatDropsMatchesAndNothingElse) {
  FirewallStage stage(
      "drop udp any -> any port 7 connections over 9 per source\n"
      "pass udp any -> any port 8 connections 9 per source\n"
      "pass udp any -> any port 7\n",
      {{"sources", "2"}});
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 1, 7), udp_of(2, 1, 8)}), "++");
  EXPECT_EQ(stage.send(kLan, {udp_of(3, 1, 7), udp_of(3, 1, 8), udp_of(1, 2, 7)}), "--+");
  EXPECT_EQ(stage.hits[3 + kAclHitsWrong], 2u);
}

TEST(FirewallLimits, APacketOfNoConnectionIsOver) {
  const Frame later = FrameBuilder().ipv4(17, 16, 20, 3).padding(16).build();
  FirewallStage over("drop ip any -> any connections over 9\npass ip any -> any\n");
  EXPECT_EQ(over.send(kLan, {later}), "-");
  FirewallStage below("pass ip any -> any connections 9\n");
  EXPECT_EQ(below.send(kLan, {later, udp(1, 7)}), "-+");
}

TEST(FirewallLimits, ARateOfEachSource) {
  FirewallStage stage("pass udp any -> any limit 1/second burst 2 per source\n");
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 1, 7), udp_of(1, 2, 7), udp_of(1, 3, 7), udp_of(2, 1, 7)}),
            "++-+");
  stage.now_ns += kSecond;
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 1, 7), udp_of(1, 1, 7), udp_of(2, 1, 7)}), "+-+");
}

TEST(FirewallLimits, ANetworkIsOneSource) {
  FirewallStage stage(
      "drop udp any -> any connections over 3 per source/30,64\n"
      "pass udp any -> any limit 2/second burst 2 per source/31,64\n");
  EXPECT_EQ(stage.send(kLan, {udp_of(4, 1, 7), udp_of(5, 1, 7), udp_of(4, 2, 7), udp_of(6, 1, 7)}),
            "++-+");
  stage.now_ns += kSecond;
  EXPECT_EQ(stage.send(kLan, {udp_of(7, 1, 7), udp_of(8, 1, 7)}), "-+") << "the fourth of 4 to 7";
}

TEST(FirewallLimits, ARateThatIsAboveDrops) {
  FirewallStage stage(
      "drop udp any -> any port 7 limit over 1/second burst 2 per source\n"
      "drop udp any -> any port 8 limit over 1/second burst 1\n"
      "pass udp any -> any\n",
      {{"sources", "1"}});
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 1, 7), udp_of(1, 2, 7), udp_of(1, 3, 7)}), "++-");
  EXPECT_EQ(stage.send(kLan, {udp_of(1, 1, 8), udp_of(2, 2, 8)}), "+-");
  std::string of_many;
  for (std::uint8_t host = 2; host < 30; ++host) of_many += stage.send(kLan, {udp_of(host, 1, 7)});
  EXPECT_THAT(of_many, HasSubstr("-")) << "no room for them";
  EXPECT_GT(stage.hits[3 + kAclHitsWrong], 0u);
}

TEST(FirewallLimits, TooManyRulesThatCountAreRefused) {
  std::string rules;
  for (unsigned port = 0; port <= ConnectionCounts::kGroupsMax; ++port) {
    rules += "pass udp any -> any port " + std::to_string(port) + " connections 1\n";
  }
  try {
    FirewallStage stage(rules);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("9 rules count connections; at most 8 may"));
  }
}

}  // namespace
}  // namespace millrace
