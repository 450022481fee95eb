// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "gpu-worker/software_device/software_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "shared/base/error.hpp"
#include "tests/unit/support/fake_work.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::FakeWork;
using test::SmallWorld;
using Slots = std::vector<std::uint32_t>;

constexpr std::uint8_t kSecond = 1;

class SoftwareDeviceTest : public ::testing::Test {
 protected:
  explicit SoftwareDeviceTest(const std::string& topology = test::kTwoPaths) : world_(topology) {
    world_.start_all();
  }
  SoftwareDevice open(const SoftwareDeviceSettings& settings) {
    return {world_.context("gpu.0.b"), work_, settings};
  }
  DeviceBatch batch(std::uint64_t sequence = 1, std::uint32_t count = 3) {
    const std::uint32_t slot = world_.make({.sequence = sequence,
                                            .count = count,
                                            .owner = "front.0",
                                            .state = {SlotKind::kHeld, kSecond}});
    return {Descriptor::from_word(world_.word_of(slot, kSecond)), 0, 0};
  }
  /// Submits batches and polls until all are given back; the slots as they come.
  Slots run(SoftwareDevice& device, int count) {
    for (int i = 0; i < count; ++i) EXPECT_TRUE(device.submit(batch(1 + i)));
    return drain(device);
  }
  Slots drain(SoftwareDevice& device) {
    Slots order;
    DeviceBatch out[4];
    for (int i = 0; i < 100'000'000 && device.in_flight() != 0; ++i) {
      const std::uint32_t done = device.poll(out);
      for (std::uint32_t k = 0; k < done; ++k) order.push_back(out[k].descriptor.slot);
    }
    EXPECT_EQ(device.in_flight(), 0u);
    return order;
  }
  std::uint64_t reordered() const {
    return world_.context("gpu.0.b").counter(Counter::kCompletionsReordered);
  }
  SmallWorld world_;
  FakeWork work_;
};

Slots ascending(std::uint32_t count) {
  Slots slots(count);
  std::iota(slots.begin(), slots.end(), 0);
  return slots;
}

TEST_F(SoftwareDeviceTest, ResultsLieInTheIncarnationsOwnArea) {
  SoftwareDevice device = open({});
  run(device, 2);
  EXPECT_EQ(world_.segment.gpu_results(1, 1)[2], FakeWork::result_of(5, 0));
  EXPECT_EQ(world_.segment.gpu_results(0, 1)[2], 0u) << "the other incarnation's";
  EXPECT_EQ(world_.segment.batch(1).result[2], 0u) << "the slot is not its to write";
}

TEST_F(SoftwareDeviceTest, WithoutReorderingBatchesComeBackInTheOrderOfSubmission) {
  SoftwareDevice device = open({.seed = 3, .delay_us = 200, .reorder = false});
  EXPECT_EQ(run(device, 30), ascending(30));
  EXPECT_EQ(reordered(), 0u);
}

TEST_F(SoftwareDeviceTest, ReorderingIsSeenCountedAndLosesNothing) {
  SoftwareDevice device = open({.seed = 3, .delay_us = 20'000, .reorder = true});
  Slots order = run(device, 30);
  EXPECT_NE(order, ascending(30));
  EXPECT_GT(reordered(), 0u);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, ascending(30));
}

TEST_F(SoftwareDeviceTest, TheSameSeedDelaysAlikeAndAnotherOtherwise) {
  std::set<Slots> orders;
  for (const std::uint64_t seed : {5u, 5u, 6u}) {
    SmallWorld world;
    // Delays far apart against the time that submitting takes.
    SoftwareDevice device(world.context("gpu.0.b"), work_, {seed, 300'000, true, 0});
    for (std::uint64_t i = 0; i < 6; ++i) {
      const std::uint32_t slot = world.make({.sequence = i + 1, .owner = "front.0"});
      device.submit({{static_cast<std::uint16_t>(slot), kSecond, 1}, 0, 0});
    }
    orders.insert(drain(device));
  }
  EXPECT_EQ(orders.size(), 2u);
}

TEST_F(SoftwareDeviceTest, ABatchMayBeAnnouncedTwiceAndIsComputedOnce) {
  world_.status.header().tsc_hz = 1'000'000'000'000;  // what comes once more comes late enough
  SoftwareDevice device = open({.late_permille = 1000});
  ASSERT_TRUE(device.submit(batch()));
  DeviceBatch out[4];
  EXPECT_EQ(device.poll(out), 1u);
  EXPECT_EQ(device.in_flight(), 1u) << "it comes once more";
  EXPECT_EQ(device.poll(out), 0u) << "but not at once";
  EXPECT_EQ(drain(device), Slots{0});
  EXPECT_EQ(work_.computed.size(), 1u);
}

TEST_F(SoftwareDeviceTest, ASecondBatchOfASlotReplacesTheFirst) {
  SoftwareDevice device = open({.delay_us = 1000});
  DeviceBatch first = batch();
  ASSERT_TRUE(device.submit(first));
  ++world_.segment.slot(first.descriptor.slot).generation;
  DeviceBatch second = first;
  ++second.descriptor.generation;
  ASSERT_TRUE(device.submit(second));
  EXPECT_EQ(device.in_flight(), 1u);
  DeviceBatch out[4];
  std::uint32_t count = 0;
  while ((count = device.poll(out)) == 0) {
  }
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(out[0].descriptor, second.descriptor);
}

TEST_F(SoftwareDeviceTest, PollGivesNoMoreThanThereIsRoomFor) {
  SoftwareDevice device = open({});
  for (int i = 0; i < 3; ++i) device.submit(batch(1 + i));
  DeviceBatch out[2];
  EXPECT_EQ(device.poll(out), 2u);
  EXPECT_EQ(device.in_flight(), 1u);
}

/// Work that reads every byte that the columns name, as a function may.
class Reader : public test::FakeWork {
 public:
  void compute(std::uint8_t stage, const Batch& batch, std::uint32_t* results) noexcept override {
    FakeWork::compute(stage, batch, results);
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      most_buffer = std::max(most_buffer, batch.buffer[i]);
      most_end = std::max<std::uint32_t>(most_end, batch.offset[i] + batch.length[i]);
      for (const std::byte byte : batch.bytes(i)) sum += std::to_integer<std::uint32_t>(byte);
    }
  }
  std::uint32_t most_buffer = 0, most_end = 0, sum = 0;
};

TEST_F(SoftwareDeviceTest, GarbageInTheColumnsIsClampedBeforeAFunctionReadsIt) {
  Reader reader;
  SoftwareDevice device(world_.context("gpu.0.b"), reader, {});
  const DeviceBatch given = batch();
  const SlotHeader& header = world_.segment.slot(given.descriptor.slot);
  std::byte* const slot = reinterpret_cast<std::byte*>(const_cast<SlotHeader*>(&header));
  const ColumnOffsets& at = world_.segment.layout().columns;
  std::memset(slot + at.buffer, 0xff, at.slot_bytes - at.buffer);
  world_.segment.slot(given.descriptor.slot).count = 0xffff;
  device.submit(given);
  EXPECT_EQ(drain(device), Slots{given.descriptor.slot});
  EXPECT_EQ(reader.computed_counts, std::vector<std::uint32_t>{8}) << "the slot's capacity";
  EXPECT_EQ(reader.most_buffer, world_.segment.buffer_count() - 1);
  EXPECT_LE(reader.most_end, world_.plan.buffer_stride);
}

class WideDeviceTest : public SoftwareDeviceTest {
 protected:
  WideDeviceTest()
      : SoftwareDeviceTest([] {
          std::string text = test::kTwoPaths;
          text.replace(text.find("capacity: 8"), 11, "capacity: 96");
          return text;
        }()) {}
};

TEST_F(WideDeviceTest, ABatchIsComputedInTicketsWhoseResultsLieSideBySide) {
  SoftwareDevice device = open({});
  const DeviceBatch given = batch(1, 70);
  device.submit(given);
  drain(device);
  EXPECT_EQ(work_.computed_counts, (std::vector<std::uint32_t>{32, 32, 6}));
  for (std::uint32_t i = 0; i < 70; ++i) {
    EXPECT_EQ(world_.segment.gpu_results(1, given.descriptor.slot)[i], i);
  }
}

std::string refusal(const Settings& settings) {
  try {
    software_device_settings(settings);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SoftwareDeviceSettings, AreReadFromTheGroup) {
  const SoftwareDeviceSettings all = software_device_settings(
      {{"seed", "18446744073709551615"}, {"delay_us", "200"}, {"reorder", "true"}, {"late", "50"}});
  EXPECT_EQ(all.seed, UINT64_MAX);
  EXPECT_EQ(all.delay_us, 200u);
  EXPECT_TRUE(all.reorder);
  EXPECT_EQ(all.late_permille, 50u);
  const SoftwareDeviceSettings none = software_device_settings({{"reorder", "false"}});
  EXPECT_EQ(none.seed, 1u);
  EXPECT_EQ(none.delay_us, 0u);
  EXPECT_FALSE(none.reorder);
}

TEST(SoftwareDeviceSettings, OutOfRangeAreRefusedWithWhatIsAllowed) {
  EXPECT_EQ(refusal({{"late", "1001"}}), "software device: late: found 1001; allowed: 0..1000");
  EXPECT_EQ(refusal({{"delay_us", "10ms"}}),
            "software device: delay_us: found 10ms; allowed: 0..1000000");
  EXPECT_EQ(refusal({{"seed", ""}}),
            "software device: seed: found ; allowed: 0..18446744073709551615");
  EXPECT_EQ(refusal({{"seed", "99999999999999999999"}}),
            "software device: seed: found 99999999999999999999; allowed: 0..18446744073709551615");
  EXPECT_EQ(refusal({{"late", "-1"}}), "software device: late: found -1; allowed: 0..1000");
}

}  // namespace
}  // namespace millrace
