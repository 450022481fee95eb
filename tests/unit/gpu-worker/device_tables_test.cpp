// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu-worker/device_tables.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "gpu-worker/gpu_actor.hpp"
#include "shared/base/error.hpp"
#include "tests/gpu/gpu_world.hpp"

namespace millrace {
namespace {

constexpr const char* kLoading = R"(
millrace: 1
name: tables
ports: { a: { device: "null" }, b: { device: "null" } }
workers: { cpu: { kind: classifier }, gpu: { kind: gpu, device: software } }
functions: { way: { type: route, table: routes.txt, on: gpu } }
paths: { one: { from: [a], run: [way], slots: 8 } }
)";
constexpr const char* kLoadedRoutes = "10.0.0.0/8 b 02:00:00:00:00:02\n";

/// Notes which device loads what; each edition is loaded, then used, then comes the next.
class LoadingDevice : public Device {
 public:
  const char* name() const noexcept override { return "fake"; }
  bool submit(const DeviceBatch&) noexcept override { return false; }
  std::uint32_t poll(std::span<DeviceBatch>) noexcept override { return 0; }
  std::uint32_t in_flight() const noexcept override { return 0; }
  void load_tables(const Plan& plan) override {
    EXPECT_EQ(loaded, used) << "what was loaded before waits to be used";
    loader = std::this_thread::get_id();
    if (full) throw Error("out of memory");
    loaded = plan.functions[0].edition;
  }
  void use_tables() noexcept override { used = loaded; }
  void free_tables() noexcept override { ++freed; }
  bool follow_tables() noexcept override { return ++followed, has_live; }

  bool full = false;
  std::uint32_t loaded = 0, used = 0;  // no atomics: the hand-over is enough
  std::thread::id loader;
  int freed = 0, followed = 0;
  bool has_live = false;
};

class DeviceTablesTest : public ::testing::Test {
 protected:
  Plan edition(std::uint32_t number) const {
    Plan plan = world_.plan();
    plan.revision = plan.functions[0].edition = number;
    return plan;
  }

  test::GpuWorld world_{kLoading, {{"routes.txt", kLoadedRoutes}}};
  FunctionStages functions_{world_.context("gpu.0.a")};
  LoadingDevice device_;
  DeviceTables tables_{functions_, device_};
  GpuActor gpu_{world_.context("gpu.0.a"), device_, &functions_};
};

TEST_F(DeviceTablesTest, AreCopiedBeforeTheyAreOffered) {
  tables_.follow(edition(1));
  EXPECT_EQ(device_.loaded, 1u);
  EXPECT_EQ(device_.used, 0u);
  ASSERT_NE(functions_.ready(), nullptr);
  gpu_.take_stock(0);
  EXPECT_EQ(device_.used, 1u);
  EXPECT_EQ(functions_.ready(), nullptr);
}

TEST_F(DeviceTablesTest, NothingIsCopiedForAPlanThatIsKnownOrCannotBeOfferedYet) {
  tables_.follow(edition(0));
  EXPECT_EQ(device_.loaded, 0u);
  tables_.follow(edition(1));
  tables_.follow(edition(2));
  EXPECT_EQ(device_.loaded, 1u) << "the first waits to be used";
  gpu_.take_stock(0);
  tables_.follow(edition(1));
  EXPECT_EQ(device_.loaded, 1u);
  tables_.follow(edition(2));
  EXPECT_EQ(device_.loaded, 2u);
}

TEST_F(DeviceTablesTest, WhatFindsNoRoomIsNotOffered) {
  device_.full = true;
  EXPECT_THROW(tables_.follow(edition(1)), Error);
  EXPECT_EQ(functions_.ready(), nullptr);
  gpu_.take_stock(0);
  EXPECT_EQ(device_.used, 0u);
  device_.full = false;
  tables_.follow(edition(1));
  gpu_.take_stock(0);
  EXPECT_EQ(device_.used, 1u);
}

TEST_F(DeviceTablesTest, WhatTheFunctionsCannotMakeIsNotOffered) {
  Plan plan = edition(1);
  plan.functions[0].image = world_.path("gone.image");
  EXPECT_THROW(tables_.follow(plan), Error);
  gpu_.take_stock(0);
  EXPECT_EQ(device_.used, 0u);
}

TEST_F(DeviceTablesTest, TendingFreesOnTheDeviceToo) {
  tables_.tend();
  EXPECT_EQ(device_.freed, 1);
}

TEST_F(DeviceTablesTest, LiveOnesAreFollowedAtShortIntervals) {
  tables_.tend();
  EXPECT_EQ(device_.followed, 1);
  const auto without = tables_.pause();
  device_.has_live = true;
  tables_.tend();
  EXPECT_EQ(device_.followed, 2);
  EXPECT_LT(tables_.pause(), without);
}

TEST_F(DeviceTablesTest, TheDataThreadOnlyGoesOverToThem) {
  constexpr std::uint32_t kEditions = 100;
  std::atomic<bool> done = false;
  std::thread control([&] {
    for (std::uint32_t next = 1; next <= kEditions; ++next) {
      const Plan plan = edition(next);
      while (!functions_.wants(plan)) std::this_thread::yield();
      tables_.follow(plan);
      tables_.tend();
    }
    done = true;
  });
  while (!done || functions_.ready() != nullptr) {
    gpu_.take_stock(0);
    std::this_thread::yield();
  }
  const std::thread::id loader = control.get_id();
  control.join();
  EXPECT_EQ(device_.used, kEditions);
  EXPECT_EQ(device_.loader, loader);
}

}  // namespace
}  // namespace millrace
