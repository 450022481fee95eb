// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/config/known.hpp"

#include <gtest/gtest.h>

#include "shared/config/known_devices.hpp"

namespace millrace {
namespace {

TEST(KnownSetting, IsFoundByItsName) {
  const KnownSetting* const depth = known_setting(kSettingsOfLoop, "depth");
  ASSERT_NE(depth, nullptr);
  EXPECT_EQ(depth->name, "depth");
  EXPECT_EQ(known_setting(kSettingsOfLoop, "ring"), nullptr);
}

TEST(KnownDevice, GivesDefaultsForWhatAPortDoesNotSay) {
  PlanPort port{.name = "lan", .device = "dpdk", .settings = {{"queues", "3"}}};
  EXPECT_EQ(port_number(port, "queues"), 3U);
  EXPECT_EQ(port_number(port, "rx_descriptors"), 512U);
  EXPECT_EQ(port_setting(port, "promiscuous"), "true");
  EXPECT_EQ(port_setting(port, "devargs"), "");
  EXPECT_EQ(port_number(port, "no such key"), 0U);
  port.device = "no such device";
  EXPECT_EQ(port_number(port, "rx_descriptors"), 0U);
  EXPECT_EQ(known_device(port.device), nullptr);
}

TEST(KnownDevice, NamesTheSettingsOfItsBuffers) {
  for (const KnownDevice& device : known_devices()) {
    for (const std::string_view key : {device.held_by, device.sent_by}) {
      if (key.empty()) continue;
      const KnownSetting* const setting = known_setting(device.settings, key);
      ASSERT_NE(setting, nullptr) << device.name;
      EXPECT_FALSE(setting->otherwise.empty()) << device.name;
    }
  }
}

}  // namespace
}  // namespace millrace
