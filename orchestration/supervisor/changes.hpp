// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/supervisor/autoscaling.hpp"
#include "orchestration/supervisor/change_guard.hpp"
#include "orchestration/supervisor/change_steps.hpp"
#include "orchestration/supervisor/following.hpp"
#include "orchestration/supervisor/history.hpp"
#include "shared/control/endpoint.hpp"

namespace millrace {

/// What changes in a running topology. Requests wait in a row; of one at a time the steps are run
/// one after the other (ChangeStep). When all steps of a change are done, it is the next
/// generation. Of one that fails the plan says what stays, and where something does the topology
/// goes back (ChangeGuard). Tables that follow the kernel's routes change in between. One thread.
class Changes {
 public:
  using Clock = std::chrono::steady_clock;
  struct Means {
    std::string folder;  ///< of the executables
    std::string run_dir;
    std::string run_words;                               ///< how commands name the run
    std::function<void(std::uint32_t actor)> ask_drain;  ///< of the leader; throws Error
    std::function<bool(std::uint32_t actor)> is_ready;   ///< its ports are open
    std::function<void(std::uint32_t actor)> forget_ready;
    std::function<void(const std::string& peer, ControlBody)> tell;  ///< an actor
    std::function<void(const Received& request, ControlBody)> reply;
    std::function<void(Event)> note;
    std::function<std::vector<std::string>()> out_of_service;  ///< names of functions
  };

  /// `plan`, `fleet` and `state` are borrowed and changed, `history` is borrowed.
  Changes(Plan& plan, Fleet& fleet, const History& history, StateFile& state, Means means);

  /// Puts a request into the row, or refuses it at once.
  void ask(const Received& request);
  /// The user says that the last change stays.
  void confirm(const Received& request);
  /// An actor cannot go over to that revision of the plan.
  void refused(const std::string& actor, std::uint32_t revision, const std::string& why) {
    tables_.refused(actor, revision, why);
  }
  /// A supervisor that took over: what an earlier one was about goes on, or back. Throws Error.
  void resume();
  /// Goes on; several times a second. `runs`: all of the topology is there.
  void tend(bool runs);

  /// Something changes, or waits to.
  bool is_changing() const { return !row_.empty() || !is_idle(); }
  /// Tables are to follow the kernel soon.
  bool is_about_to_follow() const { return following_.pending(); }
  /// Readable when the kernel's routes have changed; -1: not waited for.
  int descriptor() const { return following_.descriptor(); }
  const ChangeGuard& guard() const { return guard_; }

  /// Changes of tables since the start of the topology.
  struct Counts {
    std::uint64_t done = 0, failed = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Change {
    Received request;
    ChangeReply reply;
    std::vector<std::string> sources;  ///< of the plan, once it is made
    std::optional<Plan> next;          ///< what it goes over to; nothing: reload, scale, upgrade
    bool none = false;                 ///< all is as it is asked for
    std::vector<std::unique_ptr<ChangeStep>> steps;
    std::size_t at = 0;
    bool begun = false;  ///< the step `at`
    const ChangeRequest& wanted() const { return std::get<ChangeRequest>(request.message.body); }
  };

  bool machines_are_idle() const;
  bool is_idle() const { return !change_ && machines_are_idle(); }
  void put(ChangeRequest request, bool in_front);
  void begin();
  void lay_out_upgrade(const std::string& folder);
  void lay_out_reload();
  void lay_out_plan();
  void run(Clock::time_point now);
  void finish_step();
  bool something_stays() const;
  void adopt();
  void note_plan(const std::vector<std::string>& sources);
  void end(const std::string& error);
  void end_made(Change change);
  void end_as_it_was();
  void note_failed(const std::string& text) const;

  Plan& plan_;
  Fleet& fleet_;
  const History& history_;
  StateFile& state_;
  Means means_;
  Scaling scaling_;
  TableSwitch tables_;
  QueueScaling queues_;
  Upgrade upgrade_;
  ChangeGuard guard_;
  Autoscaling autoscaling_;
  RouteFollowing following_;
  std::deque<Received> row_;
  std::optional<Change> change_;
  Counts counts_;
};

}  // namespace millrace
