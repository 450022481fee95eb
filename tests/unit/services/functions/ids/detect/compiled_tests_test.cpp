// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/compiled_tests.hpp"

#include <gtest/gtest.h>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

const ContentMatch kPlanned{.bytes = "abc"};
ContentMatch planned_behind(std::int64_t distance) {
  return {.bytes = "abc", .distance = {{distance}}};
}

TEST(CompiledTests, AContentCommitsUnlessItIsBoundToTheOneBefore) {
  ContentMatch within = planned_behind(0);
  within.within = {4};
  const BufferTests tests{.tests = {kPlanned, planned_behind(1), within, planned_behind(-1)}};
  const CompiledTests compiled(tests);
  EXPECT_TRUE(compiled.plan(0).commits && compiled.plan(0).is_depended);
  EXPECT_TRUE(compiled.plan(1).commits && compiled.plan(1).is_forward);
  EXPECT_FALSE(compiled.plan(2).commits);
  EXPECT_TRUE(compiled.plan(3).commits);
  EXPECT_FALSE(compiled.plan(3).is_forward || compiled.plan(3).is_depended);
  EXPECT_EQ(compiled.plan(3).head, 0);
  EXPECT_EQ(compiled.plan(0).backward_at, 3);
  EXPECT_EQ(compiled.plan(0).reset_at, kNoTest);
}

TEST(CompiledTests, AChainEndsAtAnAbsoluteTest) {
  const BufferTests tests{.tests = {kPlanned, ByteTest{}, kPlanned, planned_behind(0)}};
  const CompiledTests compiled(tests);
  EXPECT_FALSE(compiled.plan(0).is_depended);
  EXPECT_EQ(compiled.plan(0).reset_at, 2);
  EXPECT_TRUE(compiled.plan(1).is_fixed);
  EXPECT_EQ(compiled.plan(3).head, 2);
}

TEST(CompiledTests, BehindAnExpressionOrAJumpNothingIsKnown) {
  const BufferTests tests{.tests = {kPlanned, PcreMatch{.expression = "a", .relative = true},
                                    planned_behind(0), IsDataAt{.at = {1}, .relative = true},
                                    ByteJump{}, planned_behind(0)}};
  const CompiledTests compiled(tests);
  EXPECT_FALSE(compiled.plan(1).commits);
  EXPECT_FALSE(compiled.plan(2).commits);
  EXPECT_FALSE(compiled.plan(3).is_fixed);
  EXPECT_TRUE(compiled.plan(4).is_fixed);
  EXPECT_TRUE(compiled.plan(5).commits);
  EXPECT_EQ(compiled.regex(compiled.plan(1)).groups(), 0u);
}

TEST(CompiledTests, WithVariablesEveryChoiceCounts) {
  const BufferTests tests{.tests = {ByteExtract{},
                                    ContentMatch{.bytes = "a", .offset = {{.variable = 0}}},
                                    ByteTest{}}};
  const CompiledTests compiled(tests);
  EXPECT_TRUE(compiled.uses_variables());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(compiled.plan(i).commits || compiled.plan(i).is_fixed);
  }
}

TEST(CompiledTests, ABoundedChainHasASpan) {
  ContentMatch within = planned_behind(2);
  within.within = {4};
  const auto span = [](std::vector<Match> matches) {
    const BufferTests tests{.tests = std::move(matches)};
    return CompiledTests(tests).span();
  };
  EXPECT_EQ(span({kPlanned}), 3);
  EXPECT_EQ(span({kPlanned, within}), 9);
  EXPECT_EQ(span({kPlanned, planned_behind(1)}), 0);
  EXPECT_EQ(span({kPlanned, kPlanned}), 0);
  EXPECT_EQ(span({kPlanned, ByteTest{}}), 0);
  EXPECT_EQ(span({ContentMatch{.bytes = "a", .negated = true}}), 0);
}

TEST(CompiledTests, KnowWhatCountsWithoutNewBytes) {
  const auto is_always_new = [](const Match& match) {
    const BufferTests tests{.tests = {kPlanned, match}};
    return CompiledTests(tests).is_always_new();
  };
  EXPECT_FALSE(is_always_new(planned_behind(0)));
  EXPECT_FALSE(is_always_new(PcreMatch{.expression = "a"}));
  EXPECT_FALSE(is_always_new(IsDataAt{}));
  EXPECT_TRUE(is_always_new(PcreMatch{.expression = "a$"}));
  EXPECT_TRUE(is_always_new(PcreMatch{.expression = "a", .negated = true}));
  EXPECT_TRUE(is_always_new(IsDataAt{.negated = true}));
  EXPECT_TRUE(is_always_new(BufferSize{}));
  EXPECT_TRUE(is_always_new(DatasetMatch{}));
  EXPECT_TRUE(is_always_new(ByteJump{.from_end = true}));
  EXPECT_TRUE(is_always_new(ContentMatch{.bytes = "a", .negated = true}));
  EXPECT_TRUE(is_always_new(ContentMatch{.bytes = "a", .ends_with = true}));
}

TEST(CompiledTests, RefusalsNameTheExpression) {
  const BufferTests tests{.tests = {PcreMatch{.expression = "a("}}};
  try {
    const CompiledTests compiled(tests);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "pcre /a(/: the expression is refused at byte 2: missing closing parenthesis");
  }
  const BufferTests many{.tests = std::vector<Match>(CompiledTests::kTestsMax + 1, kPlanned)};
  EXPECT_THROW(CompiledTests{many}, Error);
}

}  // namespace
}  // namespace millrace
