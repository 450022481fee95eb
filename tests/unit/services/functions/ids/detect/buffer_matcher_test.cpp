// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/buffer_matcher.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/ids/detect/match_calls.hpp"

namespace millrace {
namespace {

using match_oracle::found_in;
using match_oracle::look_at;
using match_oracle::of_body;
using match_oracle::of_stream;

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

Base64Decode decode_of(std::vector<Match> tests) {
  Base64Decode decode;
  decode.decoded = std::make_shared<const BufferTests>(
      BufferTests{.buffer = RuleBuffer::kBase64Data, .tests = std::move(tests)});
  return decode;
}

TEST(BufferMatcher, LooksIntoWhatIsDecoded) {
  Base64Decode decode =
      decode_of({ContentMatch{.bytes = "foo"}, ContentMatch{.bytes = "r", .distance = {{2}}}});
  EXPECT_EQ(found_in({decode}, "Zm9vYmFy"), Found::kYes);
  EXPECT_EQ(found_in({decode}, "Zm9vYmFv"), Found::kNo);
  EXPECT_EQ(found_in({decode}, ""), Found::kNo);
  decode.offset = 2;
  EXPECT_EQ(found_in({decode}, "==Zm9vYmFy"), Found::kYes);
  EXPECT_EQ(found_in({decode}, "Zm9vYmFy"), Found::kNo);
  decode.bytes = 4;
  EXPECT_EQ(found_in({decode}, "==Zm9vYmFy"), Found::kNo);
}

TEST(BufferMatcher, DecodesBehindEachPlaceOfTheContentBefore) {
  Base64Decode decode = decode_of({ContentMatch{.bytes = "foo"}});
  decode.relative = true;
  decode.offset = 1;
  const std::vector<Match> tests = {ContentMatch{.bytes = "key"}, decode,
                                    ContentMatch{.bytes = "end", .distance = {{0}}}};
  EXPECT_EQ(found_in(tests, "key=bar key=Zm9v end"), Found::kYes);
  EXPECT_EQ(found_in(tests, "key=bar key=Zm9v"), Found::kNo);
  EXPECT_EQ(found_in(tests, "key=bar key=Ym9v end"), Found::kNo);
}

TEST(BufferMatcher, WithoutTestsSomethingHasToBeDecoded) {
  EXPECT_EQ(found_in({Base64Decode{}}, "Z"), Found::kYes);
  EXPECT_EQ(found_in({Base64Decode{}}, "."), Found::kNo);
}

TEST(BufferMatcher, WhatIsDecodedWaitsForMore) {
  const BufferTests buffer = of_body({decode_of({ContentMatch{.bytes = "bar"}})});
  const BufferMatcher matcher(buffer);
  EXPECT_EQ(look_at(matcher, "", false).found, Found::kNotYet);
  EXPECT_EQ(look_at(matcher, "Zm9", false).found, Found::kNotYet);
  EXPECT_EQ(look_at(matcher, "Zm9vYmF", false).found, Found::kNotYet);
  EXPECT_EQ(look_at(matcher, "Zm9vYmFy", false).found, Found::kYes);
  EXPECT_EQ(look_at(matcher, "Zm9v.mFy", false).found, Found::kNo) << "nothing follows";
  EXPECT_EQ(look_at(matcher, ".", false).found, Found::kNo);
}

TEST(BufferMatcher, WhatWasDecodedBeforeDoesNotMatchAgain) {
  const BufferTests buffer = of_stream({decode_of({ContentMatch{.bytes = "foo"}})});
  const BufferMatcher matcher(buffer);
  EXPECT_EQ(look_at(matcher, "Zm9v", false).found, Found::kYes);
  EXPECT_EQ(look_at(matcher, "Zm9vYmFy", false, 4).found, Found::kNotYet);
  EXPECT_EQ(look_at(matcher, "Zm9vYmFy.", false, 4).found, Found::kNo);
  EXPECT_EQ(look_at(matcher, "Zm9vZm9v", false, 4).found, Found::kYes);
  EXPECT_EQ(look_at(matcher, "Zm9v", false, 3).found, Found::kYes);
}

TEST(BufferMatcher, AbsenceInWhatIsDecoded) {
  const Base64Decode decode = decode_of({ContentMatch{.bytes = "bar", .negated = true}});
  EXPECT_EQ(found_in({decode}, "Zm9v"), Found::kYes);
  EXPECT_EQ(found_in({decode}, "Zm9vYmFy"), Found::kNo);
  const BufferTests body = of_body({decode});
  EXPECT_EQ(look_at(BufferMatcher(body), "Zm9v", false).found, Found::kNotYet);
  EXPECT_EQ(look_at(BufferMatcher(body), "Zm9v.", false).found, Found::kYes);
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
