// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu-worker/open_device.hpp"

#include "gpu-worker/software_device/software_device.hpp"
#include "shared/base/error.hpp"
#include "shared/config/plan_settings.hpp"
#ifdef MILLRACE_HAVE_CUDA
#include "gpu-worker/resident/resident_device.hpp"
#endif

namespace millrace {
namespace {

std::unique_ptr<Device> open_gpu([[maybe_unused]] const ActorContext& context,
                                 [[maybe_unused]] int ordinal) {
#ifdef MILLRACE_HAVE_CUDA
  return std::make_unique<ResidentDevice>(context, ordinal);
#else
  throw Error("this build has no CUDA; mend: make deps && make");
#endif
}

}  // namespace

OpenedDevice open_device(const ActorContext& context, StageWork& work) {
  const PlanActor& actor = context.plan->actors[context.me.actor];
  const PlanGroup& group = context.plan->groups[actor.group];
  const std::optional<std::uint32_t> gpu = gpu_of_worker(group, actor.index);
  OpenedDevice opened;
  std::string why = "device: software";
  if (gpu) {
    try {
      opened.device = open_gpu(context, static_cast<int>(*gpu));
      opened.backend = Backend::kCuda;
      opened.remark = std::string("computes on ") + opened.device->name();
      return opened;
    } catch (const Error& error) {
      if (setting_of(group.settings, "device") == "cuda") {
        throw Error(std::string(error.what()) +
                    " ('millrace doctor' looks for the GPU; 'device: auto' goes on without one)");
      }
      why = error.what();
    }
  }
  const SoftwareDeviceSettings software = software_device_settings(group.settings);
  opened.device = std::make_unique<SoftwareDevice>(context, work, software);
  opened.backend = Backend::kSoftware;
  opened.remark = "no GPU is used (" + why + "): " + opened.device->name() + ", seed " +
                  std::to_string(software.seed);
  return opened;
}

}  // namespace millrace
