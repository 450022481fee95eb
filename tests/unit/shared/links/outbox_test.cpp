// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/links/outbox.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::HandMade;
using test::SmallWorld;
using Slots = std::vector<std::uint32_t>;

constexpr std::uint8_t kFirst = 0, kSecond = 1, kThird = 2;

class OutboxTest : public ::testing::Test {
 protected:
  OutboxTest() { world_.start_all(); }
  Outbox open(const char* name) {
    Outbox outbox(world_.context(name));
    outbox.read_roster();
    return outbox;
  }
  std::uint32_t batch(const char* owner, std::uint8_t stage, std::uint32_t lane = 0) {
    return world_.make(
        {.lane = lane, .sequence = ++sequence_, .owner = owner, .state = {SlotKind::kHeld, stage}});
  }
  Slots send(Outbox& outbox, const char* owner, std::uint8_t stage, int count,
             std::uint32_t lane = 0) {
    Slots slots;
    for (int i = 0; i < count; ++i) {
      slots.push_back(batch(owner, stage, lane));
      outbox.send(slots.back(), stage);
    }
    return slots;
  }
  void take(const char* from, const char* to, std::size_t count) {
    std::vector<std::uint64_t> words(count);
    ASSERT_EQ(world_.link(from, to).take(words, [](std::uint64_t) {}), count);
  }
  std::atomic<std::uint16_t>& worker_of(const char* group_member, std::uint32_t lane) {
    return world_.status.lane_map(world_.plan.actors[world_.actor(group_member)].group)
        .worker[lane];
  }

  SmallWorld world_;
  std::uint64_t sequence_ = 0;
};

TEST_F(OutboxTest, GivesTheDescriptorOfTheBatchToTheLink) {
  Outbox outbox = open("ingress.a.0");
  const std::uint32_t slot = send(outbox, "ingress.a.0", kFirst, 1)[0];
  std::vector<std::uint64_t> words;
  world_.link("ingress.a.0", "front.0").snapshot(words);
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(Descriptor::from_word(words[0]),
            (Descriptor{static_cast<std::uint16_t>(slot), kFirst, 1}));
}

TEST_F(OutboxTest, AnyTurnsRoundRobinWhileAllAreEquallyLoaded) {
  Outbox outbox = open("ingress.a.0");
  const Slots sent = send(outbox, "ingress.a.0", kFirst, 6);
  EXPECT_EQ(world_.slots_in("ingress.a.0", "front.0"), (Slots{sent[0], sent[3]}));
  EXPECT_EQ(world_.slots_in("ingress.a.0", "front.1"), (Slots{sent[1], sent[4]}));
  EXPECT_EQ(world_.slots_in("ingress.a.0", "front.2"), (Slots{sent[2], sent[5]}));
}

TEST_F(OutboxTest, AnyTakesTheLeastLoaded) {
  Outbox outbox = open("ingress.a.0");
  send(outbox, "ingress.a.0", kFirst, 6);
  take("ingress.a.0", "front.2", 2);
  take("ingress.a.0", "front.1", 1);
  const Slots more = send(outbox, "ingress.a.0", kFirst, 2);
  EXPECT_EQ(world_.slots_in("ingress.a.0", "front.2")[0], more[0]);
  EXPECT_EQ(world_.link("ingress.a.0", "front.0").size(), 2u);
}

/// More than are looked at for a batch.
TEST(OutboxOfMany, AWorkerThatTakesMoreIsGivenMore) {
  constexpr std::uint32_t kWorkers = 12, kBatches = 60;
  SmallWorld world(R"(
millrace: 1
name: many
batch: { capacity: 8 }
ports:
  a: { device: "null" }
  b: { device: "null" }
workers:
  front: { kind: classifier, count: 12, max: 12, dispatch: any }
functions:
  first: { type: pass, on: front }
paths:
  only: { from: [a], to: b, run: [first], slots: 64 }
)");
  world.start_all();
  Outbox outbox(world.context("ingress.a.0"));
  outbox.read_roster();
  std::vector<std::uint32_t> given(kWorkers);
  for (std::uint32_t i = 0; i < kBatches; ++i) {
    outbox.send(world.make({.sequence = i + 1, .state = {SlotKind::kHeld, kFirst}}), kFirst);
    for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
      auto link = world.link("ingress.a.0", "front." + std::to_string(worker));
      std::uint64_t word = 0;
      // Only number 5 works.
      if (worker == 5) given[worker] += link.take({&word, 1}, [](std::uint64_t) {});
    }
  }
  for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
    given[worker] += world.link("ingress.a.0", "front." + std::to_string(worker)).size();
  }
  EXPECT_EQ(std::accumulate(given.begin(), given.end(), 0u), kBatches);
  for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
    if (worker == 5) continue;
    EXPECT_LT(2 * given[worker], given[5]) << worker;
  }
}

TEST_F(OutboxTest, AnyLeavesOutWhoIsNotAlive) {
  world_.set("front.1", ActorState::kDraining);
  Outbox outbox = open("ingress.a.0");
  send(outbox, "ingress.a.0", kFirst, 6);
  EXPECT_EQ(world_.link("ingress.a.0", "front.1").size(), 0u);
  EXPECT_EQ(world_.link("ingress.a.0", "front.0").size(), 3u);
  EXPECT_EQ(world_.link("ingress.a.0", "front.2").size(), 3u);
}

TEST_F(OutboxTest, FlowFollowsTheLaneMapAsOfTheRoster) {
  for (std::uint32_t lane = 0; lane < 4; ++lane) worker_of("deep.0", lane) = lane % 2;
  Outbox outbox = open("front.0");
  Slots sent;
  for (std::uint32_t lane = 0; lane < 4; ++lane) {
    sent.push_back(send(outbox, "front.0", kThird, 1, lane)[0]);
  }
  EXPECT_EQ(world_.slots_in("front.0", "deep.0"), (Slots{sent[0], sent[2]}));
  EXPECT_EQ(world_.slots_in("front.0", "deep.1"), (Slots{sent[1], sent[3]}));
  worker_of("deep.0", 0) = 1;
  send(outbox, "front.0", kThird, 1, 0);
  EXPECT_EQ(world_.link("front.0", "deep.0").size(), 3u) << "the map counts from the epoch on";
  outbox.read_roster();
  send(outbox, "front.0", kThird, 1, 0);
  EXPECT_EQ(world_.link("front.0", "deep.1").size(), 3u);
}

TEST_F(OutboxTest, WhatNobodyCanTakeWaitsAndLeavesInOrder) {
  for (const char* name : {"front.0", "front.1", "front.2"}) {
    world_.set(name, ActorState::kVacant);
  }
  Outbox outbox = open("ingress.a.0");
  const Slots sent = send(outbox, "ingress.a.0", kFirst, 4);
  EXPECT_EQ(outbox.pending(), 4u);
  EXPECT_EQ(outbox.flush(), 0u);
  EXPECT_EQ(outbox.pending(), 4u);
  world_.set("front.1", ActorState::kAlive);
  outbox.read_roster();
  const std::uint32_t later = send(outbox, "ingress.a.0", kFirst, 1)[0];
  EXPECT_EQ(outbox.pending(), 5u) << "a later one overtakes those that wait";
  EXPECT_EQ(outbox.flush(), 5u);
  EXPECT_EQ(world_.slots_in("ingress.a.0", "front.1"),
            (Slots{sent[0], sent[1], sent[2], sent[3], later}));
}

TEST_F(OutboxTest, ALaneWithoutWorkerDoesNotHoldUpTheOthers) {
  worker_of("deep.0", 1) = 1;
  Outbox outbox = open("front.0");
  const Slots stuck = send(outbox, "front.0", kThird, 2, 0);
  const Slots free_to_go = send(outbox, "front.0", kThird, 2, 1);
  EXPECT_EQ(outbox.flush(), 2u);
  EXPECT_EQ(world_.slots_in("front.0", "deep.1"), free_to_go);
  worker_of("deep.0", 0) = 1;
  outbox.read_roster();
  EXPECT_EQ(outbox.flush(), 2u);
  EXPECT_EQ(world_.slots_in("front.0", "deep.1"),
            (Slots{free_to_go[0], free_to_go[1], stuck[0], stuck[1]}));
}

TEST_F(OutboxTest, TheEgressOfTheStreamTakesWhatIsDone) {
  Outbox outbox = open("deep.0");
  const Slots sent = send(outbox, "deep.0", kEgressStage, 2);
  EXPECT_EQ(world_.slots_in("deep.0", "egress.0"), sent);
  world_.set("egress.0", ActorState::kFenced);
  outbox.read_roster();
  send(outbox, "deep.0", kEgressStage, 1);
  EXPECT_EQ(outbox.pending(), 1u);
}

TEST_F(OutboxTest, TakesBackInOrderWhatADeadWorkerHadNotRead) {
  world_.set("front.1", ActorState::kVacant);
  world_.set("front.2", ActorState::kVacant);
  const ActorContext context = world_.context("ingress.a.0");
  Outbox outbox(context);
  outbox.read_roster();
  const Slots sent = send(outbox, "ingress.a.0", kFirst, 3);
  for (const std::uint32_t slot : sent) world_.segment.slot(slot).owner = 0;
  world_.set("front.0", ActorState::kReclaiming);
  world_.set("front.2", ActorState::kAlive);
  outbox.read_roster();
  EXPECT_TRUE(world_.link("ingress.a.0", "front.0").empty());
  EXPECT_EQ(outbox.pending(), 3u);
  EXPECT_EQ(context.counter(Counter::kBatchesTakenBack), 3u);
  for (const std::uint32_t slot : sent) {
    EXPECT_EQ(world_.owner_of(slot), world_.owner_word("ingress.a.0"));
  }
  EXPECT_EQ(outbox.flush(), 3u);
  EXPECT_EQ(world_.slots_in("ingress.a.0", "front.2"), sent);
}

TEST_F(OutboxTest, TakesNothingBackFromTheFencedTheQuarantinedAndTheEgress) {
  Outbox outbox = open("front.0");
  worker_of("deep.0", 0) = 0;
  outbox.read_roster();
  send(outbox, "front.0", kThird, 1);
  send(outbox, "front.0", kEgressStage, 1);
  world_.set("deep.0", ActorState::kFenced);
  world_.set("egress.0", ActorState::kReclaiming);
  outbox.read_roster();
  world_.set("deep.0", ActorState::kQuarantined);
  outbox.read_roster();
  EXPECT_EQ(world_.link("front.0", "deep.0").size(), 1u);
  EXPECT_EQ(world_.link("front.0", "egress.0").size(), 1u) << "its successor reads on";
}

TEST_F(OutboxTest, APushToAGpuNamesTheLifeThatMayCompleteIt) {
  world_.set("gpu.0.a", ActorState::kAlive, 7);
  Outbox outbox = open("front.0");
  const std::uint32_t slot = send(outbox, "front.0", kSecond, 1)[0];
  EXPECT_EQ(world_.slots_in("front.0", "gpu.0.a"), Slots{slot});
  EXPECT_EQ(owner_of_holder(world_.segment.slot(slot).gpu_holder), world_.owner_word("gpu.0.a", 7));
  EXPECT_EQ(world_.owner_of(slot), world_.owner_word("front.0")) << "it stays its producer's";
  const std::uint32_t other = send(outbox, "front.0", kEgressStage, 1)[0];
  EXPECT_EQ(world_.segment.slot(other).gpu_holder, 0u);
}

TEST_F(OutboxTest, TheOtherIncarnationThenTheStandInTakesOverForAGpu) {
  Outbox outbox = open("ingress.b.0");
  world_.set("gpu.0.a", ActorState::kFenced);
  world_.set("gpu.0.b", ActorState::kAlive);
  outbox.read_roster();
  const std::uint32_t slot = world_.make({.stream = 1, .lane = 4, .owner = "ingress.b.0"});
  outbox.send(slot, 3);
  EXPECT_EQ(world_.slots_in("ingress.b.0", "gpu.0.b"), Slots{slot});
  world_.set("gpu.0.b", ActorState::kFenced);
  outbox.read_roster();
  const std::uint32_t next =
      world_.make({.stream = 1, .lane = 4, .sequence = 2, .owner = "ingress.b.0"});
  outbox.send(next, 3);
  EXPECT_EQ(world_.slots_in("ingress.b.0", "front.0"), Slots{next});
  EXPECT_EQ(world_.segment.slot(next).gpu_holder, 0u);
}

TEST_F(OutboxTest, AGpuThatSharesItsWorkLeavesWhatIsTooMuchToItsStandIn) {
  Plan plan = world_.plan;
  plan.groups[plan.actors[world_.actor("gpu.0.a")].group].spill = 2;
  ActorContext context = world_.context("ingress.b.0");
  context.plan = &plan;
  Outbox outbox(context);
  outbox.read_roster();
  const auto send_one = [&] {
    const std::uint32_t slot =
        world_.make({.stream = 1, .lane = 4, .sequence = ++sequence_, .owner = "ingress.b.0"});
    outbox.send(slot, 3);
    return slot;
  };
  Slots sent;
  for (int i = 0; i < 3; ++i) sent.push_back(send_one());
  EXPECT_EQ(world_.slots_in("ingress.b.0", "gpu.0.a"), (Slots{sent[0], sent[1]}));
  EXPECT_EQ(world_.slots_in("ingress.b.0", "front.0"), Slots{sent[2]});
  world_.segment.slot(sent[0]).gpu_holder = 0;  // accepted
  sent.push_back(send_one());
  EXPECT_EQ(world_.slots_in("ingress.b.0", "gpu.0.a"), (Slots{sent[0], sent[1], sent[3]}));

  for (const char* name : {"front.0", "front.1", "front.2"}) {
    world_.set(name, ActorState::kVacant);
  }
  outbox.read_roster();
  sent.push_back(send_one());
  EXPECT_EQ(world_.slots_in("ingress.b.0", "gpu.0.a").back(), sent[4]) << "there is nobody else";
}

TEST_F(OutboxTest, AGpuAnnouncesToTheFollowingStageAndOwnsNothing) {
  worker_of("deep.0", 2) = 1;
  Outbox outbox = open("gpu.0.a");
  const std::uint32_t slot = batch("front.1", kSecond, 2);
  const Descriptor done = Descriptor::from_word(world_.word_of(slot, kSecond));
  outbox.announce(done, 0, 2);
  std::vector<std::uint64_t> words;
  world_.link("gpu.0.a", "deep.1").snapshot(words);
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(Descriptor::from_word(words[0]), done) << "the acceptor needs the stage computed";
  EXPECT_EQ(world_.owner_of(slot), world_.owner_word("front.1"));
  outbox.announce(done, 0, 3);
  EXPECT_EQ(outbox.pending(), 1u) << "its lane has no worker";
}

TEST_F(OutboxTest, APushWakesTheSleeper) {
  Outbox outbox = open("ingress.a.0");
  world_.entry("front.0").sleeping = 1;
  world_.entry("front.1").sleeping = 1;
  send(outbox, "ingress.a.0", kFirst, 1);
  outbox.wake_consumers();
  EXPECT_EQ(world_.entry("front.0").sleeping, 0u);
  EXPECT_EQ(world_.entry("front.1").sleeping, 1u) << "nothing was pushed to it";
}

TEST_F(OutboxTest, AnIngressHoldsALaneBackFromTheBatchOnThatHasNotGoneYet) {
  Outbox outbox = open("ingress.a.0");
  send(outbox, "ingress.a.0", kFirst, 2, 1);
  const auto sent = [&] {
    std::size_t count = 0;
    for (const char* to : {"front.0", "front.1", "front.2"}) {
      count += world_.slots_in("ingress.a.0", to).size();
    }
    return count;
  };
  world_.status.header().held_lane = 1 + 1;
  send(outbox, "ingress.a.0", kFirst, 1, 1);
  EXPECT_EQ(sent(), 3u) << "it counts from the epoch on";
  outbox.read_roster();
  EXPECT_EQ(world_.status.ingress_lane(0, 1).offered.load(), 3u);
  send(outbox, "ingress.a.0", kFirst, 1, 1);
  EXPECT_EQ(sent(), 3u);
  EXPECT_EQ(outbox.pending(), 1u);
  send(outbox, "ingress.a.0", kFirst, 1, 0);
  outbox.flush();
  EXPECT_EQ(sent(), 4u) << "other lanes go on";
  world_.status.header().held_lane = 0;
  outbox.read_roster();
  outbox.flush();
  EXPECT_EQ(sent(), 5u);
  EXPECT_EQ(outbox.pending(), 0u);
}

TEST_F(OutboxTest, WhatHasBeenOnItsWayBeforeIsNotHeldBack) {
  Outbox outbox = open("ingress.a.0");
  outbox.start_lane(1, 2);  // an earlier life sealed two
  world_.status.header().held_lane = 1 + 1;
  outbox.read_roster();
  send(outbox, "ingress.a.0", kFirst, 2, 1);
  EXPECT_EQ(outbox.pending(), 0u);
  send(outbox, "ingress.a.0", kFirst, 1, 1);
  EXPECT_EQ(outbox.pending(), 1u);
}

}  // namespace
}  // namespace millrace
