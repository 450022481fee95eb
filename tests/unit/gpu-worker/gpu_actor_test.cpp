// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "gpu-worker/gpu_actor.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::SmallWorld;
using Slots = std::vector<std::uint32_t>;

constexpr std::uint8_t kFirst = 0, kSecond = 1, kFourth = 3;

/// A device whose room and progress the test decides.
class FakeDevice : public Device {
 public:
  const char* name() const noexcept override { return "fake"; }
  bool submit(const DeviceBatch& batch) noexcept override {
    if (inside.size() >= room) return false;
    inside.push_back(batch);
    submitted.push_back(batch);
    return true;
  }
  std::uint32_t poll(std::span<DeviceBatch> out) noexcept override {
    std::uint32_t count = 0;
    while (ready != 0 && !inside.empty() && count < out.size()) {
      out[count++] = inside.front();
      inside.pop_front();
      --ready;
    }
    return count;
  }
  std::uint32_t in_flight() const noexcept override {
    return static_cast<std::uint32_t>(inside.size());
  }
  void use_tables() noexcept override { ++went_over; }
  int went_over = 0;
  std::size_t room = 1000;
  std::uint32_t ready = 0;
  std::deque<DeviceBatch> inside;
  std::vector<DeviceBatch> submitted;
};

/// A plan whose tables are ready, until they are taken.
class FakeTables : public NewTables {
 public:
  const Plan* ready() noexcept override { return plan; }
  void take() noexcept override {
    plan = nullptr;
    ++taken;
  }
  const Plan* plan = nullptr;
  int taken = 0;
};

class GpuActorTest : public ::testing::Test {
 protected:
  GpuActorTest() : gpu_(world_.context("gpu.0.a"), device_, &tables_) {
    world_.start_all();
    for (std::uint32_t lane = 0; lane < 4; ++lane) {
      world_.status.lane_map(world_.plan.actors[world_.actor("deep.0")].group).worker[lane] =
          static_cast<std::uint16_t>(lane % 2);
    }
    gpu_.read_roster();
  }
  std::uint32_t arrives(const char* from, std::uint32_t lane = 0, std::uint64_t sequence = 1) {
    const std::uint32_t slot = world_.make(
        {.lane = lane, .sequence = sequence, .owner = from, .state = {SlotKind::kHeld, kSecond}});
    world_.segment.slot(slot).gpu_holder =
        holder_word(world_.owner_word("gpu.0.a"), world_.segment.slot(slot).generation);
    EXPECT_TRUE(world_.push(from, "gpu.0.a", world_.word_of(slot, kSecond)));
    return slot;
  }

  SmallWorld world_;
  FakeDevice device_;
  FakeTables tables_;
  GpuActor gpu_;
};

TEST_F(GpuActorTest, ABatchGoesToTheDeviceAndItsCompletionToTheNextStage) {
  const std::uint32_t slot = arrives("front.0", 3);
  gpu_.do_work();
  ASSERT_EQ(device_.submitted.size(), 1u);
  EXPECT_EQ(device_.submitted[0].descriptor.slot, slot);
  EXPECT_EQ(device_.submitted[0].descriptor.stage, kSecond);
  EXPECT_EQ(device_.submitted[0].lane, 3u);
  EXPECT_TRUE(world_.link("gpu.0.a", "deep.1").empty()) << "announced before it is computed";
  device_.ready = 1;
  gpu_.do_work();
  EXPECT_EQ(world_.slots_in("gpu.0.a", "deep.1"), Slots{slot});
}

TEST_F(GpuActorTest, ItWritesNoSlot) {
  const std::uint32_t slot = arrives("front.0");
  device_.ready = 1;
  gpu_.do_work();
  EXPECT_EQ(world_.owner_of(slot), world_.owner_word("front.0"));
  EXPECT_EQ(world_.slot_state(slot), (SlotState{SlotKind::kHeld, kSecond}));
  EXPECT_EQ(owner_of_holder(world_.segment.slot(slot).gpu_holder), world_.owner_word("gpu.0.a"));
}

TEST_F(GpuActorTest, CompletionsOfTheLastStageGoToTheStreamsEgress) {
  const std::uint32_t slot = world_.make(
      {.stream = 1, .lane = 4, .owner = "ingress.b.0", .state = {SlotKind::kHeld, kFourth}});
  ASSERT_TRUE(world_.push("ingress.b.0", "gpu.0.a", world_.word_of(slot, kFourth)));
  device_.ready = 1;
  gpu_.do_work();
  EXPECT_EQ(world_.slots_in("gpu.0.a", "egress.0"), Slots{slot});
}

TEST_F(GpuActorTest, LinksAreReadInTurn) {
  const std::uint32_t a1 = arrives("front.0"), a2 = arrives("front.0");
  const std::uint32_t b1 = arrives("front.2"), b2 = arrives("front.2");
  gpu_.do_work();
  Slots order;
  for (const DeviceBatch& batch : device_.submitted) order.push_back(batch.descriptor.slot);
  EXPECT_EQ(order, (Slots{a1, b1, a2, b2}));
}

TEST_F(GpuActorTest, WhatTheDeviceHasNoRoomForIsKeptAndGivenFirst) {
  device_.room = 1;
  const std::uint32_t first = arrives("front.0"), second = arrives("front.0"),
                      third = arrives("front.0");
  for (int i = 0; i < 3; ++i) gpu_.do_work();
  EXPECT_EQ(device_.submitted.size(), 1u);
  gpu_.stop();
  for (int i = 0; i < 10; ++i) {
    device_.ready = 1;
    gpu_.do_work();
  }
  Slots order;
  for (const DeviceBatch& batch : device_.submitted) order.push_back(batch.descriptor.slot);
  EXPECT_EQ(order, (Slots{first, second, third}));
  EXPECT_EQ(world_.slots_in("gpu.0.a", "deep.0"), order);
  EXPECT_TRUE(gpu_.finished());
}

TEST_F(GpuActorTest, GarbageInALinkReachesNoDevice) {
  world_.push("front.0", "gpu.0.a", Descriptor{0xffff, kSecond, 1}.word());
  world_.push("front.0", "gpu.0.a", Descriptor{1, 200, 1}.word());
  world_.push("front.0", "gpu.0.a", Descriptor{1, kEgressStage, 1}.word());
  world_.push("front.0", "gpu.0.a", Descriptor{1, kFirst, 1}.word());  // a stage of front
  const std::uint32_t slot = arrives("front.0");
  gpu_.do_work();
  ASSERT_EQ(device_.submitted.size(), 1u);
  EXPECT_EQ(device_.submitted[0].descriptor.slot, slot);
}

TEST_F(GpuActorTest, StreamAndLaneOfASlotThatWentOnAreBounded) {
  const std::uint32_t slot = arrives("front.0");
  world_.segment.slot(slot).stream = 0xffff;
  world_.segment.slot(slot).lane = 0xffff;
  gpu_.do_work();
  ASSERT_EQ(device_.submitted.size(), 1u);
  EXPECT_LT(device_.submitted[0].stream, 2u);
  EXPECT_LT(device_.submitted[0].lane, 6u);
  device_.ready = 1;
  gpu_.do_work();
}

TEST_F(GpuActorTest, ItPollsWhileTheDeviceHasABatch) {
  EXPECT_EQ(gpu_.do_work(), 0u);
  EXPECT_FALSE(gpu_.has_work());
  arrives("front.0");
  EXPECT_TRUE(gpu_.has_work());
  gpu_.do_work();
  EXPECT_GT(gpu_.do_work(), 0u) << "would sleep over a completion";
  EXPECT_TRUE(gpu_.has_work());
  gpu_.stop();
  EXPECT_FALSE(gpu_.finished());
  device_.ready = 1;
  gpu_.do_work();
  EXPECT_TRUE(gpu_.finished());
}

TEST_F(GpuActorTest, ACompletionThatNobodyCanTakeNowIsKept) {
  world_.set("deep.0", ActorState::kFenced);
  gpu_.read_roster();
  const std::uint32_t slot = arrives("front.0", 0);
  device_.ready = 1;
  gpu_.do_work();
  gpu_.stop();
  EXPECT_FALSE(gpu_.finished());
  world_.set("deep.0", ActorState::kAlive);
  gpu_.read_roster();
  gpu_.do_work();
  EXPECT_EQ(world_.slots_in("gpu.0.a", "deep.0"), Slots{slot});
  EXPECT_TRUE(gpu_.finished());
}

TEST_F(GpuActorTest, EachBatchSaysWhichTablesItMet) {
  Plan next = world_.plan;
  next.functions[1].edition = 4;  // of stage kSecond; kFourth keeps its own
  const std::uint32_t before = arrives("front.0");
  gpu_.do_work();
  tables_.plan = &next;
  gpu_.take_stock(0);
  EXPECT_EQ(device_.went_over, 1);
  EXPECT_EQ(tables_.taken, 1);
  const std::uint32_t after = arrives("front.0", 0, 2);
  gpu_.do_work();
  device_.ready = 2;
  gpu_.do_work();
  EXPECT_EQ(world_.segment.gpu_edition(0, before), 0u);
  EXPECT_EQ(world_.segment.gpu_edition(0, after), 4u);
}

TEST_F(GpuActorTest, WithoutNewTablesTheDeviceIsNotAsked) {
  gpu_.take_stock(0);
  EXPECT_EQ(device_.went_over, 0);
  EXPECT_EQ(tables_.taken, 0);
}

}  // namespace
}  // namespace millrace
