// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/scanner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/services/functions/match/match_fixture.hpp"
#include "tests/unit/services/functions/match/match_oracle.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {
namespace {

using Random = std::mt19937;

std::string letters(Random& random, std::size_t length) {
  std::string text(length, ' ');
  for (char& letter : text) letter = static_cast<char>('a' + random() % 6);
  return text;
}

/// Alerts for literals of few different letters, so that they overlap and nearly match.
std::vector<MatchRule> random_rules(Random& random) {
  const std::size_t shortest = 1 + random() % 3;
  std::vector<MatchRule> rules(1 + random() % (random() % 3 == 0 ? 60 : 3));
  for (MatchRule& rule : rules) {
    rule.nocase = random() % 4 == 0;
    rule.name = "r";
    rule.literal = letters(random, shortest + random() % 6);
  }
  return rules;
}

/// Mostly bytes of no literal; one or two literals at random places, the ends included.
std::string random_payload(Random& random, const std::vector<MatchRule>& rules) {
  std::string payload(1 + random() % 500, 'z');
  for (char& byte : payload) {
    if (random() % 40 == 0) byte = letters(random, 1)[0];
  }
  for (unsigned i = random() % 3; i > 0; --i) {
    const std::string& literal = rules[random() % rules.size()].literal;
    if (literal.size() > payload.size()) continue;
    payload.replace(random() % (payload.size() - literal.size() + 1), literal.size(), literal);
  }
  return payload;
}

/// The library's code for one instruction set or another has missed literals, most of them short
/// ones, at some lengths and alignments.
TEST(MatchScanner, FindsWhatASearchOfEveryPlaceFinds) {
  Random random(20);
  const MatchFolder folder;
  std::uint64_t found = 0;
  std::uint64_t empty = 0;
  for (int set = 0; set < 150; ++set) {
    const std::vector<MatchRule> rules = random_rules(random);
    ASSERT_TRUE(write_match_image(folder.path("i"), rules).empty());
    const MatchImage image(folder.path("i"));
    const MatchScanner scanner(image);
    std::vector<std::byte> memory(2048);
    for (int text = 0; text < 200; ++text) {
      const std::string payload = random_payload(random, rules);
      const auto bytes = static_cast<unsigned>(payload.size());
      const Frame frame = FrameBuilder().ipv4(17, 8 + bytes).udp(bytes).text(payload).build();
      const std::span<std::byte> placed(memory.data() + random() % 64, frame.size());
      std::ranges::copy(frame, placed.begin());
      const std::uint32_t wanted = oracle::match_word(placed, rules);
      ASSERT_EQ(scanner.strongest_rule(placed), wanted)
          << "set " << set << " of " << rules.size() << ", payload " << payload;
      ++(wanted == 0 ? empty : found);
    }
  }
  EXPECT_GT(found, 10'000u);
  EXPECT_GT(empty, 1'000u);
}

TEST(MatchScanner, ASingleByteIsFoundInBothCasesWithNocaseOnly) {
  const MatchFolder folder;
  MatchRule folded;
  folded.literal = "q";
  folded.name = "folded";
  folded.nocase = true;
  MatchRule exact = folded;
  exact.literal = "x";
  exact.nocase = false;
  ASSERT_TRUE(write_match_image(folder.path("i"), {folded, exact}).empty());
  const MatchImage image(folder.path("i"));
  EXPECT_EQ(image.database(), nullptr) << "nothing for the library to look for";
  const MatchScanner scanner(image);
  const auto word_of = [&](const std::string& payload) {
    const auto bytes = static_cast<unsigned>(payload.size());
    return scanner.strongest_rule(
        FrameBuilder().ipv4(17, 8 + bytes).udp(bytes).text(payload).build());
  };
  EXPECT_EQ(word_of("aQ"), 1u);
  EXPECT_EQ(word_of("qx"), 1u);
  EXPECT_EQ(word_of("ax"), 2u);
  EXPECT_EQ(word_of("aX"), 0u);
}

}  // namespace
}  // namespace millrace
