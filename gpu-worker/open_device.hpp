// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "gpu-worker/device.hpp"
#include "shared/actor/context.hpp"
#include "shared/actor/stage_work.hpp"

namespace millrace {

/// The device of a worker, and a remark about it for people.
struct OpenedDevice {
  std::unique_ptr<Device> device;
  std::string remark;  ///< which it is, and why not a GPU
  Backend backend = Backend::kUnknown;
};

/// Opens the device that the group's `device` names: `cuda` a GPU, `software` the software device,
/// `auto` a GPU if one can be used. Worker i takes the i-th of the group's `devices` (0 without
/// any). `work` is borrowed. Throws Error for `cuda` without a usable GPU, with the reason and the
/// mend.
OpenedDevice open_device(const ActorContext& context, StageWork& work);

}  // namespace millrace
