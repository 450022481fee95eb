// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <fstream>
#include <memory>
#include <optional>

#include "services/hub/absent_primary.hpp"
#include "services/hub/dpdk_device.hpp"
#include "services/hub/dpdk_ports.hpp"
#include "services/hub/leader.hpp"
#include "services/hub/tap_keeper.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/say.hpp"
#include "shared/control/actor_process.hpp"
#include "shared/driver/eal.hpp"

/// The hub (actor 0) makes segment and status file, then recovers whoever dies. The standby (actor
/// 1) attaches, waits for the hub's exit to be certain, and goes on in its place. A hub of another
/// build attaches too, and follows one that was asked to end (`--successor`).

namespace millrace {
namespace {

void run_hub(ActorProcess& process) {
  // A successor has them from the hub before it, which lives until enrol() returns.
  TapKeeper taps(process.plan(), process.run_dir(),
                 process.succeeds() ? TapKeeper::Part::kSuccessor : TapKeeper::Part::kHub);
  process.enrol();
  process.give_up_rights();  // before anything that has threads
  taps.lend();
  ActorControl control(process.run_dir(), process.context().me.actor,
                       process.context().me.incarnation);
  process.follow_signals(control);
  std::optional<Eal> eal;
  std::unique_ptr<DpdkPorts> ports;
  if (uses_dpdk(process.plan())) {
    eal.emplace(process.plan(), process.context().me.actor);
    register_segment(process.context().segment, segment_layout(process.plan()).bytes);
    ports = std::make_unique<DpdkPorts>(process.context());
  }
  const auto tell_link = [&](const std::string& port, bool up) {
    control.post_event(up ? Severity::kInfo : Severity::kWarning, up ? "link_up" : "link_down",
                       "link of port '" + port + "' is " + (up ? "up" : "down"));
  };
  const auto watch_links = [&] {
    if (ports) ports->watch_links(tell_link);
    taps.watch_links(tell_link);
  };
  Leader leader(process.context(), process.run_dir(), kHubEndpoint, control, ports.get(),
                watch_links);
  process.filter_calls();
  std::ofstream(process.run_dir() + "/hub.ready") << "ready\n";
  control.set_ready();
  leader.lead(control.stop_flag());
}

/// A standby that starts when the hub has gone does without the interfaces' files.
std::unique_ptr<TapKeeper> taps_of_hub(const ActorProcess& process, ActorControl& control) {
  try {
    auto taps =
        std::make_unique<TapKeeper>(process.plan(), process.run_dir(), TapKeeper::Part::kStandby);
    taps->lend();
    return taps;
  } catch (const Error& error) {
    say("standby", error.what());
    control.post_event(Severity::kError, "planned_restart_needed", error.what());
    return nullptr;
  }
}

void run_standby(ActorProcess& process) {
  process.enrol();
  process.give_up_rights();
  ActorControl control(process.run_dir(), process.context().me.actor,
                       process.context().me.incarnation);
  process.follow_signals(control);
  const auto taps = taps_of_hub(process, control);
  process.filter_calls();
  control.set_ready();
  const ActorEntry& hub = process.context().entry(0);
  KernelProcesses processes;
  while (!control.stop_requested() && !processes.exited(hub.pid, hub.start_time)) {
    process.context().my_entry().heartbeat_tsc.store(tsc_now(), std::memory_order_relaxed);
    processes.wait_for_exit(50);
  }
  if (control.stop_requested()) return;
  control.post_event(Severity::kError, "hub_lost", "the hub has ended: the standby recovers");
  AbsentPrimary ports(process.context(), [&](const std::string& text) {
    say("standby", text);
    control.post_event(Severity::kError, "planned_restart_needed", text);
  });
  Leader leader(process.context(), process.run_dir(), kStandbyEndpoint, control, &ports);
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
