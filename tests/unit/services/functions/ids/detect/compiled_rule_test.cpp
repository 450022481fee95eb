// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/compiled_rule.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/detect/rule_by_hand.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using by_hand::content, by_hand::Rule;

TEST(CompiledRule, NamesTheContentThatIsMissing) {
  Signature signature = Rule(RuleProtocol::kHttp)
                            .asks(content("abc"), RuleBuffer::kHttpUri)
                            .asks(BufferSize{}, RuleBuffer::kHttpUri)
                            .asks(content("def"), RuleBuffer::kHttpHost);
  signature.buffers[1].transforms.push_back({Transform::Kind::kToLowercase, ""});
  const CompiledRule rule(signature);
  ASSERT_NE(rule.content_at(0, 0), nullptr);
  EXPECT_EQ(rule.content_at(0, 0)->bytes, "abc");
  EXPECT_EQ(rule.content_at(0, 1), nullptr) << "no content";
  EXPECT_EQ(rule.content_at(0, kNoTest), nullptr);
  EXPECT_EQ(rule.content_at(1, 0), nullptr) << "it stands behind a transform";
}

TEST(CompiledRule, AGateThatIsPartOfItsContentDoesNotComeAgain) {
  Signature signature = Rule(RuleProtocol::kTcp).asks(content("a")).asks(content("abcdef"));
  signature.fast_pattern = FastPattern{.buffer = 0, .test = 1, .offset = 0, .length = 6};
  const CompiledRule whole(signature);
  EXPECT_TRUE(whole.is_gated);
  EXPECT_TRUE(whole.is_gate(0, 1));
  EXPECT_FALSE(whole.is_gate(0, 0));
  EXPECT_FALSE(whole.is_gate(1, 1));
  signature.fast_pattern->length = 3;
  const CompiledRule part(signature);
  EXPECT_TRUE(part.is_gated);
  EXPECT_FALSE(part.is_gate(0, 1));
  const Signature ungated = Rule(RuleProtocol::kTcp).asks(content("a"));
  EXPECT_FALSE(CompiledRule(ungated).is_gated);
  EXPECT_FALSE(CompiledRule(ungated).is_gate(0, kNoTest));
}

TEST(CompiledRule, ThePayloadIsLookedAtLastUnlessATestNeedsANumberOfAnother) {
  using Places = std::vector<std::uint16_t>;
  Signature signature = Rule(RuleProtocol::kHttp)
                            .asks(content("abc"))
                            .asks(content("def"), RuleBuffer::kHttpUri)
                            .asks(content("ghi"), RuleBuffer::kHttpHost);
  EXPECT_EQ(CompiledRule(signature).order, (Places{1, 2, 0}));
  ContentMatch behind = content("jkl");
  behind.offset = RuleNumber{.variable = 0};
  signature.buffers[2].tests.emplace_back(behind);
  EXPECT_EQ(CompiledRule(signature).order, (Places{0, 1, 2}));
}

TEST(CompiledRule, AnExpressionThatIsRefusedIsToldWithItsPlace) {
  Signature signature = Rule(RuleProtocol::kTcp).asks(PcreMatch{.expression = "(", .flags = 0});
  signature.place = "some.rules:7";
  EXPECT_TRUE(test::error_of([&] { CompiledRule{signature}; }).starts_with("some.rules:7: "));
}

TEST(CompiledRule, MindsTheEndIfItsTestsDo) {
  const auto minds = [](const Signature& of) { return CompiledRule(of).minds_end; };
  ContentMatch last = content("ab"), absent = content("ab");
  last.ends_with = absent.negated = true;
  EXPECT_FALSE(minds(Rule(RuleProtocol::kTcp).asks(content("ab"))));
  EXPECT_TRUE(minds(Rule(RuleProtocol::kTcp).asks(content("ab")).asks(absent)));
  EXPECT_TRUE(minds(Rule(RuleProtocol::kTcp).asks(last)));
  EXPECT_TRUE(minds(Rule(RuleProtocol::kTcp).asks(PcreMatch{.expression = "a$"})));
}

}  // namespace
}  // namespace millrace
