// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/process_rights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

PlanActor actor_of(ActorKind kind, std::uint16_t index = 0) {
  PlanActor actor;
  actor.kind = kind;
  actor.index = index;
  return actor;
}

/// Two ports with a stream each; the second one's device.
Plan plan_with(const std::string& device) {
  Plan plan;
  plan.ports.resize(2);
  plan.ports[0].device = "afpacket";
  plan.ports[1].device = device;
  plan.streams.resize(2);
  plan.streams[1].port = 1;
  return plan;
}

TEST(ProcessRights, WithoutDpdkNobodyKeepsAny) {
  const Plan plan = plan_with("afxdp");
  for (const ActorKind kind : {ActorKind::kHub, ActorKind::kStandby, ActorKind::kIngress,
                               ActorKind::kEgress, ActorKind::kClassifier, ActorKind::kGpu}) {
    EXPECT_EQ(capabilities_of(plan, actor_of(kind, 1)), 0u);
  }
}

TEST(ProcessRights, OnlyThoseThatADriverWorksInKeepWhatItNeeds) {
  const Plan plan = plan_with("dpdk");
  const Capabilities kept = capabilities_of(plan, actor_of(ActorKind::kHub));
  EXPECT_EQ(kept, capability(CAP_NET_ADMIN) | capability(CAP_NET_RAW) | capability(CAP_IPC_LOCK) |
                      capability(CAP_SYS_RAWIO) | capability(CAP_BPF));
  EXPECT_EQ(capabilities_of(plan, actor_of(ActorKind::kEgress)), kept);
  EXPECT_EQ(capabilities_of(plan, actor_of(ActorKind::kIngress, 1)), kept);
  EXPECT_EQ(capabilities_of(plan, actor_of(ActorKind::kIngress, 0)), 0u) << "of the other port";
  EXPECT_EQ(capabilities_of(plan, actor_of(ActorKind::kStandby)), 0u);
  EXPECT_EQ(capabilities_of(plan, actor_of(ActorKind::kClassifier)), 0u);
  EXPECT_EQ(capabilities_of(plan, actor_of(ActorKind::kGpu)), 0u);
}

TEST(ProcessRights, TelemetryKeepsOneForPortsOfRoot) {
  Plan plan;
  const auto kept = [&](const char* listen) {
    plan.telemetry_listen = listen;
    return capabilities_of_telemetry(plan);
  };
  EXPECT_EQ(kept("127.0.0.1:0"), 0u);
  EXPECT_EQ(kept("0.0.0.0:1024"), 0u);
  EXPECT_EQ(kept("[::1]:80"), capability(CAP_NET_BIND_SERVICE));
  EXPECT_EQ(kept("0.0.0.0:1023"), capability(CAP_NET_BIND_SERVICE));
}

TEST(ProcessRights, EachKindHasTheSystemCallsOfItsWork) {
  Plan plan = plan_with("tap");
  plan.groups.resize(1);
  plan.groups[0].kind = GroupKind::kGpu;
  const auto calls = [&](ActorKind kind) { return system_calls_of(plan, actor_of(kind, 1)); };
  EXPECT_TRUE(calls(ActorKind::kHub).processes && calls(ActorKind::kStandby).processes);
  EXPECT_TRUE(calls(ActorKind::kIngress).network && calls(ActorKind::kEgress).network);
  EXPECT_FALSE(calls(ActorKind::kIngress).processes || calls(ActorKind::kIngress).driver);
  EXPECT_FALSE(calls(ActorKind::kClassifier).network || calls(ActorKind::kClassifier).driver);
  EXPECT_TRUE(calls(ActorKind::kGpu).driver && system_calls_of_telemetry(plan).driver);
  plan.groups[0].settings = {{"device", "software"}};
  EXPECT_FALSE(calls(ActorKind::kGpu).driver || system_calls_of_telemetry(plan).driver);
  plan.fused = true;
  EXPECT_TRUE(calls(ActorKind::kClassifier).network);
  plan.ports[1].device = "dpdk";
  EXPECT_TRUE(calls(ActorKind::kHub).driver && calls(ActorKind::kIngress).driver);
  EXPECT_FALSE(calls(ActorKind::kStandby).driver);
}

/// What give_up_capabilities() says of it in a process of its own; empty: nothing.
std::string refusal_of(const std::string& run_dir) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::string said;
    try {
      give_up_capabilities(0, run_dir);
    } catch (const Error& error) {
      said = error.what();
    }
    const bool written = ::write(ends[1], said.data(), said.size()) >= 0;
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string said(4096, '\0');
  const ssize_t bytes = ::read(ends[0], said.data(), said.size());
  ::close(ends[0]);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  said.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  return said;
}

TEST(ProcessRights, ARunDirectoryThatIsOutOfReachWithoutThemIsRefused) {
  std::string mine = ::testing::TempDir() + "rights-XXXXXX";
  ASSERT_NE(::mkdtemp(mine.data()), nullptr);
  EXPECT_EQ(refusal_of(mine), "");
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(mine.c_str(), 65534, 65534), 0);
    EXPECT_THAT(refusal_of(mine), ::testing::AllOf(::testing::HasSubstr("out of reach"),
                                                   ::testing::HasSubstr("--run-dir")));
  }
  ::rmdir(mine.c_str());
}

}  // namespace
}  // namespace millrace
