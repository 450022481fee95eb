// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_list.hpp"

#include <gtest/gtest.h>

#include "services/functions/ids/rules/rule_draft.hpp"

namespace millrace {
namespace {

std::string text_of(const std::vector<RuleListItem>& items) {
  std::string text;
  for (const RuleListItem& item : items) {
    text += (text.empty() ? "" : " ") + std::string(item.negated ? "!" : "");
    text += item.word.empty() ? "[" + text_of(item.list) + "]" : item.word;
  }
  return text;
}
std::string list_of(std::string_view text) {
  static const RuleVariables kVariables = {
      {"A", "[a1, a2]"}, {"B", "!$A"}, {"EMPTY", ""}, {"SELF", "[x,$SELF]"}, {"WORD", "w"}};
  try {
    return text_of(read_rule_list(text, kVariables));
  } catch (const RuleRefused& refused) {
    return refused.reason;
  }
}

TEST(RuleLists, AreFlatWhereNothingIsNegated) {
  EXPECT_EQ(list_of("any"), "any");
  EXPECT_EQ(list_of("[ a , !b,[c,[ !d ]] ]"), "a !b c !d");
  EXPECT_EQ(list_of("[$A,$WORD]"), "a1 a2 w");
}

TEST(RuleLists, KeepNegatedListsTogether) {
  EXPECT_EQ(list_of("![a,!b]"), "![a !b]");
  EXPECT_EQ(list_of("$B"), "![a1 a2]");
  EXPECT_EQ(list_of("!$B"), "![![a1 a2]]");
  EXPECT_EQ(list_of("[x, !$WORD]"), "x ![w]");
  EXPECT_EQ(list_of("!!a"), "a");
}

TEST(RuleLists, ThatAreNotWholeAreRefused) {
  EXPECT_EQ(list_of(""), "an item is missing in ''");
  EXPECT_EQ(list_of("[a,,b]"), "an item is missing in 'a,,b'");
  EXPECT_EQ(list_of("[]"), "an item is missing in ''");
  EXPECT_EQ(list_of("!"), "an item is missing in '!'");
  EXPECT_EQ(list_of("[a"), "no ']' closes '[a'");
  EXPECT_EQ(list_of("a]"), "']' without '[' in 'a]'");
  EXPECT_EQ(list_of("[a]b"), "words stand behind ']' in '[a]b'");
  EXPECT_EQ(list_of("$NONE"), "the variable '$NONE' has no value");
  EXPECT_EQ(list_of("$EMPTY"), "the variable '$EMPTY' is empty");
  EXPECT_EQ(list_of("$SELF"), "lists and variables are more than 32 deep; does one name itself?");
}

TEST(RuleLists, HaveALimit) {
  RuleVariables variables = {{"X0", "a"}};
  for (int at = 1; at < 25; ++at) {
    const std::string before = "$X" + std::to_string(at - 1);
    variables["X" + std::to_string(at)] = "[" + before + "," + before + "]";
  }
  EXPECT_THROW(read_rule_list("$X24", variables), RuleRefused);
}

}  // namespace
}  // namespace millrace
