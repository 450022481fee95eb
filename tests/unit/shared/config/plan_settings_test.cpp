// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/config/plan_settings.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(SettingOf, IsTheFirstValueOrWhatWasGiven) {
  const Settings settings = {{"a", "1"}, {"b", "2"}, {"b", "3"}};
  EXPECT_EQ(setting_of(settings, "b"), "2");
  EXPECT_EQ(setting_of(settings, "c"), "");
  EXPECT_EQ(setting_of(settings, "c", "auto"), "auto");
}

TEST(GpuOfWorker, TakesTheDevicesInTurn) {
  PlanGroup group{.name = "gpu", .kind = GroupKind::kGpu};
  EXPECT_EQ(gpu_of_worker(group, 3), 0u);
  group.settings = {{"device", "cuda"}, {"devices", "4"}, {"devices", "1"}};
  EXPECT_EQ(gpu_of_worker(group, 0), 4u);
  EXPECT_EQ(gpu_of_worker(group, 1), 1u);
  EXPECT_EQ(gpu_of_worker(group, 2), 4u);
}

TEST(GpuOfWorker, IsNoneOfTheSoftwareDevice) {
  const PlanGroup group{.name = "gpu",
                        .kind = GroupKind::kGpu,
                        .settings = {{"device", "software"}, {"devices", "1"}}};
  EXPECT_EQ(gpu_of_worker(group, 0), std::nullopt);
}

}  // namespace
}  // namespace millrace
