// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "gpu-worker/open_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/base/error.hpp"
#include "tests/unit/support/fake_work.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using ::testing::HasSubstr;

std::string topology(const std::string& device) {
  std::string text = test::kTwoPaths;
  const std::string old = "device: software";
  return text.replace(text.find(old), old.size(), device);
}

TEST(OpenDevice, TheSoftwareDeviceWhereItIsAskedFor) {
  const test::SmallWorld world(topology("device: software, seed: 7"));
  test::FakeWork work;
  const OpenedDevice opened = open_device(world.context("gpu.0.a"), work);
  ASSERT_NE(opened.device, nullptr);
  EXPECT_EQ(opened.remark, "no GPU is used (device: software): software device (CPU), seed 7");
}

/// The functions of this world have no GPU version, so no GPU serves, where there is one too.
TEST(OpenDevice, AutoGoesOnWithoutAGpuAndSaysWhy) {
  const test::SmallWorld world(topology("device: auto"));
  test::FakeWork work;
  const OpenedDevice opened = open_device(world.context("gpu.0.a"), work);
  ASSERT_NE(opened.device, nullptr);
  EXPECT_THAT(opened.remark, HasSubstr("no GPU is used ("));
  EXPECT_THAT(opened.remark, HasSubstr("software device (CPU)"));
}

TEST(OpenDevice, CudaWithoutAGpuIsAnErrorWithItsMend) {
  const test::SmallWorld world(topology("device: cuda, devices: [63]"));
  test::FakeWork work;
  try {
    open_device(world.context("gpu.0.a"), work);
    FAIL() << "opened GPU 63";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'device: auto' goes on without one"));
  }
}

}  // namespace
}  // namespace millrace
