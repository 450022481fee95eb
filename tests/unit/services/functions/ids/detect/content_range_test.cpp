// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/content_range.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace millrace {
namespace {

using Bounds = std::pair<std::int64_t, std::int64_t>;
constexpr std::int64_t kEndless = ContentRange::kUnbounded;

Bounds bounds_of(const ContentMatch& content, std::int64_t cursor = 0) {
  RuleVariables variables;
  variables.values[2] = 5;
  const ContentRange range = range_of(content, cursor, variables);
  return {range.low, range.high};
}

TEST(ContentRange, IsFromTheBeginOrFromTheMatchBefore) {
  const std::string bytes = "ab";
  EXPECT_EQ(bounds_of({.bytes = bytes}, 7), Bounds(0, kEndless));
  EXPECT_EQ(bounds_of({.bytes = bytes, .offset = {{3}}}, 7), Bounds(3, kEndless));
  EXPECT_EQ(bounds_of({.bytes = bytes, .offset = {{3}}, .depth = {{4}}}, 7), Bounds(3, 7));
  EXPECT_EQ(bounds_of({.bytes = bytes, .depth = {{4}}}, 7), Bounds(0, 4));
  EXPECT_EQ(bounds_of({.bytes = bytes, .starts_with = true}, 7), Bounds(0, 2));
  EXPECT_EQ(bounds_of({.bytes = bytes, .distance = {{3}}}, 7), Bounds(10, kEndless));
  EXPECT_EQ(bounds_of({.bytes = bytes, .distance = {{-3}}}, 7), Bounds(4, kEndless));
  EXPECT_EQ(bounds_of({.bytes = bytes, .distance = {{-9}}}, 7), Bounds(0, kEndless));
  EXPECT_EQ(bounds_of({.bytes = bytes, .within = {{4}}}, 7), Bounds(7, 11));
  EXPECT_EQ(bounds_of({.bytes = bytes, .distance = {{3}}, .within = {{4}}}, 7), Bounds(10, 14));
  EXPECT_EQ(bounds_of({.bytes = bytes, .distance = {{-9}}, .within = {{4}}}, 7), Bounds(0, 2));
  EXPECT_EQ(bounds_of({.bytes = bytes, .offset = {{.variable = 2}}}), Bounds(5, kEndless));
}

constexpr std::string_view kRangeText = "xabxab";
TestText range_text(bool is_complete, bool ends_here) {
  return {.bytes = std::as_bytes(std::span(kRangeText)),
          .begin = 10,
          .is_complete = is_complete,
          .ends_here = ends_here};
}

TEST(ContentRange, FindsWithinTheRangeAndTheText) {
  const TestText text = range_text(true, true);
  ContentMatch content{.bytes = "ab"};
  EXPECT_EQ(find_in_range(content, {}, 0, text), 11);
  EXPECT_EQ(find_in_range(content, {}, 12, text), 14);
  EXPECT_EQ(find_in_range(content, {}, 15, text), -1);
  EXPECT_EQ(find_in_range(content, {.low = 11, .high = 13}, 0, text), 11);
  EXPECT_EQ(find_in_range(content, {.low = 12, .high = 15}, 0, text), -1);
  EXPECT_EQ(find_in_range(content, {.low = 17, .high = 20}, 0, text), -1);
  EXPECT_EQ(find_in_range(content, {.low = 0, .high = 9}, 0, text), -1);
  content.ends_with = true;
  EXPECT_EQ(find_in_range(content, {}, 0, text), 14);
  EXPECT_EQ(find_in_range(content, {.low = 0, .high = 15}, 0, text), -1);
  EXPECT_EQ(find_in_range(content, {.low = 15}, 0, text), -1);
}

TEST(ContentRange, KnowsWhatCanCome) {
  const ContentMatch content{.bytes = "ab"};
  EXPECT_FALSE(can_come(content, {}, range_text(true, true)));
  EXPECT_TRUE(can_come(content, {}, range_text(false, true)));
  EXPECT_FALSE(can_come(content, {.low = 0, .high = 16}, range_text(false, true)));
  EXPECT_TRUE(can_come(content, {.low = 0, .high = 17}, range_text(false, true)));
  EXPECT_FALSE(can_come(content, {.low = 20, .high = 21}, range_text(false, true)));
  const ContentMatch last{.bytes = "ab", .ends_with = true};
  EXPECT_TRUE(can_come(last, {.low = 0, .high = 16}, range_text(false, false)));
  EXPECT_FALSE(can_come(last, {.low = 0, .high = 15}, range_text(false, false)));
}

TEST(ContentRange, ANegatedContentWaitsForItsBytes) {
  const TestText whole = range_text(true, true);
  const TestText stream = range_text(false, true);
  const TestText body = range_text(false, false);
  const ContentMatch there{.bytes = "ab", .negated = true};
  const ContentMatch absent{.bytes = "b", .negated = true};
  const ContentRange low{.low = 10, .high = 12};
  const ContentRange beyond{.low = 16, .high = 20};
  for (const TestText& text : {whole, stream, body}) {
    EXPECT_EQ(run_negated_content(there, {}, text), Passed::kNo);
    EXPECT_EQ(run_negated_content(absent, low, text), Passed::kYes);
    EXPECT_EQ(run_negated_content(there, {.low = 10, .high = 11}, text), Passed::kYes);
  }
  EXPECT_EQ(run_negated_content(absent, beyond, whole), Passed::kYes);
  EXPECT_EQ(run_negated_content(absent, beyond, stream), Passed::kLater);
  EXPECT_EQ(run_negated_content(absent, beyond, body), Passed::kLater);
  EXPECT_EQ(run_negated_content(absent, {.low = 16}, whole), Passed::kYes);
  EXPECT_EQ(run_negated_content(absent, {.low = 16}, stream), Passed::kYes);
  EXPECT_EQ(run_negated_content(absent, {.low = 16}, body), Passed::kLater);
}

TEST(ContentRange, ANegatedEndIsTheBuffersEnd) {
  const ContentMatch last{.bytes = "ab", .negated = true, .ends_with = true};
  const ContentMatch other{.bytes = "xa", .negated = true, .ends_with = true};
  EXPECT_EQ(run_negated_content(last, {}, range_text(true, true)), Passed::kNo);
  EXPECT_EQ(run_negated_content(last, {}, range_text(false, true)), Passed::kLater);
  EXPECT_EQ(run_negated_content(other, {}, range_text(true, true)), Passed::kYes);
  EXPECT_EQ(run_negated_content(other, {}, range_text(false, true)), Passed::kYes);
  EXPECT_EQ(run_negated_content(other, {}, range_text(false, false)), Passed::kLater);
  EXPECT_EQ(run_negated_content(last, {.low = 0, .high = 15}, range_text(false, false)),
            Passed::kYes);
}

}  // namespace
}  // namespace millrace
