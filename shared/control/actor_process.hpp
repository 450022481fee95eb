// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "shared/actor/context.hpp"
#include "shared/actor/fused_loop.hpp"
#include "shared/actor/run_loop.hpp"
#include "shared/control/actor_control.hpp"
#include "shared/control/run_files.hpp"
#include "shared/layout/mapping.hpp"

/// What all actor processes do alike: arguments, plan, shared memory, signals, enrolment, control
/// thread, run loop. main() is then the wiring of what is particular.

namespace millrace {

class ActorProcess {
 public:
  /// Parses `--run-dir DIR --actor N` (and --help with `about`), loads DIR/plan.bin, attaches to
  /// segment and status file (the hub makes them), binds to the actor's core, takes SIGTERM and
  /// SIGINT. Throws Error that says what it awaited; exits by itself for --help and bad usage.
  /// `--layout`: prints this build's layout for the plan (build_layout.hpp) and exits, attached to
  /// nothing. `--successor`: another process plays the actor; enrol() waits for its end, and says
  /// so by the file waiting_path(). A hub that succeeds another one attaches as all others do.
  ActorProcess(int argc, char** argv, const char* about);
  ~ActorProcess();

  const Plan& plan() const { return plan_; }
  const PlanActor& actor() const { return plan_.actors[context_.me.actor]; }
  const std::string& run_dir() const { return run_dir_; }
  /// `me.incarnation` is 0 before enrol().
  const ActorContext& context() const { return context_; }
  bool succeeds() const { return successor_; }
  /// Before enrol(): true when an earlier process was this actor.
  bool restarted() const;

  /// Takes the actor's place; from here on rings may be touched. The hub, to which none grants
  /// anything, is alive at once.
  void enrol();
  /// For a process of several actors: takes the place of `actor`, while those that have one already
  /// go on saying that they live.
  ActorContext enrol_as(std::uint32_t actor, std::span<const ActorContext> enrolled);
  /// Set up: nothing but what its kind keeps from here on (process_rights.hpp). run() and
  /// run_fused() do so themselves; a main that starts threads before them calls it before those.
  /// Throws Error when the run directory is out of reach then.
  void give_up_rights();
  /// The last step before packets: system calls that its kind has no use for are refused, in all
  /// threads (shared/base/system_calls.hpp). run() and run_fused() do so themselves.
  void filter_calls();
  /// Stop signals reach `control` from now on (run() does so itself).
  void follow_signals(ActorControl& control);
  /// After enrol(): starts the control thread and runs the actor until it has finished after a
  /// stop. `remark`: an event for the others and a line of the log, unless it is empty.
  /// `follower`: whose tables may change meanwhile; null: none.
  void run(Actor& actor, PlanFollower* follower = nullptr, const std::string& remark = {});
  /// From the data thread, while it runs: an event of kind kPortTrouble. Never blocks.
  void warn_of_port(std::string_view text) noexcept;
  /// The same for several on this thread, in the order of the path.
  void run_fused(std::span<const FusedLoop::Member> members, std::vector<PlanFollower*> followers);

 private:
  void start_control(const Owner& me, std::vector<PlanFollower*> followers);
  void say_that_it_waits() const;
  void note_build(std::uint32_t actor) const;
  void create_shared_memory();
  void attach_shared_memory();

  Plan plan_;
  std::string run_dir_;
  bool successor_ = false;
  Mapping segment_;
  Mapping status_;
  WatchPoint watch_;
  ActorContext context_;
  bool gave_up_rights_ = false;
  std::unique_ptr<ActorControl> control_;
};

/// Made by a successor of `actor` when nothing keeps it but the one that plays the actor still;
/// the one that starts the successor removes it before.
std::string waiting_path(const std::string& run_dir, std::uint32_t actor);

/// The one argument of a process beside the path, --run-dir. `about`: for --help. Ends the process
/// with status 2 when it is missing or another one is there, with 0 after --help.
std::string run_dir_argument(int argc, char** argv, const char* about);

/// Runs `body`; an Error is printed as "<program>: <text>" and gives exit status 1.
int main_of(const char* program, void (*body)(int, char**), int argc, char** argv);

}  // namespace millrace
