// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>

#include "gpu-worker/gpu_actor.hpp"
#include "gpu-worker/software_device/software_device.hpp"
#include "services/classifier/function_stages.hpp"
#include "shared/control/actor_process.hpp"

namespace millrace {
namespace {

void run(int argc, char** argv) {
  ActorProcess process(argc, argv, "Millrace GPU worker: runs network functions on a device");
  const auto settings =
      software_device_settings(process.plan().groups[process.actor().group].settings);
  FunctionStages functions(process.context());
  process.enrol();
  SoftwareDevice device(process.context(), functions, settings);
  std::fprintf(stderr, "%s: no GPU is used: %s, seed %llu\n", process.actor().name.c_str(),
               device.name(), static_cast<unsigned long long>(settings.seed));
  GpuActor gpu(process.context(), device);
  process.run(gpu);
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("millrace-gpu-worker", millrace::run, argc, argv);
}
