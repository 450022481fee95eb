// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/supervisor.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "io-worker/ports/port.hpp"
#include "orchestration/supervisor/leader_client.hpp"
#include "orchestration/supervisor/listen_check.hpp"
#include "orchestration/supervisor/programs.hpp"
#include "shared/base/check.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/patience.hpp"
#include "shared/base/process.hpp"
#include "shared/base/tcp_address.hpp"
#include "shared/config/loop.hpp"
#include "shared/config/plan_sources.hpp"
#include "shared/control/actor_control.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBusyTurn{20};  // entries become vacant without a word
constexpr milliseconds kQuietTurn{200};
constexpr std::size_t kEventsKept = 256;

UniqueFd stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  UniqueFd file(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!file) throw system_error("signalfd", errno);
  return file;
}

}  // namespace

Supervisor::Supervisor(Plan plan, SupervisorOptions options)
    : plan_(std::move(plan)),
      options_(std::move(options)),
      fleet_(plan_, {options_.folder, options_.run_dir, options_.limits},
             [this](Event event) { note(std::move(event)); }),
      signals_(stop_signals()) {
  refuse_foreign_dir(options_.run_dir);
  lock_.emplace(options_.run_dir);
  history_.emplace(options_.run_dir);
  changes_.emplace(
      plan_, fleet_, *history_,
      Changes::Means{
          .folder = options_.folder,
          .run_dir = options_.run_dir,
          .run_words = run_words(),
          .ask_drain =
              [this](std::uint32_t actor) {
                ask_leader<OkReply>(options_.run_dir, Drain{actor, true});
              },
          .is_ready = [this](std::uint32_t actor) { return ready_.contains(actor); },
          .forget_ready = [this](std::uint32_t actor) { ready_.erase(actor); },
          .tell = [this](const std::string& peer,
                         ControlBody body) { server_->send(peer, std::move(body)); },
          .reply = [this](const Received& request,
                          ControlBody body) { server_->reply(request, std::move(body)); },
          .note = [this](Event event) { note(std::move(event)); },
          .out_of_service = [this] { return out_of_service(); }});
  if (const auto other = find_namesake(options_.run_dir, plan_.name)) {
    remove_empty_run_dir(options_.run_dir);
    throw Error("topology '" + plan_.name + "' already runs in " + other->run_dir +
                ": a name may run once, as it names shared memory");
  }
}

Supervisor::~Supervisor() = default;

double Supervisor::seconds() const {
  return std::chrono::duration<double>(Clock::now() - began_).count();
}

void Supervisor::say(const std::string& what) const {
  if (options_.step && !what.empty()) options_.step(what, seconds());
}

void Supervisor::note(Event event) {
  if (options_.event) options_.event(event);
  append_to_log(options_.run_dir, "supervisor",
                event.time_ns != 0 ? event.time_ns : system_clock_ns(),
                event.kind + ": " + event.text);
  events_.push_back(std::move(event));
  if (events_.size() > kEventsKept) events_.pop_front();
  MILLRACE_CHECK(events_.size() <= kEventsKept);
}

void Supervisor::refuse_if_running() const {
  const std::size_t count = find_processes(options_.run_dir).size();
  if (count == 0) return;
  throw Error("topology '" + plan_.name + "' runs in " + options_.run_dir +
              " without supervisor (" + std::to_string(count) +
              " processes); take it over: millrace adopt " + run_words() +
              ", or end it: millrace down " + run_words());
}

void Supervisor::take_ports() {
  for (const PlanPort& port : plan_.ports) {
    const std::string done = take_port(port, options_.run_dir, is_in_use);
    if (!done.empty()) say("port " + port.name + ": " + done);
  }
}

void Supervisor::prepare_run_dir() {
  clean_run_dir(options_.run_dir, plan_.name, Keep::kNothing);
  make_run_dir(options_.run_dir);
  try {
    // Before tables are built: they may be of files that only the history has.
    if (!options_.last_run.empty()) plan_.generation = history_->resume(options_.last_run) + 1;
    save_plan(plan_, plan_path(options_.run_dir));
    say("run directory " + options_.run_dir);
    say(begin_bypassed_run(options_.run_dir, options_.bypass));
    take_ports();
    make_tables();
    history_->add(plan_, options_.what, system_clock_ns());
    server_ = std::make_unique<ControlServer>(options_.run_dir, kSupervisorEndpoint);
  } catch (const Error&) {
    clean_run_dir(options_.run_dir, plan_.name,
                  Keep::kLogs);  // what a builder said stays to be read
    say(end_bypassed_run(options_.run_dir));
    throw;
  }
}

void Supervisor::make_tables() {
  plan_.hash = hash_of_sources(plan_.sources);
  plan_.others.clear();  // of a plan that was saved in the middle of a change
  plan_.other_stages.clear();
  for (const TableReport& report : build_tables(plan_, options_.folder, options_.run_dir)) {
    say("table of " + report.function + ": " + std::to_string(report.accepted) + " entries, " +
        std::to_string(report.refused) + " refused");
    for (const std::string& refusal : report.refusals) say("  " + refusal);
    const auto at = std::ranges::find(plan_.functions, report.function, &PlanFunction::name);
    // Routes of the kernel come when its interfaces are there.
    if (report.accepted != 0 || (at != plan_.functions.end() && follows_kernel(*at))) continue;
    note({.severity = Severity::kWarning,
          .kind = "table_empty",
          .text = "table of " + report.function + " has no entries; were its files cut short, " +
                  "once they are whole: millrace reload " + run_words() + " " + report.function,
          .time_ns = system_clock_ns()});
  }
  save_plan(plan_, plan_path(options_.run_dir));
}

/// What can be told before anything is touched.
void Supervisor::check_start() const {
  refuse_if_running();
  check_listen("telemetry", plan_.telemetry_listen);
  if (!options_.control) return;
  remote_listen_of(*options_.control);
  check_listen("control", std::string(host_and_port(options_.control->address).value_or("")));
}

void Supervisor::start() {
  try {
    check_start();
    prepare_run_dir();
  } catch (const Error&) {
    remove_empty_run_dir(options_.run_dir);
    throw;
  }
  try {
    listen_by_tcp();
    start_hub();
    start_kind({ActorKind::kStandby}, "standby");
    start_kind({ActorKind::kEgress}, "egress");
    start_kind({ActorKind::kClassifier, ActorKind::kGpu}, "workers");
    start_events();
    start_kind({ActorKind::kIngress}, "ingress");
    wait_ready();
    start_routes();
    start_telemetry();
  } catch (const Error&) {
    stop();
    throw;
  }
  phase_ = "running";
  say("running: " + std::to_string(fleet_.process_count()) + " processes");
}

void Supervisor::listen_by_tcp() {
  if (!options_.control) return;
  allow_many_files();  // libzmq ends a process that strangers' connections leave none
  save_remote_control(options_.run_dir, *options_.control);
  const RemoteListen listen = remote_listen_of(*options_.control);
  const std::string address = server_->listen(listen);
  say("control: " + address + " for " + std::to_string(listen.clients.size()) + " keys");
}

/// Waits for something to happen and deals with it; restarts nothing.
void Supervisor::turn(milliseconds timeout) {
  std::vector<int> descriptors = fleet_.descriptors();
  descriptors.push_back(signals_.get());
  if (ports_ && ports_->descriptor() >= 0) descriptors.push_back(ports_->descriptor());
  if (changes_->descriptor() >= 0) descriptors.push_back(changes_->descriptor());
  if (const auto received = server_->receive(timeout, descriptors)) answer(*received);
  signalfd_siginfo signal{};
  if (::read(signals_.get(), &signal, sizeof signal) > 0) ending_ = true;
  note_refused();
  fleet_.reap();
}

void Supervisor::run() {
  watch_ports();
  while (!ending_) {
    const bool busy = fleet_.is_busy() || changes_->is_changing() || changes_->is_about_to_follow();
    turn(busy || options_.until_done ? kBusyTurn : kQuietTurn);
    if (options_.turn) options_.turn();
    fleet_.tend();
    ports_->tend(Clock::now());
    changes_->tend(phase_ == "running");
    balancing_.look(Clock::now());
    differs_ = config_.differs(plan_, Clock::now());
    tell_observers();
    if (!fleet_.post_of(ActorKind::kHub).seat().child) phase_ = "degraded";
    if (cannot_move_packets(fleet_.posts()) && load_bypass(options_.run_dir))
      return end_of_itself();
    if (options_.until_done && done()) {
      say("all input is read and nothing is in flight");
      take_audit();
      await_reasons();
      return;
    }
  }
}

/// No command waits for it: why it ended is to be found later.
void Supervisor::end_of_itself() {
  keep_ = Keep::kRecord;
  note({.severity = Severity::kError,
        .kind = "ended",
        .text =
            "packets cannot be moved any more: the bypass takes them; logs and history stay in " +
            options_.run_dir + " until the next `up` or `down`: millrace logs " + run_words(),
        .time_ns = system_clock_ns()});
}

/// Seen so several times in a row: counts of different lanes are not read at one moment.
bool Supervisor::done() {
  constexpr int kTurns = 5;
  const StatusSource* status = fleet_.status();
  const bool quiet = status != nullptr && status->all_exhausted() && status->in_flight() == 0;
  done_count_ = quiet ? done_count_ + 1 : 0;
  return done_count_ >= kTurns;
}

/// Slots and buffers return to their ingress a moment after their packets were counted.
void Supervisor::take_audit() {
  unread_ = unread_inputs(
      plan_, [&](std::uint32_t actor) { return fleet_.status()->receive_errors(actor); });
  Patience patience(milliseconds(2000));
  do {
    audit_ = ask_leader<AuditReply>(options_.run_dir, AuditRequest{});
    if (audit_->exact && audit_->quiet) return;
    turn(kBusyTurn);
  } while (!patience.is_over());
}

/// Why a capture was not read whole is on its way.
void Supervisor::await_reasons() {
  Patience patience(milliseconds(2000));
  const auto told = [&](const UnreadInput& input) {
    return std::ranges::any_of(events_, [&](const Event& event) {
      return event.kind == kPortTrouble && event.text.starts_with("port '" + input.port + "'");
    });
  };
  while (!std::ranges::all_of(unread_, told) && !patience.is_over()) turn(kBusyTurn);
}

void Supervisor::drain_flight() {
  Patience patience(milliseconds(5000));
  while (fleet_.status() != nullptr && fleet_.status()->in_flight() != 0 && !patience.is_over()) {
    turn(kBusyTurn);
    fleet_.tend();
  }
}

/// Loops are read on until what the other ports have brought has left, or drain_flight() has waited
/// long enough: some of it may go round for ever.
void Supervisor::stop_sources(milliseconds grace) {
  const auto is_loops = [&](const Post& post) {
    const std::uint32_t actor = post.seats.front().actor;
    return !plan_.fused && is_loop(plan_.ports[plan_.streams[plan_.actors[actor].index].port]);
  };
  for (const bool loops : {false, true}) {
    if (loops && !has_loop(plan_)) break;
    fleet_.stop(
        [&](const Post& post) {
          return post.kind == ActorKind::kIngress && is_loops(post) == loops;
        },
        grace);
    drain_flight();
  }
  say("ingress stopped");
}

void Supervisor::stop() {
  ports_.reset();
  constexpr milliseconds kGrace{5000};
  const bool ran = phase_ != "starting";
  phase_ = "stopping";
  note_stopping(options_.run_dir);
  const auto stop_kinds = [&](std::initializer_list<ActorKind> kinds, const char* what) {
    fleet_.stop(
        [&](const Post& post) {
          return post.kind && std::find(kinds.begin(), kinds.end(), *post.kind) != kinds.end();
        },
        kGrace);
    say(std::string(what) + " stopped");
  };
  // Nothing waits for it, and it takes its time.
  Post& telemetry = fleet_.posts().back();
  telemetry.wish = Wish::kDown;
  if (telemetry.seat().child) telemetry.seat().child->signal(SIGTERM);
  stop_sources(kGrace);
  if (options_.until_done && !audit_ && fleet_.status() != nullptr) take_audit();
  stop_kinds({ActorKind::kClassifier, ActorKind::kGpu}, "workers");
  stop_kinds({ActorKind::kEgress}, "egress");
  // Before the hub: else it would take over for a moment.
  stop_kinds({ActorKind::kStandby}, "standby");
  stop_kinds({ActorKind::kHub}, "hub");
  fleet_.stop([](const Post&) { return true; }, kGrace);
  server_.reset();  // its socket lies there
  clean_run_dir(options_.run_dir, plan_.name, ran ? keep_ : Keep::kLogs);
  // Before the lock goes: what waits for our end looks at the bypass next, or turns it off.
  say(end_bypassed_run(options_.run_dir));
  if (ran) remove_empty_run_dir(options_.run_dir);
  say("stopped");
}

}  // namespace millrace
