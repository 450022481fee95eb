// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

/// The commands of `millrace`, each added to the command line by a function of its own. A command
/// that fails throws CLI::RuntimeError with the exit status after it said why (failure.hpp).

namespace millrace {

/// `validate FILE [--json]`: is this topology right? Starts nothing.
void add_validate(CLI::App& app);

/// `plan FILE [--json | --mermaid]`: what would run, where, with which links and how much memory.
void add_plan(CLI::App& app);

/// `try FUNCTION --pcap FILE [--out FILE]`: runs functions over captures in this process.
void add_try(CLI::App& app);

/// `up FILE [--detach] [--until-done] [--adopt] [--run-dir DIR] [--restarts N] [--json]`: runs it.
void add_up(CLI::App& app);

/// `status NAME [--json]`: its processes, and what happened lately.
void add_status(CLI::App& app);

/// `top NAME [--interval S] [--count N] [--json]`: watches it.
void add_top(CLI::App& app);

/// `audit NAME [--json]`: the accounting law. Exit status 1 when it is broken.
void add_audit(CLI::App& app);

/// `report NAME`: packets by port and lane, order, latency, and the audit, for people.
void add_report(CLI::App& app);

/// `scale NAME GROUP=N [--json]`: more or fewer workers under traffic.
void add_scale(CLI::App& app);

/// `down NAME [--json]`: ends it, in order.
void add_down(CLI::App& app);

/// `doctor [FILE] [--fix] [--json]`: what of this host is not in order. Exit status 1 when a
/// problem is left.
void add_doctor(CLI::App& app);

}  // namespace millrace
