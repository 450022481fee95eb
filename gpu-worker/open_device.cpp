// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu-worker/open_device.hpp"

#include <charconv>
#include <string_view>
#include <vector>

#include "gpu-worker/software_device/software_device.hpp"
#include "shared/base/error.hpp"
#ifdef MILLRACE_HAVE_CUDA
#include "gpu-worker/resident/resident_device.hpp"
#endif

namespace millrace {
namespace {

std::string value_of(const Settings& settings, std::string_view key, std::string otherwise) {
  for (const auto& [name, value] : settings) {
    if (name == key) return value;
  }
  return otherwise;
}

/// Number of the GPU for worker `index` of the group.
int ordinal_of(const Settings& settings, std::uint32_t index) {
  std::vector<int> ordinals;
  for (const auto& [name, value] : settings) {
    int number = 0;
    const char* const end = value.data() + value.size();
    if (name == "devices" && std::from_chars(value.data(), end, number).ptr == end) {
      ordinals.push_back(number);
    }
  }
  return ordinals.empty() ? 0 : ordinals[index % ordinals.size()];
}

std::unique_ptr<Device> open_gpu([[maybe_unused]] const ActorContext& context,
                                 [[maybe_unused]] int ordinal) {
#ifdef MILLRACE_HAVE_CUDA
  return std::make_unique<ResidentDevice>(context, ordinal);
#else
  throw Error("this build has no CUDA; 'make deps' brings the compiler");
#endif
}

}  // namespace

OpenedDevice open_device(const ActorContext& context, StageWork& work) {
  const PlanActor& actor = context.plan->actors[context.me.actor];
  const Settings& settings = context.plan->groups[actor.group].settings;
  const std::string wanted = value_of(settings, "device", "auto");
  OpenedDevice opened;
  std::string why = "device: software";
  if (wanted != "software") {
    try {
      opened.device = open_gpu(context, ordinal_of(settings, actor.index));
      opened.remark = std::string("computes on ") + opened.device->name();
      return opened;
    } catch (const Error& error) {
      if (wanted == "cuda") {
        throw Error(std::string(error.what()) +
                    " ('millrace doctor' looks for the GPU; 'device: auto' goes on without one)");
      }
      why = error.what();
    }
  }
  const SoftwareDeviceSettings software = software_device_settings(settings);
  opened.device = std::make_unique<SoftwareDevice>(context, work, software);
  opened.remark = "no GPU is used (" + why + "): " + opened.device->name() + ", seed " +
                  std::to_string(software.seed);
  return opened;
}

}  // namespace millrace
