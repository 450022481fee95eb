// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/control/actor_process.hpp"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>

#include "shared/actor/enrol.hpp"
#include "shared/actor/own_faults.hpp"
#include "shared/base/check.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/say.hpp"
#include "shared/control/build_id.hpp"
#include "shared/control/build_layout.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/process_rights.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kEnrolLimitNs = 30'000'000'000;
constexpr int kNodeNumberMax = 1023;  ///< of NUMA nodes

// Signals reach a process, not an object: the one exception to no globals.
std::atomic<bool> g_stop_signalled{false};
std::atomic<ActorControl*> g_control{nullptr};

void on_stop_signal(int) {
  g_stop_signalled = true;
  if (ActorControl* control = g_control.load()) control->request_stop();
}

void take_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

/// A successor, until it is the actor, dies with the supervisor that started it: the next one does
/// not know of it, and would start another.
void die_with_parent(bool wish) { prctl(PR_SET_PDEATHSIG, wish ? SIGKILL : 0, 0, 0, 0); }

/// To its core, or to those of its NUMA node.
void bind_to_cores(const Plan& plan, const PlanActor& actor) {
  prctl(PR_SET_NAME, actor.name.c_str(), 0, 0, 0);
  if (actor.core < 0 && actor.node < 0) return;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (actor.core >= 0) CPU_SET(actor.core, &cores);
  for (const PlanNode& node : plan.nodes) {
    if (actor.core >= 0 || actor.node != static_cast<int>(node.number)) continue;
    for (const std::uint32_t core : node.cores) CPU_SET(core, &cores);
  }
  if (sched_setaffinity(0, sizeof cores, &cores) == 0) return;
  throw system_error("bind " + actor.name + " to " +
                         (actor.core >= 0 ? "core " + std::to_string(actor.core)
                                          : "the cores of node " + std::to_string(actor.node)),
                     errno);
}

/// Pages that this process takes come from that node while it has any; -1: as the kernel likes.
void prefer_memory_of(int node) {
  std::uint64_t nodes[kNodeNumberMax / 64 + 1] = {};
  if (node >= 0 && node < kNodeNumberMax) nodes[node / 64] = std::uint64_t{1} << node % 64;
  // Where the kernel knows nothing of nodes the segment lies well anywhere.
  static_cast<void>(syscall(SYS_set_mempolicy, node < 0 ? MPOL_DEFAULT : MPOL_PREFERRED,
                            node < 0 ? nullptr : nodes, node < 0 ? 0 : kNodeNumberMax + 1));
}

void add_run_dir(CLI::App& app, std::string& run_dir) {
  app.add_option("--run-dir", run_dir, "Run directory of the topology, with plan.bin")->required();
}

/// Ends the process where the arguments are wrong, or ask for help.
void parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
}

}  // namespace

std::string run_dir_argument(int argc, char** argv, const char* about) {
  CLI::App app{about};
  std::string run_dir;
  add_run_dir(app, run_dir);
  parse(app, argc, argv);
  return run_dir;
}

std::string waiting_path(const std::string& run_dir, std::uint32_t actor) {
  return run_dir + "/waiting." + std::to_string(actor);
}

ActorProcess::ActorProcess(int argc, char** argv, const char* about) {
  CLI::App app{about};
  std::uint32_t number = 0;
  add_run_dir(app, run_dir_);
  app.add_option("--actor", number, "Number of the actor in the plan")->required();
  app.add_flag("--successor", successor_,
               "Wait for the end of the process that plays the actor, then play it");
  bool layout = false;
  app.add_flag("--layout", layout, "Print this build's memory layout for the plan, and end");
  parse(app, argc, argv);
  if (successor_) die_with_parent(true);
  plan_ = load_plan(plan_path(run_dir_));
  if (number >= plan_.actors.size()) {
    throw Error("the plan has no actor " + std::to_string(number) + "; allowed: 0.." +
                std::to_string(plan_.actors.size() - 1));
  }
  if (layout) {
    std::puts(to_text(layout_of_build(plan_)).c_str());
    std::exit(0);
  }
  context_.plan = &plan_;
  context_.me.actor = static_cast<std::uint16_t>(number);
  context_.watch = &watch_;
  take_signals();
  bind_to_cores(plan_, actor());
  if (actor().kind == ActorKind::kHub && !successor_) {
    create_shared_memory();
  } else {
    attach_shared_memory();
  }
}

void ActorProcess::create_shared_memory() {
  const SegmentLayout layout = segment_layout(plan_);
  if (plan_.memory_node >= 0) prefer_memory_of(plan_.memory_node);
  segment_ = Mapping::create_segment(kSegmentFd, layout.bytes);
  if (plan_.memory_node >= 0) prefer_memory_of(-1);
  MILLRACE_CHECK(segment_.bytes() >= layout.bytes);
  context_.segment = SegmentView::create(segment_.base(), plan_);
  status_ = Mapping::create_status(status_file_name(plan_.name), status_layout(plan_).bytes);
  context_.status = StatusView::create(status_.base(), plan_, measure_tsc_hz());
  save_layout(layout_of_build(plan_), run_dir_);
}

void ActorProcess::attach_shared_memory() {
  segment_ = Mapping::attach_segment(kSegmentFd);
  context_.segment = SegmentView::attach(segment_.base(), segment_.bytes(), plan_);
  status_ = Mapping::attach_status(status_file_name(plan_.name), true);
  context_.status = StatusView::attach(status_.base(), status_.bytes(), plan_);
}

ActorProcess::~ActorProcess() { g_control = nullptr; }

bool ActorProcess::restarted() const {
  return context_.my_entry().incarnation.load() > context_.me.incarnation;
}

void ActorProcess::say_that_it_waits() const {
  if (!successor_) return;
  die_with_parent(true);  // again: with rights that were given up it may be forgotten
  std::ofstream file(waiting_path(run_dir_, context_.me.actor));
  file << getpid() << '\n' << std::flush;
  if (!file) throw Error("cannot write " + waiting_path(run_dir_, context_.me.actor));
}

/// For observers: which build plays the actor.
void ActorProcess::note_build(std::uint32_t actor) const {
  context_.status.actor_tally(actor).build.store(build_number(build_id()));
}

void ActorProcess::enrol() {
  MILLRACE_CHECK(context_.me.incarnation == 0);  // a process plays its actor once
  say_that_it_waits();
  const auto give_up = [] { return g_stop_signalled.load(); };
  if (actor().kind == ActorKind::kHub) {
    context_.me = enrol_hub(plan_, context_.status, successor_ ? kEnrolLimitNs : 0, give_up);
  } else {
    context_.me =
        millrace::enrol(plan_, context_.status, context_.me.actor, kEnrolLimitNs, give_up);
  }
  die_with_parent(false);
  note_own_faults(context_.my_entry(), context_.me.incarnation);
  note_build(context_.me.actor);
}

ActorContext ActorProcess::enrol_as(std::uint32_t actor, std::span<const ActorContext> enrolled) {
  MILLRACE_CHECK(actor < plan_.actors.size());
  const auto beat_and_ask = [&] {
    for (const ActorContext& other : enrolled) {
      ActorEntry& entry = other.my_entry();
      entry.heartbeat_tsc.store(tsc_now(), std::memory_order_relaxed);
      // It touches nothing yet, and will look at the roster before it does.
      entry.acked_epoch.store(other.status.header().epoch.load(), std::memory_order_release);
    }
    return g_stop_signalled.load();
  };
  if (enrolled.empty()) say_that_it_waits();
  ActorContext context = context_;
  context.me = millrace::enrol(plan_, context_.status, actor, kEnrolLimitNs, beat_and_ask);
  die_with_parent(false);
  note_own_faults(context.my_entry(), context.me.incarnation);
  note_build(actor);
  return context;
}

void ActorProcess::give_up_rights() {
  if (gave_up_rights_) return;
  give_up_capabilities(capabilities_of(plan_, actor()), run_dir_);
  gave_up_rights_ = true;
}

void ActorProcess::filter_calls() { filter_system_calls(system_calls_of(plan_, actor())); }

void ActorProcess::follow_signals(ActorControl& control) {
  MILLRACE_CHECK(g_control.load() == nullptr);  // signals have one place to go to
  g_control = &control;
  if (g_stop_signalled) control.request_stop();
}

/// An actor with a core for itself shares it with none: the control thread may have tables to load.
void ActorProcess::start_control(const Owner& me, std::vector<PlanFollower*> followers) {
  MILLRACE_CHECK(!control_ && me.incarnation != 0);
  control_ = std::make_unique<ActorControl>(run_dir_, me.actor, &watch_, std::move(followers));
  if (actor().core >= 0) control_->keep_to(cores_of_nobody(plan_));
  follow_signals(*control_);
}

void ActorProcess::run(Actor& actor, PlanFollower* follower, const std::string& remark) {
  give_up_rights();
  watch_.serve(plan_.name, static_cast<std::uint32_t>(plan_.actors.size()), context_.me.actor,
               context_.me.incarnation);
  std::vector<PlanFollower*> followers;
  if (follower != nullptr) followers.push_back(follower);
  start_control(context_.me, std::move(followers));
  filter_calls();
  control_->set_ready();
  if (!remark.empty()) {
    say(plan_.actors[context_.me.actor].name, remark);
    control_->post_event(Severity::kInfo, "port", remark);
  }
  RunLoop(context_, actor, control_->stop_flag()).run();
  note_end(context_);
  g_control = nullptr;
  control_.reset();  // its thread calls what ends before this process does
}

void ActorProcess::warn_of_port(std::string_view text) noexcept {
  if (control_) control_->post_event(Severity::kWarning, kPortTrouble, text);
}

void ActorProcess::run_fused(std::span<const FusedLoop::Member> members,
                             std::vector<PlanFollower*> followers) {
  MILLRACE_CHECK(!members.empty());
  give_up_rights();
  for (const FusedLoop::Member& member : members) {
    watch_.serve(plan_.name, static_cast<std::uint32_t>(plan_.actors.size()),
                 member.context.me.actor, member.context.me.incarnation);
  }
  start_control(members.front().context.me, std::move(followers));
  filter_calls();
  control_->set_ready();
  FusedLoop(members, control_->stop_flag()).run();
  for (const FusedLoop::Member& member : members) note_end(member.context);
  g_control = nullptr;
  control_.reset();  // its thread calls what ends before this process does
}

int main_of(const char* program, void (*body)(int, char**), int argc, char** argv) {
  try {
    body(argc, argv);
    return 0;
  } catch (const Error& error) {
    say(program, error.what());
    return 1;
  }
}

}  // namespace millrace
