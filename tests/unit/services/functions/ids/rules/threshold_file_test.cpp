// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "services/functions/ids/rules/rule_set.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/services/functions/ids/rules/rule_folder.hpp"

namespace millrace {
namespace {

using Track = RuleSuppression::Track;

RuleSet two_rules() {
  RuleSet rules;
  for (const std::uint32_t sid : {1u, 2u}) {
    rules.signatures.emplace_back().sid = sid;
  }
  rules.signatures[1].detection_filter = Threshold{Threshold::Kind::kDetectionFilter};
  return rules;
}
ThresholdFile read_lines(const std::string& text, RuleSet& rules) {
  const RuleFolder folder;
  return load_threshold_file(folder.write("t", text), {{{"NET", "10.0.0.0/8"}}, {}, ""}, rules);
}

TEST(ThresholdFiles, HaveSuppressions) {
  RuleSet rules = two_rules();
  const ThresholdFile file = read_lines(
      "# a\nsuppress gen_id 1, sig_id 2\n"
      "suppress gen_id 1, sig_id 0, track by_src, ip [$NET, !10.0.0.1]\n"
      "suppress gen_id 0, sig_id 0, track by_either, \\\n  ip 1.1.1.1\n",
      rules);
  ASSERT_EQ(file.suppressions.size(), 3u);
  EXPECT_EQ(file.suppressions[0].sid, 2u);
  EXPECT_EQ(file.suppressions[0].track, Track::kAny);
  EXPECT_EQ(file.suppressions[1].track, Track::kSource);
  EXPECT_TRUE(file.suppressions[1].addresses.contains(4, {10, 0, 0, 2}));
  EXPECT_FALSE(file.suppressions[1].addresses.contains(4, {10, 0, 0, 1}));
  EXPECT_EQ(file.suppressions[2].gid, 0u);
  EXPECT_EQ(file.suppressions[2].track, Track::kEither);
}

TEST(ThresholdFiles, PutThresholdsIntoRules) {
  RuleSet rules = two_rules();
  read_lines(
      "threshold gen_id 1, sig_id 0, type limit, track by_dst, count 5, seconds 60\n"
      "threshold gen_id 7, sig_id 1, type both, track by_src, count 1, seconds 1\n",
      rules);
  ASSERT_TRUE(rules.signatures[0].threshold);
  EXPECT_EQ(rules.signatures[0].threshold->kind, Threshold::Kind::kLimit);
  EXPECT_EQ(rules.signatures[0].threshold->by, TrackBy::kDestination);
  EXPECT_EQ(rules.signatures[0].threshold->count, 5u);
  EXPECT_EQ(rules.signatures[0].threshold->seconds, 60u);
  // Its own words count more than a line for all.
  EXPECT_FALSE(rules.signatures[1].threshold);
  read_lines("threshold gen_id 1, sig_id 2, type both, track by_both, count 1, seconds 1\n", rules);
  EXPECT_TRUE(rules.signatures[1].threshold);
  EXPECT_FALSE(rules.signatures[1].detection_filter);
}

TEST(ThresholdFiles, RefuseWhatTheyDoNotUnderstand) {
  RuleSet rules = two_rules();
  const auto refusal = [&](const std::string& line) -> std::string {
    try {
      read_lines("\n" + line + "\n", rules);
    } catch (const Error& error) {
      const std::string text = error.what();
      return text.substr(text.find(":2: ") + 4);
    }
    return "";
  };
  const std::string gid = "threshold gen_id 1, sig_id 1, ";
  EXPECT_EQ(refusal("rate_filter gen_id 1, sig_id 1"),
            "rate_filter is not supported: a rule's action does not change with its rate");
  EXPECT_EQ(refusal("limit gen_id 1"), "'limit' is none of suppress, threshold, event_filter");
  EXPECT_EQ(refusal("suppress gen_id 1"), "'sig_id' is missing");
  EXPECT_EQ(refusal("suppress gen_id 1, sig_id a"), "sig_id 'a' is no number");
  EXPECT_EQ(refusal("suppress gen_id 0, sig_id 1"),
            "gen_id 0 means all rules; sig_id must be 0 then");
  EXPECT_EQ(refusal("suppress gen_id 1, sig_id 1, track by_src"), "'ip' is missing");
  EXPECT_EQ(refusal("suppress gen_id 1, sig_id 1, track by_src, ip x"),
            "ip: 'x' is no address, network or range of addresses");
  EXPECT_EQ(refusal("suppress gen_id 1, sig_id 1, track by_rule, ip any"),
            "track 'by_rule' is none of by_src, by_dst, by_either");
  EXPECT_EQ(refusal("suppress gen_id 1, sig_id 1, gen_id 1"), "'gen_id' stands there twice");
  EXPECT_EQ(refusal("suppress gen_id 1, sig_id 1, x 1"), "'x' is not understood");
  EXPECT_EQ(refusal("suppress"), "'' is no name with a value behind it");
  EXPECT_EQ(refusal(gid + "type x, track by_src, count 1, seconds 1"),
            "type 'x' is none of limit, threshold, both");
  EXPECT_EQ(refusal(gid + "type both, track by_src, count 0, seconds 1"), "count is 0");
}

}  // namespace
}  // namespace millrace
