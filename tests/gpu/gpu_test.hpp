// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <span>
#include <string>

#include "gpu-worker/cuda/gpu.hpp"
#include "gpu-worker/resident/resident_device.hpp"
#include "tests/gpu/gpu_world.hpp"

namespace millrace::test {

/// Tests that need a GPU; elsewhere each is skipped, and says why.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (gpu_count(reason) == 0) GTEST_SKIP() << reason;
  }
};

/// How many of something a test does: `usual`, or the percentage of it that MILLRACE_GPU_PERCENT
/// says (compute-sanitizer is slow; a release wants millions of packets); at least one.
inline std::uint32_t many(std::uint32_t usual) {
  const char* const given = std::getenv("MILLRACE_GPU_PERCENT");
  const double percent = given == nullptr ? 100 : std::strtod(given, nullptr);
  return std::max(1u, static_cast<std::uint32_t>(usual * percent / 100));
}

/// The plan with tables of another edition.
inline Plan with_edition(Plan plan, std::uint32_t edition) {
  for (PlanFunction& function : plan.functions) function.edition = edition;
  return plan;
}

/// Waits for one batch; fails after ten seconds.
inline DeviceBatch wait_for_one(Device& device) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  DeviceBatch done;
  while (device.poll({&done, 1}) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      ADD_FAILURE() << "a batch did not come back";
      break;
    }
  }
  return done;
}

inline void submit(const GpuWorld& world, Device& device, std::uint32_t slot,
                   std::uint8_t stage = 0) {
  ASSERT_TRUE(device.submit({.descriptor = world.descriptor(slot, stage)}));
}

/// The same frames on both sides.
struct BothWays {
  Batch there;                 ///< by the GPU, finished by the CPU
  Batch here;                  ///< by the CPU alone
  const std::uint32_t* words;  ///< of the GPU, as in the result column
};

/// A word that no function's result is: the CPU did not look at that packet.
inline constexpr std::uint32_t kNotLookedAt = 0xfffffffd;

/// As an earlier stage left them: some are dropped already, some have classes.
inline void go_through_an_earlier_stage(const Batch& batch) {
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    batch.classes[i] = i % 8 < 4 ? 0 : i % 4;
    if (i % 13 == 5) batch.drop(i, Reason::kOverload);
  }
}

/// Slot 0 goes to the GPU, slot 1 to the CPU. Frames begin at all offsets that a fetch of 16 bytes
/// can find.
inline BothWays run_both_ways(const GpuWorld& world, Device& gpu, StageWork& cpu,
                              const std::vector<Frame>& frames) {
  for (const std::uint32_t slot : {0u, 1u}) {
    world.fill(slot, slot * 256, frames, 17);
    go_through_an_earlier_stage(world.segment().batch(slot));
  }
  std::fill_n(world.segment().batch(1).result,
              std::size_t{world.segment().batch(1).capacity} * kStageFunctionCountMax,
              kNotLookedAt);
  submit(world, gpu, 0);
  cpu.run(0, world.segment().batch(1));
  wait_for_one(gpu);
  const BothWays both{world.segment().batch(0), world.segment().batch(1),
                      world.segment().gpu_results(0, 0)};
  std::copy_n(both.words, std::size_t{both.there.capacity} * kStageFunctionCountMax,
              both.there.result);
  cpu.finish(0, both.there);
  return both;
}

/// What the GPU said of packets is what the CPU said of all those that it looked at, by each member
/// of the stage: alerts show in no column.
inline void compare_words(const BothWays& both, std::size_t members, std::uint32_t serial) {
  for (std::uint32_t member = 0; member < members; ++member) {
    for (std::uint32_t i = 0; i < both.here.count; ++i) {
      const std::uint32_t word = both.here.results(member)[i];
      if (word == kNotLookedAt) continue;
      ASSERT_EQ(both.there.results(member)[i], word)
          << "batch " << serial << " packet " << i << " member " << member;
    }
  }
}

/// All columns and bytes are the same on both sides, and what the functions said.
inline void compare(const GpuWorld& world, Device& gpu, StageWork& cpu,
                    const std::vector<Frame>& frames, std::uint32_t serial) {
  const BothWays both = run_both_ways(world, gpu, cpu, frames);
  const auto& [there, here, words] = both;
  compare_words(both, world.plan().stages[0].functions.size(), serial);
  if (::testing::Test::HasFatalFailure()) return;
  for (std::uint32_t i = 0; i < frames.size(); ++i) {
    ASSERT_EQ(there.verdict[i], here.verdict[i]) << "batch " << serial << " packet " << i;
    if (!here.goes_on(i)) {
      ASSERT_EQ(there.reason[i], here.reason[i]) << "batch " << serial << " packet " << i;
    }
    ASSERT_EQ(there.classes[i], here.classes[i]) << "batch " << serial << " packet " << i;
    ASSERT_EQ(there.output[i], here.output[i]) << "batch " << serial << " packet " << i;
    ASSERT_TRUE(std::ranges::equal(there.bytes(i), here.bytes(i)))
        << "batch " << serial << " packet " << i;
  }
}

/// A slot that went on without us, at its worst: all that a device reads of it is random.
inline void fill_with_nonsense(const GpuWorld& world, std::uint32_t slot, std::mt19937& random) {
  const Batch batch = world.segment().batch(slot, world.segment().capacity());
  world.segment().slot(slot).count = static_cast<std::uint16_t>(random());
  world.segment().slot(slot).flags = static_cast<std::uint16_t>(random());
  const auto scramble = [&](const auto& column) {
    for (std::byte& byte : std::as_writable_bytes(column)) byte = static_cast<std::byte>(random());
  };
  scramble(batch.buffer);
  scramble(batch.offset);
  scramble(batch.length);
  scramble(batch.wire_lengths);
  scramble(batch.verdict);
  scramble(batch.classes);
  scramble(batch.key);
  for (std::uint32_t i = 0; i < batch.count; i += 2) batch.verdict[i] = 0;
  for (std::uint32_t i = 0; i < batch.count; i += 3) batch.buffer[i] %= 1024;
  for (std::uint32_t i = 0; i < batch.count; i += 4) batch.key[i].protocol = 0;
}

/// Nothing is read outside, each batch comes back, and those behind it are right.
inline void expect_nonsense_is_bounded(const GpuWorld& world, Device& gpu, StageWork& cpu,
                                       const std::vector<Frame>& frames) {
  std::mt19937 random(41);
  for (std::uint32_t round = 0; round < many(500); ++round) {
    for (std::uint32_t slot = 2; slot < 10; ++slot) {
      fill_with_nonsense(world, slot, random);
      submit(world, gpu, slot);
    }
    while (gpu.in_flight() != 0 && !::testing::Test::HasFailure()) wait_for_one(gpu);
    compare(world, gpu, cpu, frames, round);
    if (::testing::Test::HasFailure()) return;
  }
}

/// One line an IPv4 header with its checksum, where there is a whole one.
inline void mend_checksum(Frame& frame) {
  if (frame.size() < 34 || frame[12] != std::byte{8} || frame[13] != std::byte{0}) return;
  const std::size_t bytes = (std::to_integer<std::size_t>(frame[14]) & 15) * 4;
  if (bytes < 20 || frame.size() < 14 + bytes) return;
  frame[24] = frame[25] = std::byte{0};
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes; i += 2) {
    sum += std::to_integer<std::uint32_t>(frame[14 + i]) << 8 |
           std::to_integer<std::uint32_t>(frame[15 + i]);
  }
  sum = (sum & 0xffff) + (sum >> 16);
  sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
  frame[24] = static_cast<std::byte>(sum >> 8);
  frame[25] = static_cast<std::byte>(sum);
}

}  // namespace millrace::test
