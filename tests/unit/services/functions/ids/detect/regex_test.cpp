// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/regex.hpp"

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <string>

#include "services/functions/ids/detect/content_search.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

using RegexFound = RegexMatch::Found;

RegexMatch find_regex(const Regex& regex, const std::string& text, RegexText how = {}) {
  RegexScratch scratch;
  how.bytes = std::as_bytes(std::span(text));
  return regex.find(how, scratch);
}

TEST(Regex, FindsPlacesAndTheFirstGroup) {
  const Regex regex("b(c+)", PCRE2_CASELESS);
  const RegexMatch match = find_regex(regex, "abxaBCcd");
  EXPECT_EQ(match.found, RegexFound::kYes);
  EXPECT_EQ(match.begin, 4u);
  EXPECT_EQ(match.end, 7u);
  EXPECT_EQ(match.group_begin, 5u);
  EXPECT_EQ(match.group_end, 7u);
  EXPECT_EQ(regex.groups(), 1u);
  EXPECT_EQ(find_regex(regex, "abcbc", {.from = 2}).begin, 3u);
  EXPECT_EQ(find_regex(regex, "abcbc", {.from = 5}).found, RegexFound::kNo);
  EXPECT_EQ(find_regex(regex, "abcbc", {.from = 6}).found, RegexFound::kNo);
  EXPECT_EQ(find_regex(Regex("x|y(z)", 0), "x").group_begin, kNotFound);
}

TEST(Regex, MatchesNothing) {
  EXPECT_EQ(find_regex(Regex("^$", 0), "").found, RegexFound::kYes);
  EXPECT_EQ(find_regex(Regex("a", 0), "").found, RegexFound::kNo);
}

TEST(Regex, BytesAreNoUtf8) {
  EXPECT_EQ(find_regex(Regex("\\xff.", PCRE2_DOTALL), "a\xff\x80").found, RegexFound::kYes);
  EXPECT_THROW(Regex("(*UTF)a", 0), Error);
}

TEST(Regex, SaysWhatIsWrongAndWhere) {
  try {
    const Regex regex("a(b", 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the expression is refused at byte 3: missing closing parenthesis");
  }
}

TEST(Regex, WithBytesInFrontItDoesNotBeginThere) {
  const Regex begin("^a", 0);
  EXPECT_TRUE(begin.is_anchored());
  EXPECT_EQ(find_regex(begin, "ab").found, RegexFound::kYes);
  EXPECT_EQ(find_regex(begin, "ab", {.begins_here = false}).found, RegexFound::kNo);
  const Regex lines("^b", PCRE2_MULTILINE);
  EXPECT_FALSE(lines.is_anchored());
  EXPECT_EQ(find_regex(lines, "b\nb", {.begins_here = false}).begin, 2u);
}

TEST(Regex, WhatCanFollowLeavesItsEndOpen) {
  for (const char* expression : {"ab$", "ab\\z", "ab\\Z", "ab\\b", "ab(?=c)", "ab(?!c)"}) {
    const Regex regex(expression, 0);
    EXPECT_TRUE(regex.minds_what_follows()) << expression;
    EXPECT_EQ(find_regex(regex, "ab", {.ends_here = false}).found, RegexFound::kOpen) << expression;
    EXPECT_NE(find_regex(regex, "xx", {.ends_here = false}).found, RegexFound::kYes) << expression;
  }
  EXPECT_EQ(find_regex(Regex("ab$", 0), "ab").found, RegexFound::kYes);
  EXPECT_EQ(find_regex(Regex("ab(?!c)", 0), "abd", {.ends_here = false}).found, RegexFound::kYes);
  const Regex plain("ab+", 0);
  EXPECT_FALSE(plain.minds_what_follows());
  EXPECT_EQ(find_regex(plain, "ab", {.ends_here = false}).found, RegexFound::kYes);
}

TEST(Regex, ACatastrophicExpressionRunsIntoItsLimit) {
  const std::string text(40, 'a');
  EXPECT_EQ(find_regex(Regex("^(a+)+$", 0), text + "b").found, RegexFound::kFailed);
  // The same by the interpreter.
  const Regex slow("(*NO_JIT)^(a+)+$", 0);
  EXPECT_EQ(find_regex(slow, text + "b").found, RegexFound::kFailed);
}

/// PCRE2 alone: one search with the limit of each place. The begin of the match, or its error.
int plain_search(const std::string& expression, const std::string& text, std::uint32_t options) {
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()),
                                   expression.size(), 0, &error, &at, nullptr);
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_SOFT | PCRE2_JIT_PARTIAL_HARD);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(context, RegexScratch::kMatchLimit);
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  int result = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, options,
                           data, context);
  if (result >= 0) result = static_cast<int>(pcre2_get_ovector_pointer(data)[0]);
  pcre2_match_data_free(data);
  pcre2_match_context_free(context);
  pcre2_code_free(code);
  return result;
}

int result_of(const RegexMatch& match) {
  switch (match.found) {
    case RegexFound::kYes:
      return static_cast<int>(match.begin);
    case RegexFound::kNo:
      return PCRE2_ERROR_NOMATCH;
    case RegexFound::kOpen:
      return PCRE2_ERROR_PARTIAL;
    case RegexFound::kFailed:
      break;
  }
  return PCRE2_ERROR_MATCHLIMIT;
}

TEST(Regex, ASearchInPiecesFindsWhatOneSearchDoes) {
  constexpr const char* kExpressions[] = {"[a-c]{1,30}[a-c]{1,20}\\d",
                                          "a\\w*?\\d",
                                          "(?:a|b|ab)*c\\d",
                                          "(?<=ba)c[a-c]*?[ab]*?\\d",
                                          "\\b[a-c]+?[a-c]+?[a-c]+?\\d",
                                          "([a-c]+)x\\1[ab]*",
                                          "[a-c]*[bc]*b\\d$"};
  std::mt19937 random(7);
  std::size_t in_pieces = 0;
  for (int i = 0; i < 400; ++i) {
    std::string text(200 + random() % 900, 'a');
    for (char& byte : text) byte = "aaaabbc x1\n"[random() % (i % 2 == 0 ? 7 : 11)];
    if (i % 3 == 0) text += "abc1";
    for (const char* expression : kExpressions) {
      for (const bool grows : {false, true}) {
        const Regex regex(expression, 0, true);
        const bool is_hard = grows && regex.minds_what_follows();
        const std::uint32_t options =
            is_hard ? PCRE2_PARTIAL_HARD : (grows ? PCRE2_PARTIAL_SOFT : 0);
        const int found =
            result_of(find_regex(regex, text, {.ends_here = !grows, .may_grow = grows}));
        EXPECT_EQ(found, plain_search(expression, text, options)) << expression << "\n" << text;
        in_pieces += found != PCRE2_ERROR_MATCHLIMIT ? 1 : 0;
      }
    }
  }
  EXPECT_GT(in_pieces, 3000u);
}

TEST(Regex, ATextThatIsMadeForItTakesNoMoreThanItsShare) {
  const Regex costly("[a-z]{1,60}[a-z]{1,50}\\d", 0), easy("b\\d", 0);
  const std::string made(100'000, 'a');
  WorkShare share;
  RegexScratch scratch;
  scratch.use(share);
  const auto found = [&](const Regex& regex, const std::string& text) {
    return regex.find({.bytes = std::as_bytes(std::span(text))}, scratch).found;
  };
  share.begin(WorkShare::kUnitsMax + 1, WorkShare::kUnitsMax);  // others have used up the rest
  EXPECT_EQ(found(costly, made), RegexFound::kFailed);
  EXPECT_EQ(found(easy, made + "b1"), RegexFound::kYes);
  EXPECT_EQ(found(costly, "x1 ab1"), RegexFound::kYes);
  const std::string of_a_packet = std::string(1'450, 'a') + "\nab1";
  EXPECT_EQ(found(costly, of_a_packet), RegexFound::kFailed);
  EXPECT_EQ(share.left(), 0u);
  EXPECT_EQ(scratch.take_given_up(), 2u);
  share.begin(0, WorkShare::kUnitsMax);
  EXPECT_EQ(found(easy, "b1"), RegexFound::kFailed);
  EXPECT_EQ(scratch.take_given_up(), 1u);
  EXPECT_EQ(scratch.take_given_up(), 0u);
  share.begin(WorkShare::kUnitsMax);
  EXPECT_EQ(found(costly, of_a_packet), RegexFound::kYes);
  EXPECT_EQ(scratch.take_given_up(), 0u);
  EXPECT_GT(share.left(), 0u);
}

std::uint64_t clock_reads = 0;
/// Each time later, by what a unit takes.
std::uint64_t counting_clock() noexcept { return clock_reads++ * WorkShare::kNsOfUnit; }

TEST(Regex, ThePiecesOfASearchFollowEachOtherByTheClock) {
  constexpr std::uint32_t kPlenty = 10'000;
  const Regex costly("[a-z]{1,60}[a-z]{1,50}\\d", 0);
  const std::string text = std::string(20'000, 'a') + "\nab1";
  WorkShare share(counting_clock);
  RegexScratch scratch;
  scratch.use(share);
  share.begin(kPlenty);
  EXPECT_EQ(costly.find({.bytes = std::as_bytes(std::span(text))}, scratch).found,
            RegexFound::kYes);
  EXPECT_GT(clock_reads, 20u);
  EXPECT_EQ(kPlenty - share.left(), clock_reads - 1) << "one for each piece behind the first";
}

TEST(Regex, GroupsBeyondTheFirstDoNotHurt) {
  const RegexMatch match = find_regex(Regex("(a)(b)(c)\\3", 0), "xabcc");
  EXPECT_EQ(match.found, RegexFound::kYes);
  EXPECT_EQ(match.end, 5u);
  EXPECT_EQ(match.group_begin, 1u);
}

}  // namespace
}  // namespace millrace
