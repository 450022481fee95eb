// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

/// The commands of `millrace`, each added to the command line by a function of its own. A command
/// that fails throws CLI::RuntimeError with the exit status after it said why (failure.hpp).

namespace millrace {

/// `validate`: checks a topology file, and starts nothing.
void add_validate(CLI::App& app);

/// `plan`: shows what would run, or what would change of what runs.
void add_plan(CLI::App& app);

/// `rules`: reads rules of Snort and Suricata, and says which load. Exit status 1 when some do not,
/// 2 for a file that cannot be read.
void add_rules(CLI::App& app);

/// `try`: runs functions over captures, in this process.
void add_try(CLI::App& app);

/// `up`: runs a topology.
void add_up(CLI::App& app);

/// `adopt`: supervises a running topology that has no supervisor.
void add_adopt(CLI::App& app);

/// `status`: shows the processes of a running topology, and the latest events.
void add_status(CLI::App& app);

/// `top`: watches a running topology.
void add_top(CLI::App& app);

/// `capture`: writes packets of a running topology as pcapng.
void add_capture(CLI::App& app);

/// `logs`: shows the logs of its processes.
void add_logs(CLI::App& app);

/// `events`: prints the events of its functions, as they come.
void add_events(CLI::App& app);

/// `alerts`: shows the alerts in its file of events, or prints new ones.
void add_alerts(CLI::App& app);

/// `trace`: follows packets from port to port.
void add_trace(CLI::App& app);

/// `flows`: lists its connections.
void add_flows(CLI::App& app);

/// `follow`: shows the bytes of a TCP connection.
void add_follow(CLI::App& app);

/// `neighbours`: lists the hosts beside its ports, or forgets one.
void add_neighbours(CLI::App& app);

/// `routes`: shows the table of a router, or where an address leads.
void add_routes(CLI::App& app);

/// `audit`: checks the accounting law. Exit status 1 when it is broken.
void add_audit(CLI::App& app);

/// `report`: shows packets by port and lane, order, latency and the audit, for people.
void add_report(CLI::App& app);

/// `scale`: changes how many workers groups have, under traffic.
void add_scale(CLI::App& app);

/// `function`: puts a function in service, or takes it out.
void add_function(CLI::App& app);

/// `reload`: reads rules and tables of functions again, under traffic.
void add_reload(CLI::App& app);

/// `apply`: changes a running topology to what a file says.
void add_apply(CLI::App& app);

/// `upgrade`: replaces its processes, one by one, by those of another build.
void add_upgrade(CLI::App& app);

/// `history`, `rollback`, `confirm`: show what was changed, go back, keep a change.
void add_history(CLI::App& app);

/// `bypass`: switches or shows what forwards packets while the topology does not run.
void add_bypass(CLI::App& app);

/// `drain`: stops reading the ports, waits until nothing is in flight; `undrain` reads them again.
void add_drain(CLI::App& app);

/// `keys`: makes a pair of keys for control by TCP.
void add_keys(CLI::App& app);

/// `down`: ends a running topology, in order.
void add_down(CLI::App& app);

/// `doctor`: shows what this host lacks, and mends it. Exit status 1 when a problem is left.
void add_doctor(CLI::App& app);

}  // namespace millrace
