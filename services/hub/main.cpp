// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <fstream>

#include "services/hub/leader.hpp"
#include "shared/base/clock.hpp"
#include "shared/control/actor_process.hpp"

/// The hub (actor 0) makes segment and status file, then recovers whoever dies. The standby (actor
/// 1) attaches, waits for the hub's exit to be certain, and goes on in its place.

namespace millrace {
namespace {

void run_hub(ActorProcess& process) {
  process.enrol();
  ActorControl control(process.run_dir(), process.context().me.actor,
                       process.context().me.incarnation);
  process.follow_signals(control);
  Leader leader(process.context(), process.run_dir(), kHubEndpoint, control);
  std::ofstream(process.run_dir() + "/hub.ready") << "ready\n";
  control.set_ready();
  leader.lead(control.stop_flag());
}

void run_standby(ActorProcess& process) {
  process.enrol();
  ActorControl control(process.run_dir(), process.context().me.actor,
                       process.context().me.incarnation);
  process.follow_signals(control);
  control.set_ready();
  const ActorEntry& hub = process.context().entry(0);
  KernelProcesses processes;
  while (!control.stop_requested() && !processes.exited(hub.pid, hub.start_time)) {
    process.context().my_entry().heartbeat_tsc.store(tsc_now(), std::memory_order_relaxed);
    processes.wait_for_exit(50);
  }
  if (control.stop_requested()) return;
  control.post_event(Severity::kError, "hub_lost", "the hub has ended: the standby recovers");
  Leader leader(process.context(), process.run_dir(), kStandbyEndpoint, control);
  leader.lead(control.stop_flag());
}

void run(int argc, char** argv) {
  ActorProcess process(argc, argv, "Millrace hub (actor 0) and standby (actor 1)");
  if (process.actor().kind == ActorKind::kHub) {
    run_hub(process);
  } else {
    run_standby(process);
  }
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("millrace-hub", millrace::run, argc, argv);
}
