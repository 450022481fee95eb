// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "orchestration/supervisor/balancing.hpp"
#include "orchestration/supervisor/bypass.hpp"
#include "orchestration/supervisor/changes.hpp"
#include "orchestration/supervisor/config_watch.hpp"
#include "orchestration/supervisor/end_of_input.hpp"
#include "orchestration/supervisor/fleet.hpp"
#include "orchestration/supervisor/history.hpp"
#include "orchestration/supervisor/noted_events.hpp"
#include "orchestration/supervisor/observers.hpp"
#include "orchestration/supervisor/port_watch.hpp"
#include "orchestration/supervisor/remote_control.hpp"
#include "orchestration/supervisor/run_dir.hpp"
#include "orchestration/supervisor/state_file.hpp"
#include "orchestration/supervisor/tables.hpp"
#include "shared/base/run_words.hpp"
#include "shared/control/endpoint.hpp"

namespace millrace {

struct SupervisorOptions {
  std::string run_dir;
  std::optional<Bypass> bypass;          ///< of start(); on whenever the topology has ended
  std::optional<RemoteControl> control;  ///< of start(): which clients are heard by TCP
  std::string folder;                    ///< of the executables
  std::string last_run;  ///< of start(): folder of a LastRun whose history goes on; empty: none
  std::string what = "start";  ///< of the history: why it starts
  bool until_done =
      false;  ///< end by itself when every ingress is exhausted and nothing is in flight
  RestartLimits limits;
  /// A step of the start or stop is done; `seconds` since the start.
  std::function<void(const std::string& what, double seconds)> step;
  std::function<void(const Event&)> event;
  /// Called several times a second while it runs.
  std::function<void()> turn;
};

/// Runs one topology: start in order, restarts, requests of the CLI, stop in order. Dies without
/// harm: its processes go on, and another supervisor takes them over. One thread.
class Supervisor {
 public:
  /// Takes the run directory. Throws Error when the topology runs already, here or elsewhere.
  Supervisor(Plan plan, SupervisorOptions options);
  ~Supervisor();

  /// Cleans what a killed run left, builds tables, starts everything, and returns when all actors
  /// are alive and have opened their ports. Throws Error with the log of what failed; what was
  /// started is stopped then.
  void start();
  /// Takes over a topology without a supervisor: what the last one wanted of each process goes on.
  /// Throws Error when nothing of the topology runs, when it had not started, or when the state of
  /// the run cannot be read.
  void adopt();
  /// The same to stop it: one that has not started, or has a state that cannot be read, can be
  /// stopped too.
  void adopt_to_stop();
  /// Until DownRequest, SIGTERM or SIGINT (which must be blocked in the process), or done.
  void run();
  /// Ingress first, then what is in flight is waited for, then workers, egress, standby, hub; each
  /// in bounded time. Removes the run directory; after a start that failed its logs
  /// stay, after a run that ended by itself also its history.
  void stop();

  /// The audit of a run with `until_done`, taken before its hub went.
  const std::optional<AuditReply>& audit() const { return input_.audit(); }
  /// Captures that were not read whole, at the time of the audit.
  const std::vector<UnreadInput>& unread() const { return input_.unread(); }
  const Plan& plan() const { return plan_; }

 private:
  using Clock = std::chrono::steady_clock;
  void refuse_if_running() const;
  void take_over();
  void take_ports();
  void check_start() const;
  void prepare_run_dir();
  void make_tables();
  void listen_by_tcp();
  void watch_ports();
  void end_of_itself();
  void follow_name(const std::string& from, const std::string& to);
  void turn(std::chrono::milliseconds timeout);

  void answer(const Received& received);
  void answer_audit(const Received& received);
  StatusReply status_reply() const;
  void answer_change(const Received& received);

  /// How commands name this run.
  std::string run_words() const { return words_for_run(plan_.name, options_.run_dir); }
  void say(const std::string& what) const;  ///< nothing when empty
  void note(Event event) { events_.add(std::move(event)); }
  double seconds() const;

  Plan plan_;
  SupervisorOptions options_;
  NotedEvents events_;
  std::optional<SupervisorLock> lock_;
  std::unique_ptr<ControlServer> server_;
  Fleet fleet_;
  StateFile state_;
  Observers observers_;
  EndOfInput input_;
  UniqueFd signals_;
  Clock::time_point began_ = Clock::now();
  std::set<std::uint32_t> ready_;  ///< actors whose ports are open
  std::optional<PortWatch> ports_;
  std::string phase_ = "starting";
  std::optional<History> history_;
  std::optional<Changes> changes_;
  Balancing balancing_{plan_, [this](Event event) { note(std::move(event)); }};
  ConfigWatch config_;
  bool differs_ = false;
  bool ending_ = false;
  Keep keep_ = Keep::kNothing;  ///< when it has ended
};

}  // namespace millrace
