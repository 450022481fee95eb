// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/pending_rules.hpp"

#include <gtest/gtest.h>

#include <random>

#include "services/functions/ids/detect/rule_routes.hpp"
#include "tests/unit/services/functions/ids/detect/rule_by_hand.hpp"

namespace millrace {
namespace {

constexpr std::size_t kManyLiterals = 1'000;

PendingRule waits(std::uint32_t signature, std::uint16_t missing, std::uint64_t since) {
  return {.signature = signature, .missing = missing, .mark = NewBytes::kNoMark, .since = since};
}

TEST(PendingRules, EachSignatureWaitsOnceSinceItsFirstTime) {
  PendingRules pending;
  EXPECT_TRUE(keep_pending(pending, waits(5, 1, 100)));
  EXPECT_TRUE(keep_pending(pending, waits(2, 1, 200)));
  EXPECT_TRUE(keep_pending(pending, waits(5, 3, 300)));
  ASSERT_EQ(pending.size(), 2u);
  EXPECT_EQ(pending[0].signature, 2u);
  ASSERT_NE(find_pending(pending, 5), nullptr);
  EXPECT_EQ(find_pending(pending, 5)->missing, 3);
  EXPECT_EQ(find_pending(pending, 5)->since, 100u);
  drop_pending(pending, 5);
  drop_pending(pending, 7);
  EXPECT_EQ(find_pending(pending, 5), nullptr);
  EXPECT_EQ(pending.size(), 1u);
}

TEST(PendingRules, TheOneThatHasWaitedLongestMakesRoom) {
  PendingRules pending;
  for (std::uint32_t number = 0; number < kPendingMax; ++number) {
    ASSERT_TRUE(keep_pending(pending, waits(number, 0, 1'000'000 + 7 * number % 101)));
  }
  drop_pending(pending, 70);
  ASSERT_TRUE(keep_pending(pending, waits(70, 0, 1)));
  EXPECT_FALSE(keep_pending(pending, waits(100'000, 0, 2'000'000)));
  EXPECT_EQ(pending.size(), kPendingMax);
  EXPECT_EQ(find_pending(pending, 70), nullptr);
  EXPECT_NE(find_pending(pending, 100'000), nullptr);
  EXPECT_TRUE(std::ranges::is_sorted(pending, {}, &PendingRule::signature));
}

TEST(NewBytes, AContentCountsWhoseEndIsNew) {
  const auto has = [](std::string_view text, std::uint32_t seen, const ContentMatch& content) {
    NewBytes news;
    news.take(by_hand::value_of(text, seen), 1);
    return news.has_end_of(content);
  };
  EXPECT_TRUE(has("abcd", 3, by_hand::content("bcd")));
  EXPECT_FALSE(has("abcd", 4, by_hand::content("bcd")));
  EXPECT_FALSE(has("abcdx", 4, by_hand::content("bcd")));
  EXPECT_FALSE(has("aBcd", 0, by_hand::content("bcd")));
  EXPECT_TRUE(has("aBcd", 0, by_hand::content("bcd", true)));
  EXPECT_TRUE(has("abc", 2, by_hand::content("c")));
  EXPECT_FALSE(has("abc", 3, by_hand::content("c")));
  EXPECT_FALSE(has("", 0, by_hand::content("c")));
}

TEST(NewBytes, FindsWhatASearchOfEachPlaceFinds) {
  std::uint64_t found = 0, absent = 0;
  NewBytes news;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto letters = [&](std::size_t length) {
      std::string text(length, ' ');
      for (char& letter : text) letter = "abAB\0"[random() % 5];
      return text;
    };
    const std::string text = letters(random() % 300);
    const auto seen = static_cast<std::uint32_t>(random() % (text.size() + 1));
    news.take(by_hand::value_of(text, seen), random() % 2 == 0 ? 1 : kManyLiterals);
    for (int content = 0; content < 50; ++content) {
      const bool nocase = random() % 2 == 0;
      std::string literal = letters(1 + random() % 8);
      if (random() % 8 == 0 && text.size() > 80) literal = text.substr(random() % 10, 70);
      if (nocase) std::ranges::transform(literal, literal.begin(), ::tolower);
      const std::string_view end = std::string_view(literal).substr(
          literal.size() - std::min(literal.size(), kGateBytesMax));
      const bool wanted = by_hand::ends_behind(text, seen, end, nocase);
      ASSERT_EQ(news.has_end_of(by_hand::content(literal, nocase)), wanted) << "seed " << seed;
      if (wanted) {
        EXPECT_TRUE(news.has_mark(NewBytes::last_mark(by_hand::content(literal, nocase))));
      }
      ++(wanted ? found : absent);
    }
  }
  EXPECT_GT(found, 1'000u);
  EXPECT_GT(absent, 1'000u);
}

}  // namespace
}  // namespace millrace
