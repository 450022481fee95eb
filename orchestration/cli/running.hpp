// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "orchestration/supervisor/run_dir.hpp"
#include "shared/control/endpoint.hpp"

/// What the commands on a running topology share: options that name it, requests to its
/// supervisor, and the printing of the replies.

namespace millrace {

/// Another host's supervisor; all three are given, or none.
struct RemoteOptions {
  std::string at;          ///< "tcp://HOST:PORT"; empty: the supervisor of this host
  std::string key;         ///< file with our secret key
  std::string server_key;  ///< file with the server's public key
};

/// Options of every command on a running topology.
struct RunningOptions {
  std::string name;
  std::string run_dir;  ///< empty: the default of the name
  bool json = false;
  RemoteOptions remote;
};

void add_running_options(CLI::App& command, RunningOptions& options);
/// --at, --key and --server-key.
void add_remote_options(CLI::App& command, RunningOptions& options);

/// The run directory that the options name. Throws Error, with the names that run in the default
/// place, when there is no such topology.
std::string running_dir(const RunningOptions& options);

/// The same, or where a run that ended by itself has left its logs and its history.
std::string recorded_dir(const RunningOptions& options);

/// What to do about a supervisor that hangs.
std::string how_to_go_on(pid_t supervisor, const std::string& run_dir);

/// The pid of the supervisor of `run_dir`. Throws Error when there is none.
pid_t require_supervisor(const std::string& run_dir);

/// Asks the supervisor of `run_dir`, for at most `timeout`. Throws Error at once, with what can be
/// done, when the topology has none; when that one ends before it has answered; and, with its pid,
/// when it does not answer.
template <class Answer>
Answer ask_supervisor(const std::string& run_dir, const ControlBody& question,
                      std::chrono::milliseconds timeout) {
  const pid_t pid = require_supervisor(run_dir);
  ControlClient supervisor(run_dir, kSupervisorEndpoint);
  try {
    return supervisor.request_for<Answer>(question, timeout,
                                          [&] { return SupervisorLock::holder(run_dir) == pid; });
  } catch (const NoAnswer& silence) {
    throw Error(silence.what() + (": unless pid " + std::to_string(pid)) +
                " is just starting it hangs, and traffic goes on without it; " +
                how_to_go_on(pid, run_dir));
  }
}

/// A client of the supervisor at `options.remote`, which has been asked whether it is that of
/// `options.name`. Throws Error when it is not, does not take the keys, or is not there.
ControlClient remote_supervisor(const RunningOptions& options);

/// The same by TCP where `options` say so.
template <class Answer>
Answer ask_supervisor(const RunningOptions& options, const ControlBody& question,
                      std::chrono::milliseconds timeout) {
  if (options.remote.at.empty()) {
    return ask_supervisor<Answer>(running_dir(options), question, timeout);
  }
  return remote_supervisor(options).request_for<Answer>(question, timeout);
}

/// Tables for people; `colour` for terminals.
std::string status_text(const StatusReply& status, bool colour);
std::string audit_text(const AuditReply& audit, bool colour);
/// The same as data.
nlohmann::ordered_json status_json(const StatusReply& status);
nlohmann::ordered_json audit_json(const AuditReply& audit);

/// True when `file` is a terminal and NO_COLOR is not set.
bool wants_colour(int file);

}  // namespace millrace
