// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/test_walk.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/services/functions/ids/detect/match_calls.hpp"
#include "tests/unit/services/functions/ids/detect/match_oracle.hpp"
#include "tests/unit/services/functions/ids/detect/random_tests.hpp"

namespace millrace::match_oracle {
namespace {

constexpr int kSeeds = 30'000;
constexpr Kinds kContentsAlone{
    .absence = false, .numbers = false, .variables = false, .regexes = false};

std::string shown(const std::string& text) {
  std::string out;
  for (const char byte : text) out += byte < ' ' ? static_cast<char>('0' + byte) : byte;
  return out;
}

TEST(TestWalk, FindsInWholeTextsWhatTryingEveryPlaceFinds) {
  std::size_t found = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    RandomTests random(seed);
    const BufferTests buffer = of_body(random.tests({}));
    const BufferMatcher matcher(buffer);
    for (int i = 0; i < 4; ++i) {
      const std::string text = random.text(14);
      const bool expected = matches(buffer.tests, {.bytes = text});
      ASSERT_EQ(look_at(matcher, text).found, expected ? Found::kYes : Found::kNo)
          << seed << " " << shown(text);
      found += expected;
    }
  }
  EXPECT_GT(found, 20'000u);
}

/// Of many places of one content each is tried with the one behind.
TEST(TestWalk, ALookThatTakesTooManyStepsIsGivenUp) {
  const BufferTests buffer =
      of_body({ContentMatch{.bytes = "a"}, ContentMatch{.bytes = "b", .distance = {{0}}},
               PcreMatch{.expression = "^c", .relative = true}});
  const BufferMatcher matcher(buffer);
  WorkShare share;
  MatcherScratch scratch;
  scratch.use(share);
  for (const int many : {20, 20'000}) {
    std::string text;
    for (int i = 0; i < many; ++i) text += "ab";
    share.begin(WorkShare::kUnitsMax);
    RuleVariables variables;
    const Look look = matcher.look({.bytes = std::as_bytes(std::span(text)), .is_complete = true},
                                   variables, scratch);
    EXPECT_EQ(look.found, Found::kNo);
    EXPECT_EQ(scratch.take_given_up(), many == 20 ? 0u : 1u);
    EXPECT_EQ(scratch.take_exceeded(), many != 20);
    EXPECT_FALSE(scratch.take_exceeded());
    EXPECT_FALSE(share.is_own_fault()) << "its rule decides that";
    EXPECT_EQ(share.left(), WorkShare::kUnitsMax);
  }
}

/// One buffer that comes in pieces, as it is after each of them.
struct Pieces {
  std::string whole;
  std::vector<std::size_t> ends;
  Pieces(RandomTests& random, std::size_t size_max) : whole(random.text(size_max)) {
    for (std::size_t end = 0; end < whole.size(); ends.push_back(end)) {
      end += 1 + random.below(whole.size() - end);
    }
    if (ends.empty()) ends.push_back(0);
  }
};

TEST(TestWalk, FindsContentsInPiecesWhereTheyEnd) {
  std::size_t found = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    RandomTests random(seed);
    const BufferTests buffer = seed % 2 == 0 ? of_body(random.tests(kContentsAlone))
                                             : of_stream(random.tests(kContentsAlone));
    const BufferMatcher matcher(buffer);
    const Pieces pieces(random, 16);
    std::size_t seen = 0;
    bool is_found = false;
    for (const std::size_t end : pieces.ends) {
      const std::string text = pieces.whole.substr(0, end);
      const bool expected = matches(
          buffer.tests, {.bytes = text, .seen = seen == 0 ? -1 : static_cast<std::int64_t>(seen)});
      const Look look = look_at(matcher, text, false, seen);
      ASSERT_EQ(look.found == Found::kYes, expected) << seed << " " << shown(text) << " " << seen;
      is_found = is_found || expected;
      seen = end;
    }
    ASSERT_EQ(is_found, matches(buffer.tests, {.bytes = pieces.whole})) << seed;
    found += is_found;
  }
  EXPECT_GT(found, 4'000u);
}

/// The content's bytes end behind `from`.
bool comes_behind(const ContentMatch& content, const std::string& text, std::size_t from) {
  Text whole{.bytes = text, .seen = static_cast<std::int64_t>(from)};
  const ContentMatch plain{.bytes = content.bytes, .nocase = content.nocase};
  return matches({plain}, whole);
}

TEST(TestWalk, NoIsForEverAndWhatIsMissingHasToCome) {
  std::size_t yes = 0;
  std::size_t never = 0;
  std::size_t missing = 0;
  std::size_t of_regexes = 0;
  for (int seed = 0; seed < 2 * kSeeds; ++seed) {
    RandomTests random(seed);
    const Kinds kinds{.absence = seed % 3 == 0, .numbers = seed % 5 == 0, .regexes = seed % 7 == 0};
    const BufferTests buffer =
        seed % 2 == 0 ? of_body(random.tests(kinds)) : of_stream(random.tests(kinds));
    const BufferMatcher matcher(buffer);
    const Pieces pieces(random, 16);
    std::size_t seen = 0;
    bool is_never = false;
    std::vector<std::pair<std::uint16_t, std::size_t>> awaited;  // and behind which byte
    for (std::size_t i = 0; i < pieces.ends.size(); ++i) {
      const std::string text = pieces.whole.substr(0, pieces.ends[i]);
      const bool is_complete = i + 1 == pieces.ends.size();
      const Look look = look_at(matcher, text, is_complete, seen);
      if (look.found == Found::kYes) {
        ASSERT_FALSE(is_never) << seed << " " << shown(text);
        for (const auto& [place, behind] : awaited) {
          const ContentMatch* const has_to_come = matcher.literal_of(place);
          ASSERT_NE(has_to_come, nullptr);
          ASSERT_TRUE(comes_behind(*has_to_come, text, behind))
              << seed << " " << shown(text) << " " << place;
        }
        awaited.clear();
        ++yes;
      }
      if (is_complete) {
        ASSERT_NE(look.found, Found::kNotYet) << seed;
      } else {
        is_never = is_never || look.found == Found::kNo;
        never += look.found == Found::kNo;
      }
      if (look.missing != kNoTest) {
        ASSERT_EQ(look.found, Found::kNotYet);
        awaited.emplace_back(look.missing, text.size());
        ++missing;
        of_regexes += std::holds_alternative<PcreMatch>(buffer.tests[look.missing]);
      }
      seen = text.size();
    }
  }
  EXPECT_GT(yes, 10'000u);
  EXPECT_GT(never, 10'000u);
  EXPECT_GT(missing, 10'000u);
  EXPECT_GT(of_regexes, 100u);
}

TEST(TestWalk, YesOfABodyHoldsWhateverFollows) {
  std::size_t yes = 0;
  std::size_t later = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    RandomTests random(seed);
    const BufferTests buffer = of_body(random.tests({.regexes = false}));
    const BufferMatcher matcher(buffer);
    const std::string text = random.text(10);
    const Look look = look_at(matcher, text, false);
    for (int i = 0; i < 8; ++i) {
      const std::string whole = text + random.text(6);
      const bool expected = matches(buffer.tests, {.bytes = whole});
      const bool is_so = look.found == Found::kNotYet || (look.found == Found::kYes) == expected;
      ASSERT_TRUE(is_so) << seed << " " << shown(whole);
    }
    yes += look.found == Found::kYes;
    later += look.found == Found::kNotYet;
  }
  EXPECT_GT(yes, 3'000u);
  EXPECT_GT(later, 3'000u);
}

TEST(TestWalk, OfAStreamWhatIsThereCounts) {
  std::size_t found = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    RandomTests random(seed);
    const BufferTests buffer = of_stream(random.tests({}));
    const BufferMatcher matcher(buffer);
    const std::string text = random.text(14);
    const bool expected = matches(buffer.tests, {.bytes = text, .is_complete = false});
    ASSERT_EQ(look_at(matcher, text, false).found == Found::kYes, expected)
        << seed << " " << shown(text);
    found += expected;
  }
  EXPECT_GT(found, 4'000u);
}

}  // namespace
}  // namespace millrace::match_oracle
