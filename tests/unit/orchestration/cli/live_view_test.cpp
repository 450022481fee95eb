// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/live_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/small_world.hpp"

namespace millrace::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Two looks, two seconds apart, at a topology of two ports whose first stream moved.
class LiveView : public testing::Test {
 protected:
  LiveView() : plan_(plan_of_text(kTwoPaths)) {
    for (Snapshot* look : {&before_, &after_}) {
      look->actors.resize(plan_.actors.size());
      look->streams.resize(plan_.streams.size());
      look->latency.resize(plan_.streams.size());
      for (Snapshot::Actor& actor : look->actors) actor.state = ActorState::kAlive;
    }
    after_.at_ns = 2'000'000'000;
    after_.streams[0].received = 3000;
    after_.streams[0].received_bytes = 250'000;
    after_.streams[0].transmitted[1] = 2600;
    after_.streams[0].dropped[static_cast<std::size_t>(Reason::kOverload)] = 400;
    after_.latency[0][160] = 10;
    set(Counter::kPackets, 3000);
    set(Counter::kBatches, 100);
    set(Counter::kBusyCycles, 25);
    set(Counter::kIdleCycles, 75);
  }
  void set(Counter id, std::uint64_t value) {
    after_.actors[plan_.streams[0].ingress].counters[static_cast<std::size_t>(id)] = value;
  }

  Plan plan_;
  Snapshot before_, after_;
};

TEST_F(LiveView, PageHasPortsActorsDropsAndLatency) {
  const std::string page = live_page(plan_, before_, after_, false);
  EXPECT_THAT(page, HasSubstr("a                          1.50 k          1.0              0"));
  EXPECT_THAT(page, HasSubstr("b                               0          0.0         1.30 k"));
  EXPECT_THAT(page, HasSubstr("ingress.a.0        alive            1.50 k         30.0  "
                              "███·········  25 %"));
  EXPECT_THAT(page, HasSubstr("dropped: overload 200/s\n"));
  EXPECT_THAT(page, HasSubstr("latency of batches: p50 8 us"));
  EXPECT_THAT(page, Not(HasSubstr("\033")));
  EXPECT_THAT(live_page(plan_, before_, after_, true), HasSubstr("\033[32malive"));
}

TEST_F(LiveView, WhatARouterMakesAndConsumesIsShownWhereThereIsSome) {
  EXPECT_THAT(live_page(plan_, before_, after_, false),
              AllOf(Not(HasSubstr("generated")), Not(HasSubstr("consumed"))));
  after_.streams[0].generated[static_cast<std::size_t>(Reason::kReply)] = 6;
  after_.streams[0].generated[static_cast<std::size_t>(Reason::kReport)] = 2;
  after_.streams[1].consumed[static_cast<std::size_t>(Reason::kAnswered)] = 8;
  EXPECT_THAT(live_page(plan_, before_, after_, false),
              HasSubstr("dropped: overload 200/s\ngenerated: report 1/s, reply 3/s\n"
                        "consumed: answered 4/s\nlatency of batches"));
  const auto json = live_json(plan_, before_, after_);
  EXPECT_EQ(json["generated_per_s"]["reply"], 3.0);
  EXPECT_EQ(json["consumed_per_s"]["answered"], 4.0);
  EXPECT_EQ(json["dropped_per_s"].size(), 1u);
}

TEST_F(LiveView, ReasonsOfFunctionsHaveTheNamesOfThePlan) {
  plan_.reasons = {{.name = "odd"}};
  after_.streams[1].dropped[kCoreReasonCount] = 8;
  EXPECT_THAT(live_page(plan_, before_, after_, false), HasSubstr(", odd 4/s\n"));
  EXPECT_EQ(live_json(plan_, before_, after_)["dropped_per_s"]["odd"], 4.0);
}

TEST(FirstLines, AreAllOrSayHowManyMoreThereAre) {
  EXPECT_EQ(first_lines("a\nb\nc\n", 3), "a\nb\nc\n");
  EXPECT_EQ(first_lines("a\nb\nc\n", 2), "a\nand 2 lines more\n");
  EXPECT_EQ(first_lines("a\nb\nc\n", 1), "and 3 lines more\n");
  EXPECT_EQ(first_lines("a\nb\nc\n", 0), "a\nb\nc\n");
}

TEST(FirstColumns, AreCountedWithoutColoursAndBytesOfOneLetter) {
  EXPECT_EQ(first_columns("abc\nd\n", 2), "ab\nd\n");
  EXPECT_EQ(first_columns("█··x\n", 3), "█··\n");
  EXPECT_EQ(first_columns("\033[32malive\033[0m yes\n", 5), "\033[32malive\033[0m\n");
}

TEST_F(LiveView, LineNamesWhoIsNotAlive) {
  EXPECT_THAT(
      live_line(plan_, before_, after_),
      HasSubstr("received 1.50 k/s, transmitted 1.30 k/s, dropped overload 200/s, p50 8 us"));
  after_.actors[plan_.streams[1].ingress].state = ActorState::kFenced;
  EXPECT_THAT(live_line(plan_, before_, after_), HasSubstr(", ingress.b.0 dead"));
}

TEST_F(LiveView, DataHasTheSame) {
  const auto json = live_json(plan_, before_, after_);
  EXPECT_EQ(json["ports"][0]["received_per_s"], 1500.0);
  EXPECT_EQ(json["ports"][0]["received_bits_per_s"], 1e6);
  EXPECT_EQ(json["dropped_per_s"]["overload"], 200.0);
  EXPECT_EQ(json["actors"][0]["busy_share"], 0.25);
}

TEST_F(LiveView, EndsWhenNobodyIsAlive) {
  EXPECT_TRUE(anybody_alive(after_));
  for (Snapshot::Actor& actor : after_.actors) actor.state = ActorState::kVacant;
  EXPECT_FALSE(anybody_alive(after_));
}

TEST_F(LiveView, ACounterThatWentBackwardsIsNoRate) {
  std::swap(before_, after_);
  std::swap(before_.at_ns, after_.at_ns);
  EXPECT_THAT(live_line(plan_, before_, after_), HasSubstr("received 0/s"));
}

TEST(RateText, HasThreeDigits) {
  EXPECT_EQ(rate_text(0), "0");
  EXPECT_EQ(rate_text(999.4), "999");
  EXPECT_EQ(rate_text(999.6), "1.00 k");
  EXPECT_EQ(rate_text(12'345), "12.3 k");
  EXPECT_EQ(rate_text(123'456), "123 k");
  EXPECT_EQ(rate_text(999'499), "999 k");
  EXPECT_EQ(rate_text(1'200'000), "1.20 M");
}

}  // namespace
}  // namespace millrace::test
