// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/links/completion.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/support/fake_work.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::FakeWork;
using test::SmallWorld;

// Two functions in one GPU stage: results lie function by function.
constexpr const char* kTwoFunctions = R"(
millrace: 1
name: two
batch: { capacity: 8 }
ports: { a: { device: "null" }, b: { device: "null" } }
workers: { front: { kind: classifier }, gpu: { kind: gpu, device: software } }
functions:
  one: { type: pass, on: gpu }
  two: { type: pass, on: gpu }
paths:
  only: { from: [a], run: [one, two] }
)";

/// What a device would have computed, at the place of the GPU's number.
void compute(const SmallWorld& world, std::uint32_t gpu, std::uint32_t slot, FakeWork& work) {
  work.compute(0, world.segment.batch(slot), world.segment.gpu_results(gpu, slot));
}

TEST(Completion, ResultsOfEveryFunctionReachTheSlotBeforeFinish) {
  SmallWorld world(kTwoFunctions);
  const std::uint32_t slot = world.make({.sequence = 4, .owner = "egress.0"});
  FakeWork work(2);
  compute(world, 1, slot, work);
  StepTimes steps(world.context("egress.0"));
  EXPECT_EQ(finish_completion(world.context("egress.0"), {slot, 0, true, 1}, work, steps),
            kEgressStage);
  ASSERT_EQ(work.finished.size(), 1u);
  // Ordinals 9, 10, 11 of the fourth batch of three.
  EXPECT_EQ(work.finished[0].results, (std::vector<std::uint32_t>{9, 10, 11, 1009, 1010, 1011}));
}

TEST(Completion, TheSlotIsWorkedDuringFinishAndHeldForTheNextStageAfterwards) {
  SmallWorld world;
  const std::uint32_t slot = world.make({.owner = "deep.0", .state = {SlotKind::kHeld, 1}});
  FakeWork work;
  compute(world, 0, slot, work);
  StepTimes steps(world.context("deep.0"));
  EXPECT_EQ(finish_completion(world.context("deep.0"), {slot, 1, true, 0}, work, steps), 2u);
  EXPECT_EQ(work.finished[0].state, (SlotState{SlotKind::kWorked, 1}));
  EXPECT_EQ(world.slot_state(slot), (SlotState{SlotKind::kHeld, 2}));
}

TEST(Completion, AnotherIncarnationsResultsAreNotRead) {
  SmallWorld world(kTwoFunctions);
  const std::uint32_t slot = world.make({.owner = "egress.0"});
  FakeWork work(2);
  compute(world, 1, slot, work);
  StepTimes steps(world.context("egress.0"));
  finish_completion(world.context("egress.0"), {slot, 0, true, 0}, work, steps);
  EXPECT_EQ(work.finished[0].results, (std::vector<std::uint32_t>(6, 0)));
}

}  // namespace
}  // namespace millrace
