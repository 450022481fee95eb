// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_gpu.hpp"

#include <gtest/gtest.h>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/acl/acl_folder.hpp"
#include "tests/unit/services/functions/acl/acl_oracle.hpp"
#include "tests/unit/services/functions/acl/acl_random.hpp"
#include "tests/unit/services/functions/device_memory_fake.hpp"

namespace millrace {
namespace {

TEST(AclGpu, TheTableThereFindsWhatTheOracleFinds) {
  std::mt19937 random(17);
  const AclFolder folder;
  const std::string text = random_rules(random, 1500);
  const PlanFunction function = folder.plan(text);
  build(function);
  FakeDeviceMemory memory;
  const DeviceTable there = upload_acl(function, memory);
  EXPECT_EQ(there.kind, DeviceKind::kAcl);
  const auto table = view_in<AclGpuTable>(there);
  EXPECT_EQ(table.rule_count, 1500u);
  const auto rules = parse_acl_rules(text, "r", {}).rules;
  for (int i = 0; i < 3000; ++i) {
    const AclKey key = random_key(random);
    ASSERT_EQ(table.bits.look_up(key), oracle::acl_word(oracle::acl_packet(key), rules));
  }
}

TEST(AclGpu, RulesWithConditionsAskForFrames) {
  std::mt19937 random(18);
  for (const bool conditions : {false, true}) {
    const AclFolder folder;
    const std::string text = random_rules(random, 300, conditions);
    const PlanFunction function = folder.plan(text);
    build(function);
    FakeDeviceMemory memory;
    const DeviceTable there = upload_acl(function, memory);
    EXPECT_EQ(there.needs_frames, conditions ? 1u : 0u);
    const auto table = view_in<AclGpuTable>(there);
    EXPECT_EQ(table.bits.has_conditions(), conditions);
    const auto rules = parse_acl_rules(text, "r", {}).rules;
    for (int i = 0; i < 3000; ++i) {
      const AclKey key = random_key(random);
      ASSERT_EQ(table.bits.look_up(key), oracle::acl_word(oracle::acl_packet(key), rules));
    }
  }
}

TEST(AclGpu, KnowsWhichWordsEndAPacket) {
  const AclFolder folder;
  const auto ends = [&](const Settings& settings) {
    const PlanFunction function =
        folder.plan("pass tcp any -> any\ndrop udp any -> any\nalert ip any -> any\n", settings);
    build(function);
    FakeDeviceMemory memory;
    const auto table = view_in<AclGpuTable>(upload_acl(function, memory));
    std::string all;
    for (const std::uint32_t word : {kAclNoRule, 1u, 2u, 3u, 4u, kAclNotIp, kAclHidden}) {
      all += table.ends(word) ? 'x' : '-';
    }
    return all;
  };
  EXPECT_EQ(ends({}), "--x---x");
  EXPECT_EQ(ends({{"default", "drop"}}), "x-xxx-x");
  EXPECT_EQ(ends({{"non_ip", "drop"}}), "--x--xx");
}

TEST(AclGpu, RefusesRulesWithoutATable) {
  const AclFolder folder;
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    const std::string port = std::to_string(i * 13);
    text += "drop ip any port " + port + " -> any port " + port + "\n";
  }
  const PlanFunction function = folder.plan(text);
  build(function);
  FakeDeviceMemory memory;
  EXPECT_THROW(upload_acl(function, memory), Error);
}

}  // namespace
}  // namespace millrace
