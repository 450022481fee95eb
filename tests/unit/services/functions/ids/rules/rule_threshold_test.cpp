// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

TEST(RuleThreshold, ThresholdsHaveFourWordsInAnyOrder) {
  const struct {
    const char* type;
    Threshold::Kind kind;
  } rows[] = {{"limit", Threshold::Kind::kLimit},
              {"threshold", Threshold::Kind::kThreshold},
              {"both", Threshold::Kind::kBoth}};
  for (const auto& row : rows) {
    const Signature signature = signature_of(std::string("threshold: seconds 300, type ") +
                                             row.type + ", count 2,track by_dst;");
    ASSERT_TRUE(signature.threshold) << row.type;
    EXPECT_EQ(signature.threshold->kind, row.kind);
    EXPECT_EQ(signature.threshold->by, TrackBy::kDestination);
    EXPECT_EQ(signature.threshold->count, 2u);
    EXPECT_EQ(signature.threshold->seconds, 300u);
    EXPECT_FALSE(signature.detection_filter);
  }
}

TEST(RuleThreshold, DetectionFiltersTrackAnEnd) {
  const struct {
    const char* track;
    TrackBy by;
  } rows[] = {{"by_src", TrackBy::kSource},
              {"by_dst", TrackBy::kDestination},
              {"by_both", TrackBy::kBoth},
              {"by_rule", TrackBy::kRule},
              {"by_flow", TrackBy::kFlow}};
  for (const auto& row : rows) {
    const Signature signature =
        signature_of(std::string("detection_filter:track ") + row.track + ",count 1000,seconds 1;");
    ASSERT_TRUE(signature.detection_filter) << row.track;
    EXPECT_EQ(signature.detection_filter->by, row.by);
    EXPECT_EQ(signature.detection_filter->kind, Threshold::Kind::kDetectionFilter);
    EXPECT_EQ(signature.detection_filter->count, 1000u);
  }
}

TEST(RuleThreshold, WhatIsMissingIsRefused) {
  expect_refused({
      {"threshold:type limit,track by_src,count 1;", "'seconds' is missing"},
      {"threshold:type limit,track by_src,seconds 1;", "'count' is missing"},
      {"threshold:type limit,count 1,seconds 1;", "'track' is missing"},
      {"threshold:track by_src,count 1,seconds 1;", "'type' is missing"},
      {"threshold:type backoff,track by_src,count 1,seconds 1;", "'backoff' is not known"},
      {"threshold:type limit,track by_port,count 1,seconds 1;", "'by_port' is not known"},
      {"threshold:type limit,track by_src,count 0,seconds 1;", "not from 1"},
      {"threshold:type limit,track by_src,count 1,count 2,seconds 1;", "twice"},
      {"threshold:type limit,track by_src,count 1,seconds 1,foo 1;", "'foo' is not known"},
      {"detection_filter:type limit,track by_src,count 1,seconds 1;", "goes with threshold"},
      {"detection_filter:track by_src,count 1,seconds 1;"
       "threshold:type limit,track by_src,count 1,seconds 1;",
       "has one threshold"},
  });
}

}  // namespace
}  // namespace millrace
