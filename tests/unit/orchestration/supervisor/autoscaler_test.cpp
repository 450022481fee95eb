// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/autoscaler.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

class AutoscalerTest : public testing::Test {
 protected:
  /// One more look, at workers that were so busy since the last one, percent.
  std::uint32_t look(const std::vector<std::uint64_t>& busy) {
    std::vector<Autoscaler::Spent> workers;
    for (std::uint32_t i = 0; i < busy.size(); ++i) {
      spent_.resize(std::max<std::size_t>(spent_.size(), i + 1));
      spent_[i].worker = i;
      spent_[i].busy += busy[i];
      spent_[i].idle += 100 - busy[i];
      workers.push_back(spent_[i]);
    }
    return scaler_.look(workers);
  }
  std::uint32_t looks(int count, const std::vector<std::uint64_t>& busy) {
    std::uint32_t wanted = 0;
    for (int i = 0; i < count; ++i) wanted = look(busy);
    return wanted;
  }

  Autoscaler scaler_{{.min = 1, .max = 3, .up = 80, .down = 30}};
  std::vector<Autoscaler::Spent> spent_;
};

TEST_F(AutoscalerTest, OneMoreWhenAllAreBusyForAWhile) {
  EXPECT_EQ(looks(Autoscaler::kUpLooks, {90, 85}), 2u);
  EXPECT_EQ(look({90, 85}), 3u) << "the first look knows nothing of before";
}

TEST_F(AutoscalerTest, EachStepHasItsOwnLooks) {
  looks(Autoscaler::kDownLooks, {10, 10, 10});
  EXPECT_EQ(look({10, 10, 10}), 2u);
  EXPECT_EQ(looks(Autoscaler::kDownLooks - 1, {10, 10}), 2u);
  EXPECT_EQ(look({10, 10}), 1u);
}

TEST_F(AutoscalerTest, AMomentIsNoWhile) {
  looks(Autoscaler::kUpLooks, {90});
  EXPECT_EQ(look({50}), 1u);
  EXPECT_EQ(looks(Autoscaler::kUpLooks - 1, {90}), 1u);
}

TEST_F(AutoscalerTest, OneLessWhenTheOthersAreEnough) {
  EXPECT_EQ(looks(Autoscaler::kDownLooks, {10, 15}), 2u);
  EXPECT_EQ(look({10, 15}), 1u);
}

TEST_F(AutoscalerTest, WhatTheOthersCouldNotBearStays) {
  EXPECT_EQ(looks(100, {20, 20}), 2u) << "one alone would be at 40, above down";
  EXPECT_EQ(looks(100, {79, 79}), 2u) << "below up";
}

TEST_F(AutoscalerTest, StaysWithinItsLimits) {
  EXPECT_EQ(looks(50, {99, 99, 99}), 3u);
  EXPECT_EQ(looks(50, {0}), 1u);
  EXPECT_EQ(look({0, 0, 0, 0}), 3u) << "more than there may be";
  scaler_ = Autoscaler({.min = 2, .max = 3});
  EXPECT_EQ(look({0}), 2u);
}

TEST_F(AutoscalerTest, AWorkerThatCameOrStartedAgainIsLookedAtFirst) {
  looks(Autoscaler::kUpLooks, {95});
  spent_[0] = {};
  EXPECT_EQ(look({95}), 1u);
  scaler_.forget();
  EXPECT_EQ(looks(Autoscaler::kUpLooks, {95}), 1u);
  EXPECT_EQ(look({95}), 2u);
}

}  // namespace
}  // namespace millrace
