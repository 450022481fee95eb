// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/stages/function_stages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "orchestration/planner/loader.hpp"
#include "orchestration/planner/planner.hpp"
#include "services/functions/record/record.hpp"
#include "services/functions/table.hpp"
#include "shared/base/error.hpp"
#include "shared/config/plan_reasons.hpp"
#include "shared/layout/batch_arena.hpp"
#include "shared/layout/mapping.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"

namespace millrace {
namespace {

using ::testing::HasSubstr;

// Two matches on a GPU, whose completions the recording classifier accepts; front stands in.
constexpr const char* kTopology = R"(
millrace: 1
name: stages
batch: { capacity: 8 }
ports: { a: { device: "null" }, b: { device: "null" } }
workers:
  front: { kind: classifier }
  other: { kind: classifier }
  deep: { kind: classifier, dispatch: flow }
  gpu: { kind: gpu, device: software }
functions:
  ids: { type: match, rules: ids.rules, on: gpu }
  watch: { type: record, on: deep }
  last: { type: match, rules: last.rules, on: gpu }
paths:
  one: { from: [a], run: [ids, watch, last], lanes: 2 }
)";

/// Real functions of the table, with rules that this test writes.
class FunctionStagesTest : public ::testing::Test {
 protected:
  FunctionStagesTest() {
    folder_.write("ids.rules", "drop \"attack\"\n");
    folder_.write("last.rules", "drop \"secret\"\n");
    plan_ = make_plan(parse_topology(kTopology, folder_.path("t.yaml"), known_functions()),
                      known_functions(), Host{});
    for (PlanFunction& function : plan_.functions) {
      if (!function_type(function.type).traits.has_image) continue;
      function.image = folder_.path(function.name + ".image");
      function.counter_count = build(function).counter_count;
    }
    segment_memory_ = Mapping::create_anonymous(segment_layout(plan_).bytes);
    status_memory_ = Mapping::create_anonymous(status_layout(plan_).bytes);
    segment_ = SegmentView::create(segment_memory_.base(), plan_);
    status_ = StatusView::create(status_memory_.base(), plan_, 1'000'000'000);
  }
  ActorContext context(const std::string& name) const {
    for (std::uint16_t i = 0; i < plan_.actors.size(); ++i) {
      if (plan_.actors[i].name == name) return {&plan_, segment_, status_, {i, 1}};
    }
    std::abort();
  }
  void add(const std::string& payload) {
    // Ethernet, IPv4, UDP.
    std::string frame(42, '\0');
    frame[12] = 8;
    frame[14] = 0x45;
    frame[17] = static_cast<char>(28 + payload.size());
    frame[23] = 17;
    frame[39] = static_cast<char>(8 + payload.size());
    frame += payload;
    arena_.add(std::as_bytes(std::span(frame)));
  }
  /// Which of the stages the actor's functions include: those that need no image are made at once.
  std::string made_by(const std::string& name) const {
    try {
      const FunctionStages stages(context(name));
    } catch (const Error& error) {
      return error.what();
    }
    return "all made";
  }

  MatchFolder folder_;
  Plan plan_;
  Mapping segment_memory_, status_memory_;
  SegmentView segment_;
  StatusView status_;
  BatchArena arena_{8};
};

TEST_F(FunctionStagesTest, AStandInRunsTheWholeStage) {
  FunctionStages stages(context("front.0"));
  add("an attack!");
  add("all is well");
  stages.run(0, arena_.batch());
  EXPECT_FALSE(arena_.batch().goes_on(0));
  EXPECT_TRUE(arena_.batch().goes_on(1));
}

TEST_F(FunctionStagesTest, ComputedOnAGpuAndFinishedElsewhereAStageEndsAsOnACpu) {
  FunctionStages gpu(context("gpu.0.a"));
  FunctionStages acceptor(context("deep.0"));
  add("an attack!");
  add("all is well");
  const Batch batch = arena_.batch();
  std::vector<std::uint32_t> results(batch.capacity * kStageFunctionCountMax, 0);
  gpu.compute(0, batch, results.data());
  EXPECT_TRUE(batch.goes_on(0)) << "a GPU writes results only";
  std::copy(results.begin(), results.end(), batch.result);
  acceptor.finish(0, batch);
  EXPECT_FALSE(batch.goes_on(0));
  EXPECT_EQ(reason_name(plan_.reasons, batch.reason[0]), "rule");
  EXPECT_TRUE(batch.goes_on(1));
}

TEST_F(FunctionStagesTest, StateIsTheLanesAndLiesInTheSegment) {
  FunctionStages stages(context("deep.0"));
  add("one");
  add("two");
  arena_.batch().header->lane = 1;
  stages.run(1, arena_.batch());
  RecordState state;
  std::memcpy(&state, segment_.lane_state(plan_, 1, 1).data(), sizeof state);
  EXPECT_EQ(state.counts[static_cast<std::size_t>(RecordCounter::kPackets)], 2u);
  std::memcpy(&state, segment_.lane_state(plan_, 1, 0).data(), sizeof state);
  EXPECT_EQ(state.counts[static_cast<std::size_t>(RecordCounter::kPackets)], 0u);
}

TEST_F(FunctionStagesTest, CountersAreTheActorsAndTheFunctionsOwn) {
  FunctionStages stages(context("deep.0"));
  add("one");
  stages.run(1, arena_.batch());
  const std::uint32_t first = function_counter_first(plan_, 1);
  const auto packets = static_cast<std::size_t>(RecordCounter::kPackets);
  const ActorContext deep = context("deep.0");
  EXPECT_EQ(status_.function_counters(deep.me.actor, first, kRecordCounterCount)[packets], 1u);
  const ActorContext front = context("front.0");
  EXPECT_EQ(status_.function_counters(front.me.actor, first, kRecordCounterCount)[packets], 0u);
}

TEST_F(FunctionStagesTest, EveryActorMakesWhatItNeedsAndNothingElse) {
  plan_.functions[0].image = folder_.path("gone.image");  // of ids, stage 0
  EXPECT_THAT(made_by("gpu.0.a"), HasSubstr("function ids: "));
  EXPECT_THAT(made_by("gpu.0.b"), HasSubstr("function ids: "));
  EXPECT_THAT(made_by("front.0"), HasSubstr("function ids: ")) << "it stands in";
  EXPECT_THAT(made_by("deep.0"), HasSubstr("function ids: ")) << "it accepts completions";
  EXPECT_EQ(made_by("egress.0"), "all made");
  EXPECT_EQ(made_by("other.0"), "all made");
}

TEST_F(FunctionStagesTest, TheEgressFinishesTheLastStageOfAGpu) {
  plan_.functions[2].image = folder_.path("gone.image");  // of last, stage 2
  EXPECT_THAT(made_by("egress.0"), HasSubstr("function last: "));
  EXPECT_EQ(made_by("deep.0"), "all made");
  EXPECT_EQ(made_by("other.0"), "all made");
}

/// Two editions of `last`, whose rules sit at other numbers: a result means something by its own.
class Editions : public FunctionStagesTest {
 protected:
  Plan next() {
    folder_.write("last.rules", "drop \"nothing\"\ndrop \"secret\"\n");
    Plan plan = plan_;
    plan.revision = 1;
    plan.others = {{2, plan_.functions[2]}};
    plan.others[0].function.edition = 1;
    plan.others[0].function.image = folder_.path("last.2.image");
    build(plan.others[0].function);
    return plan;
  }
  static Plan used(Plan plan) {
    ++plan.revision;
    std::swap(plan.functions[2], plan.others[0].function);
    return plan;
  }
  static Plan dropped(Plan plan) {
    ++plan.revision;
    plan.others.clear();
    return plan;
  }
  /// Whether a packet with the secret is dropped when computed by one and finished by the other.
  bool drops(FunctionStages& gpu, FunctionStages& egress, std::uint32_t edition) {
    arena_ = BatchArena(8);
    add("a secret");
    Batch batch = arena_.batch();
    batch.edition = edition;
    std::vector<std::uint32_t> results(batch.capacity * kStageFunctionCountMax, 0);
    gpu.compute(2, batch, results.data());
    std::copy(results.begin(), results.end(), batch.result);
    egress.finish(2, batch);
    return !batch.goes_on(0) && reason_name(plan_.reasons, batch.reason[0]) == "rule";
  }
  std::uint64_t revision_of(const std::string& name) const {
    return status_.actor_tally(context(name).me.actor).revision.load();
  }
};

TEST_F(Editions, AResultIsFinishedByTheTablesThatComputedIt) {
  FunctionStages gpu(context("gpu.0.a"));
  FunctionStages egress(context("egress.0"));
  EXPECT_TRUE(drops(gpu, egress, 0));
  const Plan loading = next();
  for (FunctionStages* each : {&gpu, &egress}) {
    each->follow(loading);
    each->take_tables();
  }
  EXPECT_TRUE(drops(gpu, egress, 0));
  EXPECT_TRUE(drops(gpu, egress, 1)) << "ready before anybody computes with it";
  const Plan using_it = used(loading);
  gpu.follow(using_it);
  gpu.take_tables();
  EXPECT_TRUE(drops(gpu, egress, 1)) << "the egress has not heard of it yet";
  egress.follow(using_it);
  egress.take_tables();
  EXPECT_TRUE(drops(gpu, egress, 0)) << "a batch that was under way";
  EXPECT_TRUE(drops(gpu, egress, 1));
  EXPECT_EQ(revision_of("egress.0"), 2u);
}

TEST_F(Editions, AResultIsFinishedByTheListOfFunctionsThatComputedIt) {
  FunctionStages gpu(context("gpu.0.a"));
  FunctionStages egress(context("egress.0"));
  Plan loading = plan_;
  loading.revision = 1;
  loading.other_stages = {{2, {0, 2}, 1}};
  Plan using_it = loading;
  using_it.revision = 2;
  std::swap(using_it.stages[2].functions, using_it.other_stages[0].functions);
  std::swap(using_it.stages[2].edition, using_it.other_stages[0].edition);
  for (FunctionStages* each : {&gpu, &egress}) {
    each->follow(loading);
    each->take_tables();
  }
  egress.follow(using_it);
  egress.take_tables();
  EXPECT_EQ(egress.columns(2, 0), 1u);
  EXPECT_EQ(egress.columns(2, 1), 2u);
  EXPECT_EQ(egress.columns(2, 2), 0u);
  EXPECT_TRUE(drops(gpu, egress, 0)) << "one column, of the old list";
  EXPECT_TRUE(drops(gpu, egress, 1)) << "the second of two";
}

TEST_F(Editions, WhatIsNotKnownAnyMoreDropsTheBatchInsteadOfGuessing) {
  FunctionStages egress(context("egress.0"));
  const Plan all = dropped(used(next()));
  egress.follow(all);
  egress.take_tables();
  add("harmless");
  Batch batch = arena_.batch();
  batch.edition = 0;
  egress.finish(2, batch);
  EXPECT_FALSE(batch.goes_on(0));
  EXPECT_EQ(batch.reason[0], static_cast<std::uint8_t>(Reason::kWorkerLost));
}

TEST_F(Editions, NothingChangesBeforeTheDataThreadTakesIt) {
  FunctionStages egress(context("egress.0"));
  egress.take_tables();
  EXPECT_EQ(revision_of("egress.0"), 0u);
  egress.follow(next());
  ASSERT_NE(egress.ready(), nullptr);
  EXPECT_EQ(revision_of("egress.0"), 0u);
  egress.take();
  EXPECT_EQ(egress.ready(), nullptr);
  EXPECT_EQ(revision_of("egress.0"), 1u);
}

TEST_F(Editions, ATableThatCannotBeReadLeavesAllAsItIs) {
  FunctionStages egress(context("egress.0"));
  Plan bad = next();
  bad.others[0].function.image = folder_.path("gone.image");
  EXPECT_THROW(egress.follow(bad), Error);
  EXPECT_EQ(egress.ready(), nullptr);
  FunctionStages gpu(context("gpu.0.a"));
  EXPECT_TRUE(drops(gpu, egress, 0));
}

TEST_F(Editions, APlanIsWantedOnceItIsNewAndTheOneBeforeIsTaken) {
  FunctionStages gpu(context("gpu.0.a"));
  const Plan first = next();
  const Plan second = used(first);
  EXPECT_FALSE(gpu.wants(plan_));
  EXPECT_TRUE(gpu.wants(first));
  gpu.follow(first);
  EXPECT_FALSE(gpu.wants(second));
  gpu.take_tables();
  EXPECT_FALSE(gpu.wants(first));
  EXPECT_TRUE(gpu.wants(second));
}

TEST_F(Editions, CountersGoOnOverAReload) {
  FunctionStages egress(context("egress.0"));
  FunctionStages gpu(context("gpu.0.a"));
  const auto hits =
      status_.function_counters(context("egress.0").me.actor, function_counter_first(plan_, 2), 2);
  ASSERT_TRUE(drops(gpu, egress, 0));
  EXPECT_EQ(hits[0], 1u);
  egress.follow(used(next()));
  egress.take_tables();
  EXPECT_EQ(hits[0], 1u);
}

}  // namespace
}  // namespace millrace
