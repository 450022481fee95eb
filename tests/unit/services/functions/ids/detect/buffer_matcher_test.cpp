// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/buffer_matcher.hpp"

#include <gtest/gtest.h>

#include <string>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/ids/detect/match_oracle.hpp"
#include "tests/unit/services/functions/ids/detect/random_tests.hpp"

namespace millrace {
namespace {

using match_oracle::Kinds;
using match_oracle::RandomTests;

constexpr int kSeeds = 30'000;
constexpr Kinds kContentsAlone{
    .absence = false, .numbers = false, .variables = false, .regexes = false};

BufferTests of_body(std::vector<Match> tests) {
  return {.buffer = RuleBuffer::kFileData, .tests = std::move(tests)};
}
BufferTests of_stream(std::vector<Match> tests) {
  return {.buffer = RuleBuffer::kPayload, .tests = std::move(tests)};
}

/// What the matcher says of a text of which `seen` bytes were looked at.
Look look_at(const BufferMatcher& matcher, const std::string& text, bool is_complete = true,
             std::size_t seen = 0) {
  static MatcherScratch scratch;
  RuleVariables variables;
  return matcher.look({.bytes = std::as_bytes(std::span(text)),
                       .seen = static_cast<std::uint32_t>(seen),
                       .is_complete = is_complete},
                      variables, scratch);
}
Found found_in(const std::vector<Match>& tests, const std::string& text) {
  const BufferTests buffer = of_body(tests);
  return look_at(BufferMatcher(buffer), text).found;
}

std::string shown(const std::string& text) {
  std::string out;
  for (const char byte : text) out += byte < ' ' ? static_cast<char>('0' + byte) : byte;
  return out;
}

TEST(BufferMatcher, FindsInWholeTextsWhatTryingEveryPlaceFinds) {
  std::size_t found = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    RandomTests random(seed);
    const BufferTests buffer = of_body(random.tests({}));
    const BufferMatcher matcher(buffer);
    for (int i = 0; i < 4; ++i) {
      const std::string text = random.text(14);
      const bool expected = match_oracle::matches(buffer.tests, {.bytes = text});
      ASSERT_EQ(look_at(matcher, text).found, expected ? Found::kYes : Found::kNo)
          << seed << " " << shown(text);
      found += expected;
    }
  }
  EXPECT_GT(found, 20'000u);
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

TEST(BufferMatcher, FindsContentsInPiecesWhereTheyEnd) {
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
      const bool expected = match_oracle::matches(
          buffer.tests, {.bytes = text, .seen = seen == 0 ? -1 : static_cast<std::int64_t>(seen)});
      const Look look = look_at(matcher, text, false, seen);
      ASSERT_EQ(look.found == Found::kYes, expected) << seed << " " << shown(text) << " " << seen;
      is_found = is_found || expected;
      seen = end;
    }
    ASSERT_EQ(is_found, match_oracle::matches(buffer.tests, {.bytes = pieces.whole})) << seed;
    found += is_found;
  }
  EXPECT_GT(found, 5'000u);
}

/// The content's bytes end behind `from`.
bool comes_behind(const ContentMatch& content, const std::string& text, std::size_t from) {
  match_oracle::Text whole{.bytes = text, .seen = static_cast<std::int64_t>(from)};
  const ContentMatch plain{.bytes = content.bytes, .nocase = content.nocase};
  return match_oracle::matches({plain}, whole);
}

TEST(BufferMatcher, NoIsForEverAndWhatIsMissingHasToCome) {
  std::size_t yes = 0;
  std::size_t never = 0;
  std::size_t missing = 0;
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
          ASSERT_TRUE(comes_behind(std::get<ContentMatch>(buffer.tests[place]), text, behind))
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
      }
      seen = text.size();
    }
  }
  EXPECT_GT(yes, 10'000u);
  EXPECT_GT(never, 10'000u);
  EXPECT_GT(missing, 10'000u);
}

TEST(BufferMatcher, YesOfABodyHoldsWhateverFollows) {
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
      const bool expected = match_oracle::matches(buffer.tests, {.bytes = whole});
      const bool is_so = look.found == Found::kNotYet || (look.found == Found::kYes) == expected;
      ASSERT_TRUE(is_so) << seed << " " << shown(whole);
    }
    yes += look.found == Found::kYes;
    later += look.found == Found::kNotYet;
  }
  EXPECT_GT(yes, 3'000u);
  EXPECT_GT(later, 3'000u);
}

TEST(BufferMatcher, OfAStreamWhatIsThereCounts) {
  std::size_t found = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    RandomTests random(seed);
    const BufferTests buffer = of_stream(random.tests({}));
    const BufferMatcher matcher(buffer);
    const std::string text = random.text(14);
    const bool expected =
        match_oracle::matches(buffer.tests, {.bytes = text, .is_complete = false});
    ASSERT_EQ(look_at(matcher, text, false).found == Found::kYes, expected)
        << seed << " " << shown(text);
    found += expected;
  }
  EXPECT_GT(found, 5'000u);
}

TEST(BufferMatcher, PlacesCountFromTheBeginOfTheBuffer) {
  const BufferTests buffer =
      of_stream({ContentMatch{.bytes = "b", .offset = {{11}}, .depth = {{1}}},
                 ContentMatch{.bytes = "d", .distance = {{1}}}});
  const BufferMatcher matcher(buffer);
  MatcherScratch scratch;
  RuleVariables variables;
  const std::string text = "abcd";
  const auto look = [&](std::uint64_t base) {
    return matcher
        .look({.bytes = std::as_bytes(std::span(text)), .base = base, .is_complete = false},
              variables, scratch)
        .found;
  };
  EXPECT_EQ(look(10), Found::kYes);
  EXPECT_EQ(look(11), Found::kNo);
  EXPECT_EQ(look(0), Found::kNotYet);
  EXPECT_EQ(look(12), Found::kNo);
}

TEST(BufferMatcher, LooksBehindTransforms) {
  BufferTests buffer = of_body({ContentMatch{.bytes = std::string("\x90\x01\x50\x98", 4)}});
  buffer.transforms = {{Transform::Kind::kToMd5, ""}};
  const BufferMatcher matcher(buffer);
  EXPECT_EQ(look_at(matcher, "abc").found, Found::kYes);
  EXPECT_EQ(look_at(matcher, "abc", true, 3).found, Found::kYes);  // none of it counts as seen
  EXPECT_EQ(look_at(matcher, "abc", false).found, Found::kNotYet);
  EXPECT_EQ(look_at(matcher, "abd").found, Found::kNo);
}

TEST(BufferMatcher, DatasetsAreAboutWholeBuffers) {
  const BufferTests buffer = of_body({DatasetMatch{.values = {"a", "abc"}}});
  const BufferMatcher matcher(buffer);
  EXPECT_EQ(look_at(matcher, "abc").found, Found::kYes);
  EXPECT_EQ(look_at(matcher, "ab").found, Found::kNo);
  EXPECT_EQ(look_at(matcher, "abc", false).found, Found::kNotYet);
  EXPECT_EQ(found_in({DatasetMatch{.negated = true, .values = {"a", "abc"}}}, "ab"), Found::kYes);
}

TEST(BufferMatcher, WithoutTestsABufferMatches) {
  EXPECT_EQ(found_in({}, ""), Found::kYes);
  EXPECT_EQ(found_in({}, "a"), Found::kYes);
}

TEST(BufferMatcher, ALongTextOfBeginningsEnds) {
  const std::string text = std::string(1u << 20, 'a') + "ab";
  const ContentMatch one{.bytes = "a"};
  const ContentMatch next{.bytes = "a", .distance = {{0}}};
  EXPECT_EQ(found_in({one, next, next, next, ContentMatch{.bytes = "c", .distance = {{0}}}}, text),
            Found::kNo);
  EXPECT_EQ(found_in({one, next, next, ContentMatch{.bytes = "b", .distance = {{0}}}}, text),
            Found::kYes);
  // Each place of the first content is a try of its own: there are too many of them.
  EXPECT_EQ(found_in({one, ContentMatch{.bytes = "b", .within = {{1}}}}, text), Found::kNo);
}

TEST(BufferMatcher, ACatastrophicExpressionDoesNotMatch) {
  const std::string text = std::string(60, 'a') + "b";
  EXPECT_EQ(found_in({PcreMatch{.expression = "^(a+)+$"}}, text), Found::kNo);
  EXPECT_EQ(found_in({PcreMatch{.expression = "^(a+)+$", .negated = true}}, text), Found::kNo);
}

TEST(BufferMatcher, RefusesExpressionsAndTooManyTests) {
  const BufferTests bad = of_body({PcreMatch{.expression = "a)"}});
  EXPECT_THROW(BufferMatcher{bad}, Error);
  const BufferTests many = of_body(std::vector<Match>(257, ContentMatch{.bytes = "a"}));
  EXPECT_THROW(BufferMatcher{many}, Error);
}

}  // namespace
}  // namespace millrace
