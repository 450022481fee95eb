// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_set.hpp"

#include <gtest/gtest.h>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/ids/rules/rule_folder.hpp"

namespace millrace {
namespace {

std::string rule_text(int sid, const std::string& options = "", const std::string& head = "") {
  return (head.empty() ? "alert tcp any any -> any 80" : head) + " (msg:\"m\"; " + options +
         " sid:" + std::to_string(sid) + ";)\n";
}
RuleSet set_of(const std::string& text) {
  RuleSet rules;
  read_rules(text, "f", default_rule_setup(), rules);
  return rules;
}

TEST(RuleSets, KeepPlaceAndText) {
  const RuleSet rules = set_of("\n" + rule_text(7, "content:\"a\";") + "#" + rule_text(8));
  ASSERT_EQ(rules.signatures.size(), 1u);
  EXPECT_EQ(rules.signatures[0].place, "f:2");
  EXPECT_EQ(rules.signatures[0].text + "\n", rule_text(7, "content:\"a\";"));
  EXPECT_EQ(rules.signatures[0].sid, 7u);
  EXPECT_EQ(rules.disabled, 1u);
  EXPECT_TRUE(rules.refusals.empty());
}

TEST(RuleSets, RefuseARuleWithItsPlace) {
  const RuleSet rules =
      set_of(rule_text(1, "no_such_word;") + "alert tcp any (sid:2;)\n" + rule_text(3));
  ASSERT_EQ(rules.refusals.size(), 2u);
  EXPECT_EQ(rules.refusals[0].keyword, "no_such_word");
  EXPECT_TRUE(rules.refusals[0].line().starts_with("f:1: sid 1: no_such_word: "));
  EXPECT_EQ(rules.refusals[1].line(),
            "f:2: sid 2: its head has 3 words, not 7: action protocol addresses ports -> addresses "
            "ports");
  EXPECT_EQ(rules.signatures.size(), 1u);
}

TEST(RuleSets, NameASidInRefusalsOfHeads) {
  const RuleSet rules = set_of(rule_text(9, "", "log tcp any any -> any any") +
                               "alert tcp any any -> any any (msg:\"a; sid: 12;)\nalert (x)\n");
  ASSERT_EQ(rules.refusals.size(), 3u);
  EXPECT_EQ(rules.refusals[1].sid, 12u);
  EXPECT_EQ(rules.refusals[2].sid, 0u);
  EXPECT_TRUE(rules.refusals[0].line().starts_with("f:1: sid 9: the action 'log'"));
}

TEST(RuleSets, ForgetFlowbitsOfRefusedRules) {
  const RuleSet rules =
      set_of(rule_text(1, "flowbits:set,a;") + rule_text(2, "flowbits:set,b; no_such_word;") +
             rule_text(3, "flowbits:isset,c;"));
  EXPECT_EQ(rules.flowbits, (std::vector<std::string>{"a", "c"}));
}

TEST(RuleSets, TakeTheHigherRevisionOfASid) {
  const RuleSet rules = set_of(rule_text(1, "rev:2;") + rule_text(1, "rev:3; content:\"a\";") +
                               rule_text(1, "rev:3;") + rule_text(1, "gid:2; rev:1;"));
  ASSERT_EQ(rules.signatures.size(), 2u);
  EXPECT_EQ(rules.signatures[0].place, "f:2");
  EXPECT_EQ(rules.signatures[1].gid, 2u);
  ASSERT_EQ(rules.refusals.size(), 1u);
  EXPECT_EQ(rules.refusals[0].line(),
            "f:3: sid 1: sid: the rule at f:2 has the same sid, and revision 3");
}

TEST(RuleSets, OfFilesAreSorted) {
  const RuleFolder folder;
  const std::string one = folder.write("one", "\xEF\xBB\xBF" + rule_text(5));
  const std::string two =
      folder.write("two", rule_text(4, "rev:1;", "pass tcp any any -> any any") + rule_text(5));
  const RuleSet rules = load_rule_files({one, two}, default_rule_setup());
  ASSERT_EQ(rules.signatures.size(), 2u);
  EXPECT_EQ(rules.signatures[0].sid, 4u);
  EXPECT_EQ(rules.signatures[1].place, one + ":1");
  EXPECT_EQ(rules.refusals.size(), 1u);
  EXPECT_THROW(load_rule_files({folder.path("none")}, default_rule_setup()), Error);
}

TEST(RuleSets, KnowSnort3) {
  const RuleSet rules = set_of(
      "alert http\n(\n  msg:\"m\";\n  http_uri;\n  content:\"A\",nocase,offset 1;\n  sid:1;\n)\n");
  ASSERT_EQ(rules.signatures.size(), 1u) << rules.refusals.at(0).line();
  EXPECT_EQ(rules.signatures[0].protocol, RuleProtocol::kHttp);
  ASSERT_EQ(rules.signatures[0].buffers.size(), 1u);
  EXPECT_EQ(rules.signatures[0].buffers[0].buffer, RuleBuffer::kHttpUri);
}

}  // namespace
}  // namespace millrace
