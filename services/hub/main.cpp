// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <fstream>
#include <memory>
#include <optional>

#include "services/hub/absent_primary.hpp"
#include "services/hub/dpdk_device.hpp"
#include "services/hub/dpdk_ports.hpp"
#include "services/hub/leader.hpp"
#include "services/hub/port_keeper.hpp"
#include "shared/actor/enrol.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/say.hpp"
#include "shared/control/actor_process.hpp"
#include "shared/driver/eal.hpp"
#include "shared/recovery/leader_watch.hpp"

/// The hub (actor 0) makes segment and status file, then recovers what dies. The standby (actor
/// 1) attaches, waits for the hub's exit to be certain, and goes on in its place. A hub of another
/// build attaches too, and follows one that was asked to end (`--successor`).

namespace millrace {
namespace {

constexpr int kStandbyTurnMs = 50;  ///< between two beats of the standby; an exit ends it at once

void run_hub(ActorProcess& process) {
  // A successor gets the interfaces from the hub before it, which lives until enrol() returns.
  PortKeeper keeper(process.plan(), process.run_dir(),
                    process.succeeds() ? PortKeeper::Part::kSuccessor : PortKeeper::Part::kHub);
  process.enrol();
  process.give_up_rights();  // before anything that has threads
  keeper.lend();
  ActorControl control(process.run_dir(), process.context().me.actor);
  process.follow_signals(control);
  std::optional<Eal> eal;
  std::unique_ptr<DpdkPorts> ports;
  if (uses_dpdk(process.plan())) {
    eal.emplace(process.plan(), process.context().me.actor, process.run_dir());
    register_segment(process.context().segment, segment_layout(process.plan()).bytes);
    ports = std::make_unique<DpdkPorts>(process.context());
  }
  const auto tell_link = [&](const std::string& port, bool up) {
    control.post_event(up ? Severity::kInfo : Severity::kWarning, up ? "link_up" : "link_down",
                       "link of port '" + port + "' is " + (up ? "up" : "down"));
  };
  const auto watch_links = [&] {
    if (ports) ports->watch_links(tell_link);
    keeper.watch_links(tell_link);
  };
  Leader leader(process.context(), process.run_dir(), kHubEndpoint, control, ports.get(),
                watch_links);
  process.filter_calls();
  std::ofstream(hub_ready_path(process.run_dir())) << "ready\n";
  control.set_ready();
  leader.lead(control.stop_flag());
}

/// The interfaces' files for the standby; none when it starts after the hub has ended.
std::unique_ptr<PortKeeper> keeper_of_standby(const ActorProcess& process, ActorControl& control) {
  try {
    auto keeper =
        std::make_unique<PortKeeper>(process.plan(), process.run_dir(), PortKeeper::Part::kStandby);
    keeper->lend();
    return keeper;
  } catch (const Error& error) {
    say("standby", error.what());
    control.post_event(Severity::kError, "planned_restart_needed", error.what());
    return nullptr;
  }
}

void stand_by(ActorProcess& process) {
  process.enrol();
  process.give_up_rights();
  ActorControl control(process.run_dir(), process.context().me.actor);
  process.follow_signals(control);
  const auto keeper = keeper_of_standby(process, control);
  process.filter_calls();
  control.set_ready();
  const ActorEntry& hub = process.context().entry(0);
  KernelProcesses processes;
  LeaderWatch watch(process.plan().heartbeat_limit_ms * 1'000'000ull,
                    LeaderWatch::kStandbysPatience);
  bool killed = false;
  while (!control.stop_requested() && !processes.exited(hub.pid, hub.start_time)) {
    process.context().my_entry().heartbeat_tsc.store(tsc_now(), std::memory_order_relaxed);
    if (!killed && watch.hangs(hub.heartbeat_tsc.load(std::memory_order_relaxed), monotonic_ns())) {
      control.post_event(Severity::kError, "hub_hung", "the hub hangs: killed");
      processes.kill(hub.pid, hub.start_time);
      killed = true;
    }
    processes.wait_for_exit(kStandbyTurnMs);
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
    stand_by(process);
  }
  note_end(process.context());
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("millrace-hub", millrace::run, argc, argv);
}
