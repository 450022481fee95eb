// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What a GPU does to its worker: a kernel that faults, and memory that others have.

#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>

#include "gpu-worker/cuda/gpu_memory.hpp"
#include "gpu-worker/cuda/stream.hpp"
#include "services/functions/route/route_image.hpp"
#include "shared/base/error.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/unit/services/functions/route/route_packet.hpp"

namespace millrace {
namespace {

using test::GpuWorld;
using ::testing::HasSubstr;

constexpr const char* kTopology = R"(
millrace: 1
name: failure
batch: { capacity: 256 }
ports: { a: { device: "null" }, b: { device: "null" } }
workers: { cpu: { kind: classifier }, gpu: { kind: gpu, device: cuda } }
functions: { way: { type: route, table: routes.txt, on: gpu } }
paths: { one: { from: [a], run: [way], slots: 32 } }
)";
constexpr const char* kRoutes = "10.0.0.0/8 b 02:00:00:00:00:02\n";

Frame packet() { return make_frame({.destination = 0x0a010203}); }

/// A table that a builder would never make: every address leads far behind its end. Its file is
/// whole, so that nothing refuses it before the GPU reads it.
void publish_wild_table(const std::string& path) {
  std::uint64_t bytes = 0;
  const RouteHeader header = lay_out_route_image({.port_count = 1, .hop_count = kHopFirst}, bytes);
  ImageWriter image(path, kRouteImage, bytes);
  std::memcpy(image.bytes().data() + sizeof(ImageHeader), &header, sizeof header);
  std::ranges::fill(image.bytes().subspan(header.table24_at), std::byte{0xff});
  image.publish(0);
}

/// All memory of the GPU but some kilobytes, as another program could have it. What it gives back
/// stays in the process's pool.
class Hog {
 public:
  Hog() {
    for (std::size_t bytes = std::size_t{1} << 36; bytes >= std::size_t{1} << 16; bytes /= 2) {
      try {
        for (;;) memory_.zeros(bytes);
      } catch (const Error&) {
      }
    }
  }

 private:
  Stream stream_ = make_stream();
  GpuMemory memory_{stream_.get()};
};

class Failure : public test::GpuTest {
 protected:
  /// The worker forwards by the table of kRoutes.
  static void expect_works(const GpuWorld& world, ResidentDevice& gpu) {
    world.fill(0, 0, std::vector<Frame>{packet()});
    test::submit(world, gpu, 0);
    test::wait_for_one(gpu);
    EXPECT_EQ(world.segment().gpu_results(0, 0)[0], kHopFirst);
  }
  static std::string refusal(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  }
};

/// The process ends and says why: then its batches are redone, and its twin starts.
TEST_F(Failure, AKernelThatFaultsEndsTheWorker) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fault = [] {
    const GpuWorld world(kTopology, {{"routes.txt", kRoutes}});
    publish_wild_table(world.plan().functions[0].image);
    ResidentDevice gpu(world.context("gpu.0.a"), 0);
    world.fill(0, 0, std::vector<Frame>(256, packet()));
    test::submit(world, gpu, 0);
    test::wait_for_one(gpu);
  };
  EXPECT_EXIT(fault(), ::testing::ExitedWithCode(1),
              "illegal memory access.*the stand-in takes over");
}

TEST_F(Failure, WithoutMemoryTheWorkerDoesNotStartAndSaysWhy) {
  const GpuWorld world(kTopology, {{"routes.txt", kRoutes}});
  {
    const Hog hog;
    EXPECT_THAT(refusal([&] { ResidentDevice(world.context("gpu.0.a"), 0); }),
                HasSubstr("out of memory"));
  }
  ResidentDevice gpu(world.context("gpu.0.a"), 0);
  expect_works(world, gpu);
}

TEST_F(Failure, ANewTableThatDoesNotFitLeavesTheOldOne) {
  const GpuWorld world(kTopology, {{"routes.txt", kRoutes}});
  std::optional<Hog> hog;  // gives back after the kernel has ended: beside it cudaFree waits
  {
    ResidentDevice gpu(world.context("gpu.0.a"), 0);
    hog.emplace();
    EXPECT_THAT(refusal([&] { gpu.load_tables(test::with_edition(world.plan(), 1)); }),
                HasSubstr("out of memory"));
    expect_works(world, gpu);
  }
}

/// Longer than a kernel at work may be silent, and than a batch may take.
TEST_F(Failure, AnIdleKernelIsNotCalledHung) {
  const GpuWorld world(kTopology, {{"routes.txt", kRoutes}});
  ResidentDevice gpu(world.context("gpu.0.a"), 0);
  expect_works(world, gpu);
  for (int rounds = 0; rounds < 2; ++rounds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2500);
    DeviceBatch done;
    while (std::chrono::steady_clock::now() < until) {
      ASSERT_EQ(gpu.poll({&done, 1}), 0u);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    expect_works(world, gpu);
  }
}

}  // namespace
}  // namespace millrace
