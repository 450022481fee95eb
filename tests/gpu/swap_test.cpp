// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables change while batches are under way: each batch meets one version as a whole.

#include <filesystem>

#include "tests/gpu/gpu_test.hpp"

namespace millrace {
namespace {

using test::GpuWorld;

constexpr const char* kOne = R"(
millrace: 1
name: swap
batch: { capacity: 256 }
ports: { a: { device: "null" }, b: { device: "null" } }
workers: { cpu: { kind: classifier }, gpu: { kind: gpu, device: cuda } }
functions: { scan: { type: match, rules: scan.rules, on: gpu } }
paths: { one: { from: [a], run: [scan], slots: 32 } }
)";
constexpr std::uint32_t kPackets = 256, kSwaps = 1000, kBatchesUnderWay = 16;

class Swap : public test::GpuTest {
 protected:
  /// The word that every packet of the slot has; packets that differ are a failure.
  static std::uint32_t word_of_all(const GpuWorld& world, std::uint32_t slot) {
    const std::uint32_t* words = world.segment().gpu_results(0, slot);
    for (std::uint32_t i = 1; i < kPackets; ++i) EXPECT_EQ(words[i], words[0]) << "packet " << i;
    return words[0];
  }
};

TEST_F(Swap, AThousandWhileBatchesAreUnderWay) {
  // By the first table the payload's rule is number 0, by the other number 2.
  const std::string rules[] = {"alert \"payload\"\n",
                               "alert \"no\"\nalert \"nor\"\nalert \"payload\"\n"};
  const GpuWorld world(kOne, {{"scan.rules", rules[0]}});
  const PlanFunction& function = world.plan().functions[0];
  for (const int version : {1, 0}) {
    world.write("scan.rules", rules[version]);
    world.build(function);
    std::filesystem::copy_file(function.image, world.path("image." + std::to_string(version)));
  }
  const Frame frame = FrameBuilder().ipv4(17, 8 + 7).udp(7).text("payload").build();
  const std::vector<Frame> frames(kPackets, frame);
  for (std::uint32_t slot = 0; slot < kBatchesUnderWay; ++slot) {
    world.fill(slot, slot * kPackets, frames);
  }
  ResidentDevice gpu(world.context("gpu.0.a"), 0);
  std::vector<std::uint32_t> expected(kBatchesUnderWay);
  std::uint32_t batches = 0;
  const std::uint32_t words[] = {1, 3};
  for (std::uint32_t swap = 1; swap <= kSwaps; ++swap) {
    const std::uint32_t version = swap % 2;
    // Half of the batches before the swap, half behind it, all under way together.
    for (std::uint32_t slot = 0; slot < kBatchesUnderWay; ++slot) {
      if (slot == kBatchesUnderWay / 2) {
        std::filesystem::copy_file(world.path("image." + std::to_string(version)),
                                   world.path("next"));
        std::filesystem::rename(world.path("next"), function.image);
        gpu.load_tables(0, world.plan());
      }
      expected[slot] = words[slot < kBatchesUnderWay / 2 ? 1 - version : version];
      test::submit(world, gpu, slot);
    }
    while (gpu.in_flight() != 0) {
      const DeviceBatch done = test::wait_for_one(gpu);
      if (HasFailure()) return;
      ASSERT_EQ(word_of_all(world, done.descriptor.slot), expected[done.descriptor.slot])
          << "swap " << swap << " slot " << done.descriptor.slot;
      ++batches;
    }
  }
  EXPECT_EQ(batches, kSwaps * kBatchesUnderWay);
}

TEST_F(Swap, AnImageThatCannotBeReadLeavesTheOldTable) {
  const GpuWorld world(kOne, {{"scan.rules", "alert \"payload\"\n"}});
  world.fill(0, 0, std::vector<Frame>{FrameBuilder().ipv4(17, 15).udp(7).text("payload").build()});
  ResidentDevice gpu(world.context("gpu.0.a"), 0);
  world.write("scan.image", "nonsense");
  EXPECT_THROW(gpu.load_tables(0, world.plan()), Error);
  test::submit(world, gpu, 0);
  test::wait_for_one(gpu);
  EXPECT_EQ(world.segment().gpu_results(0, 0)[0], 1u);
}

}  // namespace
}  // namespace millrace
