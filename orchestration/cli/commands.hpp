// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

/// The commands of `millrace`, each added to the command line by a function of its own. A command
/// that fails throws CLI::RuntimeError with the exit status after it said why (failure.hpp).

namespace millrace {

/// `validate FILE [--json]`: is this topology right? Starts nothing.
void add_validate(CLI::App& app);

/// `plan FILE [--json | --mermaid | --diff]`: what would run, where, with which links and how much
/// memory; what would change of what runs.
void add_plan(CLI::App& app);

/// `rules FILE... [--variable NAME=VALUE] [--classification FILE] [--threshold FILE] [--json]`:
/// which rules of Snort and Suricata load. Exit status 1 when some do not, 2 for a file that cannot
/// be read.
void add_rules(CLI::App& app);

/// `try FUNCTION --pcap FILE [--out FILE]`: runs functions over captures in this process.
void add_try(CLI::App& app);

/// `up FILE [--detach] [--until-done] [--run-dir DIR] [--restarts N] [--restart-delay MS]
/// [--json]`: runs it.
void add_up(CLI::App& app);

/// `adopt NAME [--detach] [--run-dir DIR] [--restarts N] [--restart-delay MS] [--json]`: supervises
/// what runs without a supervisor.
void add_adopt(CLI::App& app);

/// `status NAME [--json]`: its processes, and what happened lately.
void add_status(CLI::App& app);

/// `top NAME [--interval S] [--count N] [--json]`: watches it.
void add_top(CLI::App& app);

/// `capture NAME [--port P] [--link L] [--dropped] [--reason R] [--filter F] [-w FILE [-C MB [-W
/// N]]]`: packets as pcapng.
void add_capture(CLI::App& app);

/// `logs NAME [PROCESS...] [--follow] [--since AGE] [--json]`: the logs of its processes.
void add_logs(CLI::App& app);

/// `events NAME [--count N] [--json]`: what functions tell of packets, as it comes.
void add_events(CLI::App& app);

/// `alerts NAME [--last N | --top N [--by WHAT] | --count | --follow] [--sid S] [--source A]
/// [--json]`: those in the file of events, or those that come.
void add_alerts(CLI::App& app);

/// `trace NAME [--filter F] [--count N] [--json]`: packets followed from port to port.
void add_trace(CLI::App& app);

/// `flows NAME [--filter TEXT] [--count] [--top N] [--follow] [--json]`: its connections.
void add_flows(CLI::App& app);

/// `follow NAME FLOW [--raw] [--json] [--direction D]`: the bytes of a TCP connection.
void add_follow(CLI::App& app);

/// `neighbours NAME [PORT] [--forget ADDRESS] [--json]`: hosts beside its ports.
void add_neighbours(CLI::App& app);

/// `routes NAME [ADDRESS] [--function F] [--json]`: a router's next hops; where an address leads.
void add_routes(CLI::App& app);

/// `audit NAME [--json]`: the accounting law. Exit status 1 when it is broken.
void add_audit(CLI::App& app);

/// `report NAME`: packets by port and lane, order, latency, and the audit, for people.
void add_report(CLI::App& app);

/// `scale NAME GROUP=N... [--json]`: more or fewer workers under traffic.
void add_scale(CLI::App& app);

/// `function NAME FUNCTION in|out [--json]`: puts a function in service or takes it out.
void add_function(CLI::App& app);

/// `reload NAME [FUNCTION...] [--json]`: rules and tables anew, under traffic.
void add_reload(CLI::App& app);

/// `apply FILE [--confirm S] [--restart] [--json]`: a running topology becomes what the file says.
void add_apply(CLI::App& app);

/// `upgrade NAME [--from DIR] [--json]`: its processes become those of another build, one by one.
void add_upgrade(CLI::App& app);

/// `history NAME`, `rollback NAME [N]`, `confirm NAME`: what was changed, and the way back.
void add_history(CLI::App& app);

/// `bypass NAME [on|off|status] [--json]`: what takes the packets while it does not run.
void add_bypass(CLI::App& app);

/// `drain NAME [--patience S] [--json]`, `undrain NAME [--json]`: its ports are left alone, until
/// nothing is in flight; and read again.
void add_drain(CLI::App& app);

/// `keys FILE`: a pair of keys for control by TCP.
void add_keys(CLI::App& app);

/// `down NAME [--json]`: ends it, in order.
void add_down(CLI::App& app);

/// `doctor [FILE] [--fix] [--json]`: what of this host is not in order. Exit status 1 when a
/// problem is left.
void add_doctor(CLI::App& app);

}  // namespace millrace
