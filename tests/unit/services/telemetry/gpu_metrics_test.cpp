// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "services/telemetry/nvml.hpp"
#include "tests/unit/services/telemetry/fake_nvml.hpp"
#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::samples;
using test::WatchedTopology;

TEST(GpuMetrics, NameTheBackendOfLivingWorkers) {
  const WatchedTopology watched;
  watched.start(5);
  watched.start(6, ActorState::kQuarantined);
  const auto look = [&] {
    Families families;
    add_gpus(watched.source(), nullptr, families);
    return samples(families.take());
  };
  EXPECT_EQ(look().size(), 1u);  // it has not opened its device yet
  EXPECT_EQ(look().at("millrace_gpu_group_shares{group=gpu}"), 0);
  watched.status.actor_tally(5).backend = static_cast<std::uint64_t>(Backend::kSoftware);
  watched.status.actor_tally(6).backend = static_cast<std::uint64_t>(Backend::kCuda);
  const auto found = look();
  EXPECT_EQ(found.size(), 2u);
  EXPECT_EQ(found.count("millrace_gpu_info{actor=gpu.0.a,group=gpu,worker=0,backend=software,"
                        "wanted=auto}"),
            1u);
}

TEST(GpuMetrics, SayWhichGroupSharesItsBatchesByChoice) {
  Plan plan = test::small_plan();
  for (PlanGroup& group : plan.groups) group.spill = group.kind == GroupKind::kGpu ? 4 : 0;
  const WatchedTopology watched(plan);
  Families families;
  add_gpus(watched.source(), nullptr, families);
  EXPECT_EQ(samples(families.take()).at("millrace_gpu_group_shares{group=gpu}"), 1);
}

TEST(GpuMetrics, SayHowMuchASharingGroupIsMeantToGet) {
  Plan plan = test::small_plan();
  for (PlanGroup& group : plan.groups) group.spill = group.kind == GroupKind::kGpu ? 4 : 0;
  const auto share = [&](std::uint32_t offload) {
    for (PlanGroup& group : plan.groups) group.offload = offload;
    const WatchedTopology watched(plan);
    watched.status.actor(5).offload = 1 + 37;  // the first actor of the group
    Families families;
    add_gpus(watched.source(), nullptr, families);
    return samples(families.take()).at("millrace_gpu_group_offload_ratio{group=gpu}");
  };
  EXPECT_EQ(share(80), 0.8);
  EXPECT_EQ(share(0), 0.37) << "what was measured";
}

TEST(GpuMetrics, OfADeviceWhatCouldBeRead) {
  const test::TestFolder folder;
  const auto nvml = Nvml::load(test::make_nvml(folder, "-DINIT=0").c_str());
  const WatchedTopology watched;
  Families families;
  add_gpus(watched.source(), nvml.get(), families);
  const auto found = samples(families.take());
  EXPECT_EQ(found.at("millrace_gpu_device_utilization_ratio{gpu=0,name=G1}"), 0.42);
  EXPECT_EQ(found.count("millrace_gpu_device_utilization_ratio{gpu=1,name=G2}"), 0u);
  EXPECT_EQ(found.at("millrace_gpu_device_memory_used_bytes{gpu=1,name=G2}"), 700);
  EXPECT_EQ(found.at("millrace_gpu_device_memory_bytes{gpu=1,name=G2}"), 1000);
}

}  // namespace
}  // namespace millrace
