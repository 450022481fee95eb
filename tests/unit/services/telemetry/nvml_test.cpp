// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/nvml.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/telemetry/fake_nvml.hpp"

namespace millrace {
namespace {

TEST(Nvml, IsNotThereWithoutTheLibrary) {
  EXPECT_EQ(Nvml::load("/nowhere/libnvidia-ml.so.1"), nullptr);
}

TEST(Nvml, IsNotThereWithoutADriver) {
  const test::TestFolder folder;
  EXPECT_EQ(Nvml::load(test::make_nvml(folder, "-DINIT=9").c_str()), nullptr);
}

TEST(Nvml, TellsWhatCanBeReadOfEachGpu) {
  const test::TestFolder folder;
  const auto nvml = Nvml::load(test::make_nvml(folder, "-DINIT=0").c_str());
  ASSERT_NE(nvml, nullptr);
  const std::vector<Nvml::Gpu> gpus = nvml->read();
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].name, "G1");
  EXPECT_EQ(gpus[0].busy_percent, 42u);
  EXPECT_EQ(gpus[0].memory_used, 700u);
  EXPECT_EQ(gpus[0].memory_bytes, 1000u);
  EXPECT_EQ(gpus[1].number, 1u);
  EXPECT_FALSE(gpus[1].busy_percent.has_value());
}

}  // namespace
}  // namespace millrace
