// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "shared/recovery/driver_queues.hpp"
#include "shared/recovery/recovery.hpp"
#include "tests/unit/shared/recovery/recovery_fixture.hpp"

/// Buffers that lie in the queues of a dead actor are free when these are stopped, and not before.

namespace millrace {
namespace {

using S = ActorState;
using Numbers = std::vector<std::uint32_t>;

/// Queues of a driver that stop and start when they are told to.
class FakeQueues : public DriverQueues {
 public:
  bool stop(std::uint32_t actor) override {
    stops.push_back(actor);
    return stopped;
  }
  bool start(std::uint32_t, Numbers& rest) override {
    ++starts;
    rest.swap(left);
    return started;
  }
  bool stopped = true, started = true;
  Numbers stops, left;
  int starts = 0;
};

class HeldBuffersTest : public test::RecoveryFixture {
 protected:
  void lead_with_drivers(const char* name) {
    leader_ = std::make_unique<Recovery>(
        world_.context(name), processes_, kLimits, [](const RecoveryEvent&) {}, &queues_);
  }
  Mark mark(std::uint32_t buffer) const { return Mark::from_word(world_.segment.mark(buffer)); }
  /// Buffers of stream `stream` from `first` on get the mark.
  Numbers put(std::uint32_t stream, std::uint32_t first, Mark mark, std::uint32_t count = 3) {
    Numbers buffers;
    for (std::uint32_t i = first; i < first + count; ++i) {
      buffers.push_back(world_.plan.streams[stream].buffer_first + i);
      world_.segment.mark(buffers.back()) = mark.word();
    }
    return buffers;
  }
  /// The hub frees them, dies just before it says so, and the standby does it again.
  void freed_twice(const char* name) {
    ends(name);
    tick_until(name, S::kVacant);
    world_.entry(name).state = static_cast<std::uint32_t>(S::kReclaiming);
    hub_dies();
    tick_until(name, S::kVacant);
  }
  FakeQueues queues_;
};

TEST_F(HeldBuffersTest, OfADeadIngressTheyAreInItsHandAgain) {
  const Numbers kept = put(0, 0, {MarkKind::kRx, 0});
  const Numbers others = put(1, 0, {MarkKind::kRx, 1});
  freed_twice("ingress.a.0");
  for (const std::uint32_t buffer : kept) {
    EXPECT_EQ(mark(buffer), (Mark{MarkKind::kHand, world_.actor("ingress.a.0")}));
  }
  for (const std::uint32_t buffer : others) EXPECT_EQ(mark(buffer), (Mark{MarkKind::kRx, 1}));
  EXPECT_TRUE(world_.buffers_returned(0, Returner::kHub).empty());
}

TEST_F(HeldBuffersTest, OfADeadEgressTheyGoHomeOnce) {
  const Numbers of_a = put(0, 0, {MarkKind::kTx, 0});
  const Numbers of_b = put(1, 5, {MarkKind::kTx, 0});
  const Numbers on_its_way = put(0, 9, {MarkKind::kTx, 0}, 1);
  ASSERT_TRUE(world_.segment.buffer_return(0, Returner::kEgress).push(on_its_way));
  freed_twice("egress.0");
  EXPECT_EQ(world_.buffers_returned(0, Returner::kHub), of_a);
  EXPECT_EQ(world_.buffers_returned(1, Returner::kHub), of_b);
  EXPECT_EQ(world_.buffers_returned(0, Returner::kEgress), on_its_way);
  EXPECT_TRUE(world_.buffers_returned(0, Returner::kStandby).empty()) << "the hub's link has them";
}

TEST_F(HeldBuffersTest, NothingIsFreeBeforeTheQueueIsStopped) {
  lead_with_drivers("hub");
  queues_.stopped = false;
  const Numbers kept = put(0, 0, {MarkKind::kRx, 0});
  ends("ingress.a.0");
  tick_until("ingress.a.0", S::kReclaiming);
  tick_for(500);
  EXPECT_EQ(world_.state_of("ingress.a.0"), S::kReclaiming) << "no successor may start";
  EXPECT_EQ(mark(kept[0]), (Mark{MarkKind::kRx, 0}));
  EXPECT_EQ(queues_.starts, 0);
  queues_.stopped = true;
  queues_.started = false;
  tick_for(200);
  EXPECT_EQ(mark(kept[0]).kind, MarkKind::kHand);
  EXPECT_EQ(world_.state_of("ingress.a.0"), S::kReclaiming) << "its queue does not run yet";
  queues_.started = true;
  tick_until("ingress.a.0", S::kVacant);
}

TEST_F(HeldBuffersTest, AQueueIsStoppedOnlyWhenEverybodyKnowsOfTheDeath) {
  lead_with_drivers("hub");
  deaf_.insert("egress.0");
  ends("ingress.a.0");
  for (int i = 0; i < 20; ++i) tick();
  EXPECT_TRUE(queues_.stops.empty());
  deaf_.clear();
  tick_until("ingress.a.0", S::kVacant);
  EXPECT_FALSE(queues_.stops.empty());
}

TEST_F(HeldBuffersTest, WhatTheQueuesOfOthersHeldGoesHome) {
  lead_with_drivers("hub");
  queues_.left = put(1, 4, {MarkKind::kRx, 1});
  const Numbers left = queues_.left;
  ends("egress.0");
  tick_until("egress.0", S::kVacant);
  EXPECT_EQ(world_.buffers_returned(1, Returner::kHub), left);
}

TEST_F(HeldBuffersTest, ADeadWorkerHasNoQueues) {
  lead_with_drivers("hub");
  ends("front.0");
  tick_until("front.0", S::kVacant);
  EXPECT_TRUE(queues_.stops.empty());
}

}  // namespace
}  // namespace millrace
