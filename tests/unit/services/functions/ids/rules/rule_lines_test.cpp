// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "services/functions/ids/rules/rule_words.hpp"

namespace millrace {
namespace {

/// "line:text" of each, "#" in front of those that are disabled.
std::vector<std::string> rules_of(std::string_view text) {
  std::vector<std::string> result;
  for (const RuleText& rule : split_rules(text)) {
    result.push_back((rule.disabled ? "#" : "") + std::to_string(rule.line) + ":" + rule.text);
  }
  return result;
}
using Rules = std::vector<std::string>;

TEST(RuleLines, AreOneRuleEach) {
  EXPECT_EQ(rules_of("alert a (x;)\n\n  drop b (y;)  \n"),
            (Rules{"1:alert a (x;)", "3:drop b (y;)"}));
  EXPECT_EQ(rules_of(""), Rules{});
  EXPECT_EQ(rules_of("\n\n"), Rules{});
  EXPECT_EQ(rules_of("\xEF\xBB\xBFpass a (x;)\r\npass b (y;)\r\n"),
            (Rules{"1:pass a (x;)", "2:pass b (y;)"}));
}

TEST(RuleLines, ThatAreCommentedOutAreDisabledRulesWhereTheyLookLikeSome) {
  EXPECT_EQ(rules_of("#alert a (x;)\n# # pass b (y;)\n# alert me later\n#\n; a\n#-- (c) drop\n"),
            (Rules{"#1:alert a (x;)", "#2:pass b (y;)"}));
}

TEST(RuleLines, GoOnBehindABackslash) {
  EXPECT_EQ(rules_of("alert a (\\\n  msg:\"b \\  \n c\"; \\\n)\nalert d (e;)\n"),
            (Rules{"1:alert a (  msg:\"b  c\"; )", "5:alert d (e;)"}));
  EXPECT_EQ(rules_of("# a comment \\\nalert d (e;)\n"), (Rules{"2:alert d (e;)"}));
  EXPECT_EQ(rules_of("alert d (e; \\"), (Rules{"1:alert d (e;"}));
}

TEST(RuleLines, GoOnWhileTheParenthesisIsOpen) {
  EXPECT_EQ(rules_of("alert http\n(\n  msg:\"a\";\n  # why\n  sid:1;\n)\npass b (c;)\n"),
            (Rules{"1:alert http ( msg:\"a\"; sid:1; )", "7:pass b (c;)"}));
  // What is not closed does not take the next rule with it.
  EXPECT_EQ(rules_of("alert a (x;\ndrop b (y;)\n"), (Rules{"1:alert a (x;", "2:drop b (y;)"}));
}

TEST(RuleLines, OfCommentsInTheFormOfCAreLeftOut) {
  EXPECT_EQ(rules_of("/* one */\n/* two\nalert a (x;)\n*/ drop b (y;)\n"),
            (Rules{"4:drop b (y;)"}));
}

TEST(RuleLines, ThatAreNoRuleStandByThemselves) {
  EXPECT_EQ(rules_of("include a.rules\nalert b (y;)\n"),
            (Rules{"1:include a.rules", "2:alert b (y;)"}));
}

}  // namespace
}  // namespace millrace
