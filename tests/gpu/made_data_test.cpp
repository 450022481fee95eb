// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The made data is what it says, and tables for a GPU come of it. Needs no GPU.

#include "tests/gpu/made_data.hpp"

#include <gtest/gtest.h>

#include "services/functions/acl/acl_gpu.hpp"
#include "tests/gpu/gpu_world.hpp"
#include "tests/unit/services/functions/device_memory_fake.hpp"

namespace millrace {
namespace {

constexpr const char* kBegin = R"(
millrace: 1
name: made
ports: { a: { device: "null" }, b: { device: "null" } }
workers: { cpu: { kind: classifier }, gpu: { kind: gpu, device: software } }
paths: { one: { from: [a], run: [f], slots: 8 } }
)";

/// All lines of `text` are taken as what `function` reads.
test::GpuWorld world_of(const std::string& function, const std::string& text) {
  return {kBegin + ("functions: { f: { " + function + ", on: gpu } }\n"), {{"data", text}}};
}

TEST(MadeData, RulesOfMatchAreAllTaken) {
  std::mt19937 random(1);
  const test::MadeRules rules = test::made_rules(random, 500);
  const test::GpuWorld world = world_of("type: match, rules: data, classes: [odd]", rules.text);
  const BuildReport report = world.build(world.plan().functions[0]);
  EXPECT_EQ(report.accepted, 500u);
  EXPECT_EQ(report.refused, 0u) << report.refusals[0];
}

TEST(MadeData, PrefixesAreAllTaken) {
  std::mt19937 random(2);
  std::string text;
  for (const std::string& prefix : test::made_prefixes(random, 3000, 1000))
    text += prefix + " drop\n";
  const test::GpuWorld world = world_of("type: route, table: data", text);
  const BuildReport report = world.build(world.plan().functions[0]);
  EXPECT_EQ(report.accepted, 4000u);
  EXPECT_EQ(report.refused, 0u) << report.refusals[0];
}

TEST(MadeData, RuleSetsFitAGpuAndTheirTracesMeetThem) {
  std::mt19937 random(3);
  for (const auto kind :
       {test::MadeAcl::kAccess, test::MadeAcl::kFirewall, test::MadeAcl::kChain}) {
    const std::string text = test::made_acl(random, kind, 2000);
    const AclRuleFile rules = parse_acl_rules(text, "data", {});
    ASSERT_EQ(rules.rules.size(), 2000u) << rules.refusals[0];
    const test::GpuWorld world = world_of("type: acl, rules: data, method: bits", text);
    FakeDeviceMemory memory;
    EXPECT_EQ(upload_acl(world.plan().functions[0], memory).kind, DeviceKind::kAcl);
    const AclTrace trace = test::made_trace(random, rules.rules, 300);
    EXPECT_GT(std::ranges::count_if(trace.words, [](std::uint32_t word) { return word != 0; }),
              100);
    EXPECT_GT(std::set(trace.words.begin(), trace.words.end()).size(), 50u) << "few rules meet";
  }
}

TEST(MadeData, FramesOftenHoldLiteralsAndFitIntoBuffers) {
  std::mt19937 random(4);
  const test::MadeRules rules = test::made_rules(random, 50);
  std::uint32_t holding = 0;
  for (int i = 0; i < 400; ++i) {
    const Frame frame = test::made_frame(random, rules.literals);
    ASSERT_LE(frame.size(), 1514u);
    const std::string_view bytes(reinterpret_cast<const char*>(frame.data()), frame.size());
    holding += std::ranges::any_of(
        rules.literals, [&](const std::string& one) { return bytes.find(one) != bytes.npos; });
  }
  EXPECT_GT(holding, 100u);
  EXPECT_LT(holding, 400u);
}

}  // namespace
}  // namespace millrace
