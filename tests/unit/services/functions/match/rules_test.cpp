// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<MatchClass> kClasses = {{"suspicious", 4}, {"video", 16}};

MatchRuleFile parse(const std::string& text) {
  return parse_match_rules(text, "dir/a.rules", kClasses);
}

std::string literal_of(const std::string& quoted) {
  const MatchRuleFile file = parse("alert " + quoted);
  EXPECT_THAT(file.refusals, IsEmpty()) << quoted;
  return file.rules.empty() ? "" : file.rules[0].literal;
}

std::string refusal_of(const std::string& line) {
  const MatchRuleFile file = parse(line);
  EXPECT_THAT(file.rules, IsEmpty()) << line;
  return file.refusals.empty() ? "" : file.refusals[0];
}

TEST(MatchRules, ReadActionLiteralAndOptionsInAnyOrder) {
  const MatchRuleFile file = parse(
      "drop \"GET /secret\" nocase\n"
      "class video \"moov\" port 8080 proto tcp name \"a film\"  # why\n");
  ASSERT_EQ(file.rules.size(), 2u);
  EXPECT_EQ(file.rules[0].action, MatchAction::kDrop);
  EXPECT_TRUE(file.rules[0].nocase);
  EXPECT_EQ(file.rules[0].literal, "GET /secret");
  EXPECT_EQ(file.rules[0].name, "a.rules:1");
  EXPECT_EQ(file.rules[1].action, MatchAction::kClass);
  EXPECT_EQ(file.rules[1].class_mask, 16u);
  EXPECT_EQ(file.rules[1].protocol, 6);
  EXPECT_EQ(file.rules[1].port, 8080);
  EXPECT_EQ(file.rules[1].name, "a film");
}

TEST(MatchRules, SkipEmptyLinesAndCommentsButCountThem) {
  const MatchRuleFile file = parse("# first\r\n\r\n  \t# second\r\nalert \"x\"\r\nalrt \"y\"");
  ASSERT_EQ(file.rules.size(), 1u);
  EXPECT_EQ(file.rules[0].name, "a.rules:4");
  ASSERT_EQ(file.refusals.size(), 1u);
  EXPECT_EQ(file.refusals[0],
            "dir/a.rules:5: 'alrt' is no action; there are drop, class NAME, alert");
}

TEST(MatchRules, KnowHexAndEscapesInLiterals) {
  EXPECT_EQ(literal_of(R"("|7f 45 4c 46|")"),
            "\x7f"
            "ELF");
  EXPECT_EQ(literal_of(R"("a|0D0a|b")"), "a\r\nb");
  EXPECT_EQ(literal_of(R"("\x00\xfF")"), std::string("\0\xff", 2));
  EXPECT_EQ(literal_of(R"("\"\\\|\;\:\n\r\t#")"), "\"\\|;:\n\r\t#");
  EXPECT_EQ(literal_of("\"gr\xc3\xbc\xc3\x9f\""), "gr\xc3\xbc\xc3\x9f");
}

TEST(MatchRules, RefuseLiteralsWithTheirReason) {
  EXPECT_THAT(refusal_of("alert \"\""), HasSubstr("dir/a.rules:1: the literal is empty"));
  EXPECT_THAT(refusal_of("alert \"||\""), HasSubstr("empty"));
  EXPECT_THAT(refusal_of("alert \"abc"), HasSubstr("no closing quote"));
  EXPECT_THAT(refusal_of("alert abc"), HasSubstr("in double quotes is missing"));
  EXPECT_THAT(refusal_of("alert \"|4g|\""), HasSubstr("'g' is no hex digit"));
  EXPECT_THAT(refusal_of("alert \"|4 1|\""), HasSubstr("' ' is no hex digit"));
  EXPECT_THAT(refusal_of("alert \"|41\""), HasSubstr("no hex digit"));
  EXPECT_THAT(refusal_of("alert \"|41"), HasSubstr("no closing '|'"));
  EXPECT_THAT(refusal_of("alert \"\\q\""), HasSubstr("'\\q' is unknown"));
  EXPECT_THAT(refusal_of("alert \"\\x4\""), HasSubstr("no hex digit"));
  EXPECT_THAT(refusal_of("alert \"a\"nocase"), HasSubstr("no blank behind the closing quote"));
  EXPECT_THAT(refusal_of("alert \"" + std::string(kMatchLiteralBytesMax + 1, 'a') + "\""),
              HasSubstr("has 1025 bytes, at most 1024"));
  EXPECT_EQ(literal_of("\"" + std::string(kMatchLiteralBytesMax, 'a') + "\"").size(),
            kMatchLiteralBytesMax);
}

TEST(MatchRules, RefuseOptionsWithTheirReason) {
  EXPECT_THAT(refusal_of("alert \"a\" port 0"), HasSubstr("port '0' is no number"));
  EXPECT_THAT(refusal_of("alert \"a\" port 65536"), HasSubstr("1 to 65535"));
  EXPECT_THAT(refusal_of("alert \"a\" port 80x"), HasSubstr("'80x'"));
  EXPECT_THAT(refusal_of("alert \"a\" port"), HasSubstr("port ''"));
  EXPECT_THAT(refusal_of("alert \"a\" proto icmp"), HasSubstr("none of tcp, udp, any"));
  EXPECT_THAT(refusal_of("alert \"a\" nocase nocase"), HasSubstr("'nocase' stands twice"));
  EXPECT_THAT(refusal_of("alert \"a\" depth 4"), HasSubstr("'depth' is no option"));
  EXPECT_THAT(refusal_of("alert \"a\" name \"\""), HasSubstr("1 to 64 printable"));
  EXPECT_THAT(refusal_of("alert \"a\" name \"\\n\""), HasSubstr("printable"));
  EXPECT_THAT(refusal_of("alert \"a\" \"b\""), HasSubstr("'' is no option"));
}

TEST(MatchRules, RefuseAClassThatTheFunctionDoesNotHave) {
  EXPECT_EQ(
      refusal_of("class vidoe \"a\""),
      "dir/a.rules:1: class 'vidoe' is none of the function's `classes:` (suspicious, video)");
  const MatchRuleFile file = parse_match_rules("class x \"a\"", "f", {});
  EXPECT_THAT(file.refusals, ElementsAre(HasSubstr("(it has none)")));
}

TEST(MatchRules, LoadTheRestWhenOneIsRefused) {
  const MatchRuleFile file = parse("alert \"a\"\nalert \"\"\nalert \"b\"\n");
  ASSERT_EQ(file.rules.size(), 2u);
  EXPECT_EQ(file.rules[1].literal, "b");
  EXPECT_EQ(file.refusals.size(), 1u);
}

TEST(MatchRules, StopAtTheLargestNumberOfRules) {
  std::string text;
  for (std::size_t i = 0; i < kMatchRuleCountMax + 2; ++i) text += "alert \"a\"\n";
  const MatchRuleFile file = parse(text);
  EXPECT_EQ(file.rules.size(), kMatchRuleCountMax);
  EXPECT_THAT(file.refusals, ElementsAre(HasSubstr(":65537: more than 65536 rules"),
                                         HasSubstr(":65538: more than 65536 rules")));
}

}  // namespace
}  // namespace millrace
