// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/supervisor.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "io-worker/ports/port.hpp"
#include "orchestration/planner/plan_sources.hpp"
#include "orchestration/supervisor/leader_client.hpp"
#include "orchestration/supervisor/listen_check.hpp"
#include "orchestration/supervisor/programs.hpp"
#include "orchestration/supervisor/reopening.hpp"
#include "orchestration/supervisor/start_order.hpp"
#include "orchestration/supervisor/status_report.hpp"
#include "orchestration/supervisor/stop_order.hpp"
#include "orchestration/supervisor/table_losses.hpp"
#include "orchestration/supervisor/takeover.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/process.hpp"
#include "shared/base/tcp_address.hpp"
#include "shared/config/plan_settings.hpp"
#include "shared/control/actor_control.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBusyTurn{20};  // entries become vacant without a word
constexpr milliseconds kQuietTurn{200};
constexpr std::size_t kEventsShown = 20;  // in a reply

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
      events_(options_.run_dir, options_.event),
      fleet_(plan_, {options_.folder, options_.run_dir, options_.limits},
             [this](Event event) { note(std::move(event)); }),
      state_(options_.run_dir),
      observers_(plan_, fleet_, state_, options_.run_dir, run_words(),
                 [this](Event event) { note(std::move(event)); }),
      input_(plan_, fleet_, options_.run_dir,
             {.turn = [this](milliseconds timeout) { turn(timeout); },
              .is_told = [this](const std::string& port) { return events_.has_trouble_of(port); }}),
      signals_(stop_signals()) {
  refuse_foreign_dir(options_.run_dir);
  lock_.emplace(options_.run_dir);
  history_.emplace(options_.run_dir);
  changes_.emplace(
      plan_, fleet_, *history_, state_,
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
          .out_of_service = [this] { return out_of_service(plan_, fleet_); }});
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

void Supervisor::refuse_if_running() const {
  const std::size_t count = find_processes(options_.run_dir).size();
  if (count == 0) return;
  throw Error("topology '" + plan_.name + "' runs in " + options_.run_dir +
              " without supervisor (" + std::to_string(count) +
              " processes); take it over: millrace adopt " + run_words() +
              ", or end it: millrace down " + run_words());
}

void Supervisor::take_ports() {
  if (const auto stacked = stacked_ports(plan_.ports)) throw Error(stacked->trouble);
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
  const auto reports = build_tables(plan_, options_.folder, options_.run_dir);
  note_tables(state_, reports);
  for (const TableReport& report : reports) {
    say("table of " + report.function + ": " + std::to_string(report.accepted) + " entries, " +
        std::to_string(report.refused) + " refused");
    for (const std::string& refusal : report.refusals) say("  " + refusal);
    const std::string empty = what_is_empty(report, plan_);
    if (empty.empty()) continue;
    note({.severity = Severity::kWarning,
          .kind = "table_empty",
          .text = empty + "; were its files cut short, once they are whole: millrace reload " +
                  run_words() + " " + report.function});
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
    StartOrder(plan_, fleet_, options_.run_dir,
               {.turn = [this](milliseconds timeout) { turn(timeout); },
                .is_ending = [this] { return ending_; },
                .is_ready = [this](std::uint32_t actor) { return ready_.contains(actor); },
                .say = [this](const std::string& what) { say(what); }})
        .run();
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
  state_.change([&](RunState& state) { state.control = options_.control; });
  const RemoteListen listen = remote_listen_of(*options_.control);
  const std::string address = server_->listen(listen);
  say("control: " + address + " for " + std::to_string(listen.clients.size()) + " keys");
}

/// The processes of a supervisor that has gone.
void Supervisor::take_over() {
  const std::vector<FoundProcess> found = processes_to_take_over(plan_, options_.run_dir);
  server_ = std::make_unique<ControlServer>(options_.run_dir, kSupervisorEndpoint);
  observers_.resume();
  take_over_processes(plan_, fleet_, state_.now().posts, found);
}

void Supervisor::adopt() {
  const bool was_ready = std::filesystem::exists(hub_ready_path(options_.run_dir));
  if (!was_ready && !find_processes(options_.run_dir).empty()) {
    throw Error("topology '" + plan_.name +
                "' lost its supervisor while it started; end it: millrace down " + run_words());
  }
  refuse_older_build(options_.run_dir);
  state_.resume();
  if (was_ready) fleet_.attach_status();
  take_over();
  if (!take_over_segment(plan_, fleet_, options_.run_dir)) {
    note({.severity = Severity::kError,
          .kind = "planned_restart_needed",
          .text = "no process hands the segment over: none can be started again; plan a restart"});
  }
  let_unwanted_drain(fleet_);
  // One that died over stopping it is not followed.
  state_.keep([](RunState& state) { state.stopping = false; });
  const bool has_hub = fleet_.post_of(ActorKind::kHub).seat().child.has_value();
  phase_ = has_hub ? "running" : "degraded";
  changes_->resume();
  try {
    options_.control = state_.now().control;
    listen_by_tcp();
  } catch (const Error& error) {  // its traffic goes on all the same
    note({.severity = Severity::kError, .kind = "control_closed", .text = error.what()});
  }
  say("taken over: " + std::to_string(fleet_.process_count()) + " processes");
}

void Supervisor::adopt_to_stop() {
  say(state_.try_resume());  // what it says is not needed to stop
  if (std::filesystem::exists(hub_ready_path(options_.run_dir))) fleet_.attach_status();
  take_over();
  phase_ = "running";
}

void Supervisor::watch_ports() {
  ports_.emplace(
      plan_, options_.run_dir, is_in_use,
      PortWatch::Hooks{
          [this](Event event) { note(std::move(event)); },
          [this](std::uint32_t port) { reopen_ingresses(plan_, fleet_, options_.run_dir, port); },
          [this](const std::string& from, const std::string& to) { follow_name(from, to); }});
}

void Supervisor::follow_name(const std::string& from, const std::string& to) {
  try {
    rename_in_bypass(options_.run_dir, from, to);
  } catch (const Error& error) {
    note({.severity = Severity::kError,
          .kind = "bypass_not_noted",
          .text = "the bypass will not find " + to + ", which was " + from + ": " + error.what()});
  }
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
  observers_.tend_refused(server_->refused_count());
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
    observers_.tend(*changes_, differs_);
    if (!fleet_.post_of(ActorKind::kHub).seat().child) phase_ = "degraded";
    if (cannot_move_packets(fleet_.posts()) && load_bypass(options_.run_dir))
      return end_of_itself();
    if (options_.until_done && input_.is_reached()) {
      say("all input is read and nothing is in flight");
      input_.take_audit();
      input_.await_reasons();
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
            options_.run_dir + " until the next `up` or `down`: millrace logs " + run_words()});
}

void Supervisor::stop() {
  ports_.reset();
  const bool ran = phase_ != "starting";
  phase_ = "stopping";
  state_.keep([](RunState& state) { state.stopping = true; });
  StopOrder order(plan_, fleet_,
                  {.turn = [this](milliseconds timeout) { turn(timeout); },
                   .say = [this](const std::string& what) { say(what); }});
  order.stop_sources();
  if (options_.until_done && !input_.audit() && fleet_.status() != nullptr) input_.take_audit();
  order.stop_rest();
  server_.reset();  // its socket lies there
  clean_run_dir(options_.run_dir, plan_.name, ran ? keep_ : Keep::kLogs);
  // Before the lock goes: what waits for our end looks at the bypass next, or turns it off.
  say(end_bypassed_run(options_.run_dir));
  if (ran) remove_empty_run_dir(options_.run_dir);
  say("stopped");
}

void Supervisor::answer(const Received& received) {
  const ControlBody& body = received.message.body;
  if (std::holds_alternative<StatusRequest>(body)) {
    server_->reply(received, status_reply());
  } else if (std::holds_alternative<DownRequest>(body)) {
    ending_ = true;
    server_->reply(received, OkReply{});
  } else if (std::holds_alternative<ConfirmRequest>(body)) {
    changes_->confirm(received);
  } else if (std::holds_alternative<ChangeRequest>(body)) {
    answer_change(received);
  } else if (std::holds_alternative<AuditRequest>(body) && received.remote) {
    answer_audit(received);
  } else if (const auto* event = std::get_if<Event>(&body)) {
    if (event->kind == kPlanRefused && event->actor < plan_.actors.size()) {
      changes_->refused(plan_.actors[event->actor].name, static_cast<std::uint32_t>(event->number),
                        event->text);
    }
    note(*event);
  } else if (const auto* ready = std::get_if<Ready>(&body)) {
    ready_.insert(ready->actor);
  } else if (received.message.id != 0) {
    server_->reply(received, ErrorReply{std::string("`") + message_name(body) +
                                        "` is not for the supervisor"});
  }
}

void Supervisor::answer_change(const Received& received) {
  const auto& wanted = std::get<ChangeRequest>(received.message.body);
  if (received.remote && !(wanted.plan.empty() && wanted.upgrade.empty())) {
    server_->reply(received, ErrorReply{"what reads files of the host (apply, rollback, upgrade) "
                                        "is asked for there; by TCP: scale, reload, confirm"});
  } else if (phase_ == "starting" || phase_ == "stopping") {
    server_->reply(received, ErrorReply{"the topology is " + phase_});
  } else {
    changes_->ask(received);
  }
}

/// Requests by TCP do not reach the leader.
void Supervisor::answer_audit(const Received& received) {
  constexpr LeaderLimits kLimits{.there = std::chrono::milliseconds(1000),
                                 .answer = std::chrono::milliseconds(2000)};
  try {
    server_->reply(received, ask_leader<AuditReply>(options_.run_dir, AuditRequest{}, kLimits));
  } catch (const Error& error) {
    server_->reply(received, ErrorReply{error.what()});
  }
}

StatusReply Supervisor::status_reply() const {
  StatusReply reply = status_report(plan_, fleet_);
  reply.phase = phase_;
  reply.run_dir = options_.run_dir;
  reply.up_ns = static_cast<std::uint64_t>((Clock::now() - began_) / std::chrono::nanoseconds(1));
  reply.offload = balancing_.shares();
  reply.differs = differs_;
  reply.confirm_seconds = changes_->guard().confirm_seconds();
  reply.taking_back = changes_->guard().way_back_text();
  reply.events = events_.latest(kEventsShown);
  return reply;
}

}  // namespace millrace
