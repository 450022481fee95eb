// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/links/step_times.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

/// Times here are ticks of a counter of 1 GHz: nanoseconds.
class StepTimesTest : public ::testing::Test {
 protected:
  static std::uint64_t count_in(const LatencyHistogram& histogram) {
    return std::accumulate(std::begin(histogram.count), std::end(histogram.count), std::uint64_t{0},
                           [](std::uint64_t sum, const auto& one) { return sum + one.load(); });
  }
  LatencyHistogram& of_stage(const std::string& actor, std::uint32_t stage) {
    return world_.status.stage_latency(world_.actor(actor), stage);
  }
  LatencyHistogram& of_port(const std::string& actor) {
    return world_.status.port_latency(world_.actor(actor), 0);
  }
  SlotHeader& header() { return world_.segment.slot(slot_); }

  test::SmallWorld world_;
  std::uint32_t slot_ = world_.make({});
  StepTimes ingress_{world_.context("ingress.a.0")};
  StepTimes worker_{world_.context("deep.0")};
  StepTimes egress_{world_.context("egress.0")};
};

TEST_F(StepTimesTest, AllBatchesAreTimedAtFirst) {
  for (std::uint64_t i = 1; i <= 100; ++i) {
    header().time_first_tsc = turn_clock::read();
    ingress_.note_seal(header(), 0);
    EXPECT_EQ(header().time_stage_tsc, turn_clock::last());
    EXPECT_EQ(header().time_sealed_tsc, turn_clock::last());
    EXPECT_EQ(count_in(of_port("ingress.a.0")), i);
  }
}

/// Seals so many batches in `ns`, which it then takes for the time between two looks.
std::uint64_t seal_and_take_stock(StepTimes& steps, SlotHeader& header, std::uint64_t batches,
                                  std::uint64_t from_ns, std::uint64_t ns) {
  header.time_first_tsc = 1;
  steps.take_stock(from_ns);
  for (std::uint64_t i = 0; i < batches; ++i) steps.note_seal(header, 0);
  steps.take_stock(from_ns + ns);
  std::uint64_t timed = 0;
  for (int i = 0; i < 10'000; ++i) {
    steps.note_seal(header, 0);
    timed += header.time_stage_tsc != StepTimes::kNotTimed ? 1 : 0;
  }
  return timed;
}

TEST_F(StepTimesTest, OfManyBatchesSomeAreTimedAndAllCount) {
  constexpr std::uint64_t kNs = 10'000'000, kTimedIn = kNs / StepTimes::kTimedEachNs;
  EXPECT_EQ(seal_and_take_stock(ingress_, header(), kTimedIn, kNs, kNs), 10'000u);
  EXPECT_NEAR(seal_and_take_stock(ingress_, header(), 4 * kTimedIn, kNs, kNs), 2'500, 150);
  EXPECT_NEAR(seal_and_take_stock(ingress_, header(), 100 * kTimedIn, kNs, kNs), 625, 100)
      << "kOneOfMost";
  EXPECT_EQ(count_in(of_port("ingress.a.0")), 105 * kTimedIn + 3 * 10'000);
}

TEST_F(StepTimesTest, LanesAndPlacesInABurstAreWeighedAlike) {
  // Batches of eight lanes, always in the same order; those of lane n take n + 1 ms.
  constexpr std::uint64_t kRounds = 20'000, kLanes = 8, kMs = 1'000'000;
  ingress_.take_stock(1);
  for (std::uint64_t i = 0; i < 1000; ++i) ingress_.note_seal(header(), 0);
  ingress_.take_stock(1 + 125 * StepTimes::kTimedEachNs);
  for (std::uint64_t i = 0; i < kRounds * kLanes; ++i) {
    const std::uint64_t now = turn_clock::read();
    ingress_.note_seal(header(), 0);
    const bool timed = header().time_stage_tsc != StepTimes::kNotTimed;
    egress_.note_release(0, timed ? now : StepTimes::kNotTimed, now + (i % kLanes + 1) * kMs);
  }
  EXPECT_EQ(count_in(of_port("egress.0")), kRounds * kLanes);
  const double mean_ms = static_cast<double>(of_port("egress.0").sum_ns) / (kRounds * kLanes) /
                         static_cast<double>(kMs);
  EXPECT_NEAR(mean_ms, (kLanes + 1) / 2.0, 0.1);
}

TEST_F(StepTimesTest, AStageEndsAndTheNextOneBegins) {
  const std::uint64_t began = turn_clock::read() - 1'000'000;
  header().time_stage_tsc = began;
  worker_.note_stage(header(), 1);
  EXPECT_EQ(header().time_stage_tsc, turn_clock::last());
  EXPECT_EQ(of_stage("deep.0", 1).sum_ns, turn_clock::last() - began);
}

TEST_F(StepTimesTest, StagesOfABatchThatIsNotTimedCountLikeThoseOfTheLastOne) {
  header().time_stage_tsc = turn_clock::read() - 1'000'000;
  worker_.note_stage(header(), 1);
  const std::uint64_t sum = of_stage("deep.0", 1).sum_ns;
  header().time_stage_tsc = StepTimes::kNotTimed;
  worker_.note_stage(header(), 1);
  EXPECT_EQ(header().time_stage_tsc, StepTimes::kNotTimed);
  EXPECT_EQ(count_in(of_stage("deep.0", 1)), 2u);
  EXPECT_EQ(of_stage("deep.0", 1).sum_ns, 2 * sum);
}

TEST_F(StepTimesTest, BatchesBeforeTheFirstTimedOneCountWithIt) {
  egress_.note_release(0, StepTimes::kNotTimed, 100);
  egress_.note_release(0, StepTimes::kNotTimed, 200);
  EXPECT_EQ(count_in(of_port("egress.0")), 0u);
  egress_.note_release(0, 1000, 1400);
  EXPECT_EQ(of_port("egress.0").sum_ns, 3 * 400u);
  egress_.note_release(0, StepTimes::kNotTimed, 9000);
  EXPECT_EQ(of_port("egress.0").sum_ns, 4 * 400u);
  EXPECT_EQ(count_in(of_port("egress.0")), 4u);
}

TEST_F(StepTimesTest, AStandInComesFromNowhere) {
  header().flags = kSlotStandIn;
  header().time_stage_tsc = 1;
  worker_.note_stage(header(), 1);
  EXPECT_EQ(count_in(of_stage("deep.0", 1)), 0u);
}

}  // namespace
}  // namespace millrace
