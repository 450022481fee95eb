// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ingress/queue_counts.hpp"

#include "tests/unit/io-worker/ingress/ingress_fixture.hpp"

namespace millrace {
namespace {

class QueueCountsTest : public test::IngressFixture {
 protected:
  QueueCountsTest() { next_life(); }
  void next_life() {
    counts_.emplace(context_, 0, rx_);
    counts_->tell_by([this](std::string_view text) { told_.emplace_back(text); });
  }

  std::optional<QueueCounts> counts_;
  std::vector<std::string> told_;
};

TEST_F(QueueCountsTest, TheCounterGoesOnWhereTheQueueBeginsFromZero) {
  rx_.error_count = 3;
  counts_->count();
  counts_->count();
  EXPECT_EQ(context_.counter(Counter::kRxErrors), 3u);
  next_life();
  rx_.error_count = 2;
  counts_->count();
  EXPECT_EQ(context_.counter(Counter::kRxErrors), 5u);
  EXPECT_EQ(context_.counter(Counter::kRxMissed), 0u);
}

TEST_F(QueueCountsTest, TroubleIsToldAtTheFirstErrorAndAtTheEndOfTheSource) {
  rx_.what = "record 7 is cut";
  counts_->tell_trouble();
  EXPECT_TRUE(told_.empty()) << "there is none";
  for (rx_.error_count = 1; rx_.error_count < 4; ++rx_.error_count) {
    counts_->count();
    counts_->tell_trouble();
  }
  EXPECT_EQ(told_, std::vector<std::string>{"port 'a': record 7 is cut"});
  rx_.ended = true;
  counts_->tell_trouble();
  counts_->tell_trouble();
  EXPECT_EQ(told_.size(), 2u);
}

TEST_F(QueueCountsTest, ErrorsThatThePortCannotNameAreCountedOnly) {
  rx_.error_count = 1;
  counts_->count();
  counts_->tell_trouble();
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(context_.counter(Counter::kRxErrors), 1u);
}

}  // namespace
}  // namespace millrace
