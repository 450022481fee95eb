// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The watchdog of the resident device: a kernel that hangs ends the process, one that is slow does
// not. By the kernel of hanging_kernel.hpp.

#include <chrono>
#include <cstdio>
#include <thread>

#include "shared/base/clock.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/hanging_kernel.hpp"

namespace millrace {
namespace {

using test::GpuWorld, test::Hang, test::HangSwitch;
using Clock = std::chrono::steady_clock;

constexpr const char* kTopology = R"(
millrace: 1
name: hang
batch: { capacity: 256 }
ports: { a: { device: "null" }, b: { device: "null" } }
workers: { cpu: { kind: classifier }, gpu: { kind: gpu, device: cuda } }
functions: { way: { type: route, table: routes.txt, on: gpu } }
paths: { one: { from: [a], run: [way], slots: 32 } }
)";
constexpr const char* kRoutes = "10.0.0.0/8 b 02:00:00:00:00:02\n";

class HangTest : public test::GpuTest {
 protected:
  /// With the clock as it is: the time that the test waits is between two limits of the device.
  static void set_clock(const GpuWorld& world) {
    static const std::uint64_t hz = measure_tsc_hz();
    world.context("gpu.0.a").status.header().tsc_hz = hz;
  }
  /// A batch that does not come back: ends the process, or fails after ten seconds.
  static void wait_in_vain(Hang what) {
    const GpuWorld world(kTopology, {{"routes.txt", kRoutes}});
    set_clock(world);
    HangSwitch hang(what);
    ResidentDevice gpu(world.context("gpu.0.a"), 0);
    submit_one(world, gpu);
    test::wait_for_one(gpu);
    hang.let_go();
  }
  static void submit_one(const GpuWorld& world, ResidentDevice& gpu) {
    world.fill(0, 0, std::vector<Frame>(256, FrameBuilder().ipv4(17, 8).udp(0).build()));
    test::submit(world, gpu, 0);
  }
  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
};

TEST_F(HangTest, BlocksThatHangEndTheWorker) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto start = Clock::now();
  EXPECT_EXIT(wait_in_vain(Hang::kBlocks), ::testing::ExitedWithCode(1),
              "a batch did not come back, though the kernel takes new ones; the stand-in");
  std::printf("a process whose blocks hang started, said so and ended in %.2f s\n",
              seconds_since(start));
}

TEST_F(HangTest, ADispatcherThatHangsEndsTheWorker) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto start = Clock::now();
  EXPECT_EXIT(wait_in_vain(Hang::kDispatcher), ::testing::ExitedWithCode(1),
              "the kernel hangs; the stand-in");
  std::printf("a process whose dispatcher hangs started, said so and ended in %.2f s\n",
              seconds_since(start));
}

/// Longer than the dispatcher may be silent, shorter than a batch may take; twice, so that what the
/// first kernel left behind is in order.
TEST_F(HangTest, ABatchThatTakesLongComesBackAndTheDeviceEnds) {
  for (int round = 0; round < 2; ++round) {
    const GpuWorld world(kTopology, {{"routes.txt", kRoutes}});
    set_clock(world);
    HangSwitch hang(Hang::kBlocks);
    ResidentDevice gpu(world.context("gpu.0.a"), 0);
    submit_one(world, gpu);
    const auto start = Clock::now();
    DeviceBatch done;
    while (seconds_since(start) < 0.8) {
      ASSERT_EQ(gpu.poll({&done, 1}), 0u);
      std::this_thread::yield();
    }
    hang.let_go();
    test::wait_for_one(gpu);
    EXPECT_EQ(gpu.in_flight(), 0u);
    EXPECT_EQ(world.segment().gpu_results(0, 0)[255], 0u);
    std::printf("a batch came back after %.2f s\n", seconds_since(start));
  }
}

}  // namespace
}  // namespace millrace
