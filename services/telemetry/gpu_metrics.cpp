// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "services/telemetry/nvml.hpp"
#include "services/telemetry/status_metrics.hpp"
#include "shared/config/plan_settings.hpp"
#include "shared/links/offload_word.hpp"

namespace millrace {
namespace {

const char* backend_name(std::uint64_t code) {
  if (code == static_cast<std::uint64_t>(Backend::kSoftware)) return "software";
  return code == static_cast<std::uint64_t>(Backend::kCuda) ? "cuda" : nullptr;
}

void add_backend(const StatusSource& source, std::uint32_t id, Families& families) {
  const PlanActor& actor = source.plan.actors[id];
  const char* const name =
      backend_name(source.status.actor_tally(id).backend.load(std::memory_order_relaxed));
  if (name == nullptr) return;
  std::vector<std::string> labels = labels_of(source.plan, actor);
  labels.emplace_back(name);
  labels.push_back(setting_of(source.plan.groups[actor.group].settings, "device", "auto"));
  families.add(Metric::kGpuInfo, labels, 1);
}

std::uint32_t offload_percent(const StatusSource& source, std::uint32_t group) {
  const PlanGroup& planned = source.plan.groups[group];
  if (!is_balanced(planned)) return planned.offload;
  return measured_offload(offload_of(source.plan, source.status, group));
}

}  // namespace

void add_gpus(const StatusSource& source, const Nvml* nvml, Families& families) {
  for (std::uint32_t i = 0; i < source.plan.groups.size(); ++i) {
    const PlanGroup& group = source.plan.groups[i];
    if (group.kind != GroupKind::kGpu) continue;
    families.add(Metric::kGpuGroupShares, {group.name}, splits(group) ? 1 : 0);
    if (splits(group)) {
      families.add(Metric::kGpuGroupOffload, {group.name}, offload_percent(source, i) / 100.0);
    }
  }
  for (std::uint32_t id = 0; id < source.plan.actors.size(); ++id) {
    if (source.plan.actors[id].kind == ActorKind::kGpu && lives(source, id)) {
      add_backend(source, id, families);
    }
  }
  if (nvml == nullptr) return;
  for (const Nvml::Gpu& gpu : nvml->read()) {
    const std::vector<std::string> labels = {std::to_string(gpu.number), gpu.name};
    if (gpu.busy_percent) {
      families.add(Metric::kGpuDeviceUtilization, labels, *gpu.busy_percent / 100.0);
    }
    if (!gpu.memory_used || !gpu.memory_bytes) continue;
    families.add(Metric::kGpuDeviceMemoryUsed, labels, static_cast<double>(*gpu.memory_used));
    families.add(Metric::kGpuDeviceMemory, labels, static_cast<double>(*gpu.memory_bytes));
  }
}

}  // namespace millrace
