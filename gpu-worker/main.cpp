// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "gpu-worker/device_tables.hpp"
#include "gpu-worker/gpu_actor.hpp"
#include "gpu-worker/open_device.hpp"
#include "services/functions/stages/function_stages.hpp"
#include "shared/control/actor_process.hpp"

namespace millrace {
namespace {

void run(int argc, char** argv) {
  ActorProcess process(argc, argv, "Millrace GPU worker: runs network functions on a device");
  process.give_up_rights();  // before functions and CUDA start threads, which need no rights
  FunctionStages functions(process.context());
  // Before enrolment: to open a GPU takes 0.2 s and more, and no batch is to wait for that.
  const OpenedDevice opened = open_device(process.context(), functions);
  process.enrol();
  process.context().status.actor_tally(process.context().me.actor).backend =
      static_cast<std::uint64_t>(opened.backend);
  GpuActor gpu(process.context(), *opened.device, &functions);
  DeviceTables tables(functions, *opened.device);
  process.run(gpu, &tables, opened.remark);
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("millrace-gpu-worker", millrace::run, argc, argv);
}
