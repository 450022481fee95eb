// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/doctor/doctor.hpp"

#include "shared/base/limits.hpp"
#include "tests/unit/orchestration/doctor/fake_host.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kSmall = R"(
millrace: 1
ports:
  in: { device: generate }
  out: { device: "null" }
workers:
  front: { kind: classifier, count: 2 }
functions:
  look: { type: pass, on: front }
paths:
  main: { from: in, to: out, run: [look] }
)";

TEST(NeedsOf, APlanWithoutDevicesNeedsMemoryAndCores) {
  const Needs needs = needs_of(plan_of_text(kSmall));
  EXPECT_GT(needs.huge_pages, 0U);
  EXPECT_GT(needs.actors, 1U);
  EXPECT_THAT(needs.capabilities, IsEmpty());
  EXPECT_THAT(needs.interfaces, IsEmpty());
  EXPECT_FALSE(needs.af_xdp);
}

TEST(NeedsOf, AFusedPlanIsOneProcess) {
  Plan plan = plan_of_text(kSmall);
  plan.fused = true;
  EXPECT_EQ(needs_of(plan).actors, 1U);
}

TEST(NeedsOf, PortsOfTheKernelNeedRights) {
  Plan plan = plan_of_text(kSmall);
  plan.ports[0].device = "afxdp";
  plan.ports[0].settings = {{"interface", "eth0"}};
  PlanPort nic{.name = "nic", .device = "dpdk"};
  nic.settings = {{"devargs", "0000:01:00.0,rx_vec=1"}};
  plan.ports.push_back(nic);
  const Needs needs = needs_of(plan);
  EXPECT_THAT(needs.interfaces, ElementsAre("eth0"));
  EXPECT_THAT(needs.pci, ElementsAre("0000:01:00.0"));
  EXPECT_THAT(needs.capabilities, ElementsAre("net_raw", "net_admin", "bpf", "ipc_lock"));
  EXPECT_TRUE(needs.af_xdp);
}

TEST(NeedsOf, TapPortsNeedTheRightToMakeInterfaces) {
  Plan plan = plan_of_text(kSmall);
  EXPECT_FALSE(needs_of(plan).tap);
  plan.ports[0].device = "tap";
  plan.ports[0].settings = {{"interface", "mill"}};
  const Needs needs = needs_of(plan);
  EXPECT_TRUE(needs.tap);
  EXPECT_THAT(needs.capabilities, ElementsAre("net_admin"));
  EXPECT_THAT(needs.interfaces, IsEmpty()) << "it is not there yet";
}

TEST(NeedsOf, OnlyAGpuGroupThatInsistsOnCudaNeedsIt) {
  Plan plan = plan_of_text(kSmall);
  plan.groups.push_back({.name = "gpu", .kind = GroupKind::kGpu});
  plan.groups.back().settings = {{"device", "cuda"}};
  EXPECT_TRUE(needs_of(plan).cuda);
  for (const char* device : {"auto", "software"}) {
    plan.groups.back().settings = {{"device", device}};
    EXPECT_FALSE(needs_of(plan).cuda) << device;
  }
}

TEST_F(FakeHost, ThatIsEmptyIsExaminedWithoutAnError) {
  const auto findings = examine(host(), {.actors = 3, .interfaces = {"eth0"}});
  EXPECT_GT(findings.size(), 10U);
  EXPECT_EQ(of(findings, "huge pages").health, Health::kProblem);
}

}  // namespace
}  // namespace millrace::test
