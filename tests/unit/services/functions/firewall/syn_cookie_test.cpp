// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/syn_cookie.hpp"

#include <gtest/gtest.h>

#include <random>

namespace millrace {
namespace {

constexpr std::uint64_t kMinuteNs = 64'000'000'000;

FlowTuple cookie_tuple() {
  FlowTuple tuple{.source_port = 1, .destination_port = 2, .protocol = 6, .version = 4};
  tuple.source[0] = 10;
  return tuple;
}

TEST(SynCookies, SayTheMssOrTheNextLowerOne) {
  const SynCookies cookies({1, 2});
  const FlowTuple tuple = cookie_tuple();
  for (const auto& [mss, kept] : {std::pair<std::uint16_t, std::uint16_t>{0, 536},
                                  {535, 536},
                                  {1219, 536},
                                  {1220, 1220},
                                  {1459, 1440},
                                  {1460, 1460},
                                  {8939, 1460},
                                  {65535, 8940}}) {
    for (const std::uint32_t sequence : {0u, 7u, UINT32_MAX}) {
      const std::uint32_t number = cookies.number(tuple, sequence, mss, 5 * kMinuteNs);
      EXPECT_EQ(cookies.mss_of(tuple, sequence, number, 5 * kMinuteNs), kept);
    }
  }
}

TEST(SynCookies, AreGoodForTheMinuteAndTheNextOne) {
  const SynCookies cookies({1, 2});
  const FlowTuple tuple = cookie_tuple();
  // Also where the 8 bits of the minute begin anew, and at the start of the clock.
  for (const std::uint64_t minute : {0u, 1u, 255u, 256u, 511u, 70'000u}) {
    const std::uint64_t now = minute * kMinuteNs;
    const std::uint32_t number = cookies.number(tuple, 9, 1460, now);
    EXPECT_TRUE(cookies.mss_of(tuple, 9, number, now));
    EXPECT_TRUE(cookies.mss_of(tuple, 9, number, now + kMinuteNs));
    EXPECT_FALSE(cookies.mss_of(tuple, 9, number, now + 2 * kMinuteNs));
    if (minute == 0) continue;
    EXPECT_FALSE(cookies.mss_of(tuple, 9, number, now - kMinuteNs));
  }
}

TEST(SynCookies, AreForOneConnectionOfOneSecret) {
  const SynCookies cookies({1, 2});
  const FlowTuple tuple = cookie_tuple();
  const std::uint32_t number = cookies.number(tuple, 9, 1460, 0);
  FlowTuple other = tuple;
  other.source_port = 3;
  EXPECT_FALSE(cookies.mss_of(other, 9, number, 0));
  EXPECT_FALSE(cookies.mss_of(tuple, 9 + 8, number, 0));
  EXPECT_FALSE(cookies.mss_of(tuple, 9, number + 8, 0));
  EXPECT_FALSE(SynCookies({1, 3}).mss_of(tuple, 9, number, 0));
}

TEST(SynCookies, AreHardToGuess) {
  const SynCookies cookies({1, 2});
  std::mt19937 random(7);
  unsigned guessed = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    guessed += cookies.mss_of(cookie_tuple(), 9, random(), kMinuteNs) ? 1 : 0;
  }
  EXPECT_LE(guessed, 1u) << "16 of 2^32 are right";
}

TEST(SynCookies, TimestampsCarryScaleAndSack) {
  std::uint32_t last = 0;
  for (std::uint8_t scale = 0; scale <= 15; ++scale) {
    for (const bool may_sack : {false, true}) {
      const std::uint64_t now_ns = 1'000'000'000ull * (scale + 1u);
      const std::uint32_t value =
          syn_cookie_timestamp({.scale = scale, .may_sack = may_sack}, now_ns);
      EXPECT_NEAR(value, now_ns / 1'000'000, 64) << "milliseconds";
      EXPECT_TRUE(may_sack || value > last);
      last = value;
      TcpOptions options;
      read_syn_cookie_timestamp(value, options);
      EXPECT_EQ(options.scale, scale);
      EXPECT_EQ(options.may_sack, may_sack);
    }
  }
}

}  // namespace
}  // namespace millrace
