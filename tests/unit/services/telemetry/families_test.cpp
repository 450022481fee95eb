// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/families.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Families, LeaveOutWhatWasNotAdded) {
  Families families;
  families.add(Metric::kRecoveries, {}, 3);
  const auto taken = families.take();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].name, "millrace_recoveries_total");
  EXPECT_EQ(taken[0].type, prometheus::MetricType::Counter);
  EXPECT_EQ(taken[0].metric.at(0).counter.value, 3);
  EXPECT_TRUE(families.take().empty());
}

TEST(Families, NameTheLabelsAsDeclared) {
  Families families;
  families.add(Metric::kDrops, {"lan.0", "rest", "no_route", "policy", "function"}, 7);
  const auto taken = families.take();
  const auto& labels = taken.at(0).metric.at(0).label;
  ASSERT_EQ(labels.size(), 5u);
  EXPECT_EQ(labels[0].name, "stream");
  EXPECT_EQ(labels[2].name, "reason");
  EXPECT_EQ(labels[2].value, "no_route");
}

TEST(FamiliesDeathTest, DoNotTakeOtherLabelsThanDeclared) {
  Families families;
  EXPECT_DEATH(families.add(Metric::kDrops, {"lan.0"}, 7), "CHECK");
}

}  // namespace
}  // namespace millrace
