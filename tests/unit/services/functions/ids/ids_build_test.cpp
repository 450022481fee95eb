// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_build.hpp"

#include <gtest/gtest.h>

#include "services/functions/ids/ids_image.hpp"
#include "services/functions/ids/signature_names.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"

namespace millrace {
namespace {

class IdsBuildTest : public testing::Test {
 protected:
  BuildReport build(const std::string& rules, const Settings& more = {},
                    std::span<const PlanPath> paths = {}) {
    plan_ = PlanFunction{.name = "ids", .type = "ids", .settings = more};
    plan_.settings.emplace_back("rules", folder_.write("own.rules", rules));
    plan_.image = folder_.path("ids.image");
    return build_ids_image({.function = plan_, .ports = {}, .paths = paths}, 5);
  }
  const MatchFolder folder_;
  PlanFunction plan_;
};

TEST_F(IdsBuildTest, RulesAreReadWithWhatStandsBeside) {
  const std::string classes =
      folder_.write("classes", "config classification: own,a class of ours,2\n");
  const std::string thresholds =
      folder_.write("thresholds",
                    "threshold gen_id 1, sig_id 7, type limit, track by_src, count 1, seconds 60\n"
                    "suppress gen_id 1, sig_id 8\n");
  const BuildReport report = build(
      "alert ip $HOME_NET any -> any any (msg:\"m\"; classtype:own; dsize:1; sid:7; rev:2;)\n"
      "#alert ip any any -> any any (dsize:1; sid:9;)\n",
      {{"variables", "HOME_NET=10.3.0.0/16"},
       {"classification", classes},
       {"thresholds", thresholds}});
  EXPECT_EQ(report.accepted, 1u);
  EXPECT_EQ(report.refused, 0u);
  EXPECT_EQ(report.counter_count, 6u);
  EXPECT_TRUE(report.refusals.empty());
  const IdsImage image(plan_.image);
  ASSERT_EQ(image.signatures().size(), 1u);
  const Signature& signature = image.signatures()[0];
  EXPECT_EQ(signature.classification, "a class of ours");
  EXPECT_EQ(signature.priority, 2);
  ASSERT_EQ(signature.source.ranges.size(), 1u);
  EXPECT_EQ(signature.source.ranges[0].low[1], 3);
  ASSERT_TRUE(signature.threshold);
  EXPECT_EQ(signature.threshold->seconds, 60u);
  EXPECT_EQ(image.suppressions().size(), 1u);
  const SignatureNames names(names_beside_image(plan_.image));
  ASSERT_NE(names.find(1, 7), nullptr);
  EXPECT_EQ(names.find(1, 7)->message, "m");
}

TEST_F(IdsBuildTest, AFileBesideTheRulesThatHasNoEntryIsSaid) {
  const std::string classes = folder_.write("classes", "# cut off\n");
  const std::string thresholds = folder_.write("thresholds", "");
  const BuildReport report = build("alert ip any any -> any any (dsize:1; sid:7;)\n",
                                   {{"classification", classes}, {"thresholds", thresholds}});
  EXPECT_EQ(report.accepted, 1u);
  EXPECT_EQ(report.refused, 0u);
  EXPECT_EQ(report.refusals,
            (std::vector<std::string>{classes + ": no entry in it; is it whole?",
                                      thresholds + ": no entry in it; is it whole?"}));
}

TEST_F(IdsBuildTest, WhatIsWrongIsSaid) {
  const BuildReport report = build("nothing that is a rule\n");
  EXPECT_EQ(report.accepted, 0u);
  EXPECT_EQ(report.refused, 1u);
  EXPECT_EQ(build("# nothing\n").refusals.size(), 1u);
  EXPECT_THROW(build("", {{"thresholds", folder_.write("t", "rate_filter gen_id 1\n")}}), Error);
  EXPECT_THROW(build("", {{"classification", "/nowhere/c"}}), Error);
}

TEST_F(IdsBuildTest, BitsOfHostsNeedALaneThatHasAllTheirPackets) {
  const std::string rules =
      "alert ip any any -> any any (xbits:set,a,track ip_src; sid:1;)\n"
      "alert ip any any -> any any (xbits:set,a,track ip_pair; sid:2;)\n";
  const PlanPath one{.name = "one"};
  const PlanPath four{.name = "four", .lane_count = 4, .lanes_by = LanesBy::kAddresses};
  const PlanPath inside{.name = "inside", .lane_count = 4, .lanes_by = LanesBy::kInside};
  const PlanPath two[] = {one, one};
  EXPECT_EQ(build(rules, {}, {&one, 1}).accepted, 2u);
  EXPECT_EQ(build(rules, {}, {&four, 1}).accepted, 1u);
  EXPECT_EQ(build(rules, {}, {&inside, 1}).accepted, 0u);
  EXPECT_EQ(build(rules, {}, two).accepted, 0u);
  EXPECT_EQ(build(rules).accepted, 0u) << "where nothing is known of lanes";
}

}  // namespace
}  // namespace millrace
