// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/stage_parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "services/functions/stage_runner.hpp"
#include "tests/unit/services/functions/batch_of_frames.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;

constexpr Region kFirstLine[] = {{Region::Start::kFrame, 60}};

/// Keeps how many packets each call had; those of finish below 0.
template <typename Base>
class Counting final : public Base {
 public:
  void compute(const Batch&, Selection selected, std::span<std::uint32_t>) noexcept override {
    calls.push_back(static_cast<int>(selected.packets.size()));
  }
  void finish(const FinishContext& call) noexcept override {
    calls.push_back(-static_cast<int>(call.selected.packets.size()));
  }
  std::vector<int> calls;
};

/// Calls for a batch of 40 packets.
template <typename Base>
std::vector<int> calls_of(std::span<const Region> regions) {
  Counting<Base> function;
  BatchArena arena;
  const Batch batch = batch_of(arena, std::vector<Frame>(40, Frame(60)));
  StageRunner({{.function = &function, .regions = regions}}).run(batch, {});
  return function.calls;
}

TEST(StageParts, APartIsFinishedBeforeTheNextIsComputed) {
  EXPECT_THAT(calls_of<FunctionInParts>(kFirstLine), ElementsAre(32, -32, 8, -8));
  EXPECT_THAT(calls_of<FunctionInParts>({}), ElementsAre(32, -32, 8, -8));
}

TEST(StageParts, WithoutPartsFinishComesOnce) {
  EXPECT_THAT(calls_of<Function>(kFirstLine), ElementsAre(16, 16, 8, -40));
  EXPECT_THAT(calls_of<Function>({}), ElementsAre(40, -40)) << "nothing has to be fetched";
}

/// Says that it gives flows.
class Giver final : public FunctionInParts {
 public:
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext&) noexcept override {}
  FlowBatch* flows() noexcept override { return reinterpret_cast<FlowBatch*>(this); }
};

TEST(StagePartsDeathTest, AGiverOfFlowsWorksOnWholeBatches) {
  Giver function;
  EXPECT_DEATH(StageRunner({{.function = &function}}), "CHECK");
}

}  // namespace
}  // namespace millrace
