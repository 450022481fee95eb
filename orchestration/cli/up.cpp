// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/detach.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/cli/topology_file.hpp"
#include "orchestration/supervisor/last_run.hpp"
#include "orchestration/supervisor/programs.hpp"
#include "orchestration/supervisor/service_manager.hpp"
#include "orchestration/supervisor/supervisor.hpp"
#include "shared/base/run_words.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"
#include "shared/control/run_state.hpp"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

struct UpOptions {
  std::string file;  ///< of `up`
  std::string name;  ///< of `adopt`
  std::string run_dir;
  std::string last_run;  ///< of a planned restart, and what its history says of it
  std::string what = "start";
  bool detach = false;
  bool until_done = false;
  bool json = false;
  std::uint32_t restarts_max = RestartLimits{}.count_max;
  std::uint32_t restart_delay_ms = 0;  ///< 0: as RestartLimits has it
};

/// Blocked before any thread starts; the supervisor reads them from a descriptor.
void block_stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  struct sigaction action {};
  ::sigaction(SIGHUP, nullptr, &action);
  // The terminal has gone: as Ctrl-C. With nohup it is nothing to us.
  if (action.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);
  action = {};
  action.sa_handler = SIG_IGN;  // the reader of what we say has gone: no reason to end too
  ::sigaction(SIGPIPE, &action, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

/// All input was read, and every packet is accounted for.
bool is_well(const AuditReply* audit, const std::vector<UnreadInput>& unread) {
  return unread.empty() && (audit == nullptr || (audit->exact && audit->quiet));
}

/// What is shown while a topology starts, runs and ends; for JSON, kept for the end.
class Story {
 public:
  explicit Story(bool json) : json_(json) {}
  void step(const std::string& what, double seconds) {
    if (json_) {
      steps_.push_back({{"seconds", seconds}, {"text", what}});
      return;
    }
    char time[32];
    std::snprintf(time, sizeof time, "%9.3f s  ", seconds);
    std::cout << time << what << '\n' << std::flush;
  }
  void event(const Event& event) const {
    if (!json_)
      std::cout << "             " << event.kind << ": " << event.text << '\n' << std::flush;
  }
  void print(const Plan& plan, const std::string& run_dir, const AuditReply* audit,
             const std::vector<UnreadInput>& unread) const {
    if (!json_) {
      if (audit != nullptr) std::cout << '\n' << audit_text(*audit, wants_colour(STDOUT_FILENO));
      for (const UnreadInput& input : unread) {
        std::cout << "not read whole: " << input.path << " of port '" << input.port << "'\n";
      }
      return;
    }
    Json files = Json::array();
    for (const UnreadInput& input : unread) files.push_back(input.path);
    Json json = {{"ok", is_well(audit, unread)},
                 {"topology", plan.name},
                 {"run_dir", run_dir},
                 {"pid", ::getpid()},
                 {"steps", steps_},
                 {"not_read_whole", files}};
    if (audit != nullptr) json["audit"] = audit_json(*audit);
    std::cout << json_text(json) << '\n' << std::flush;
  }

 private:
  bool json_;
  Json steps_ = Json::array();
};

struct Task {
  Plan plan;
  std::string run_dir;
  bool take_over = false;        ///< it runs, without a supervisor
  std::optional<Bypass> bypass;  ///< of a start
  std::optional<RemoteControl> control;
};

bool runs_alone(const std::string& run_dir) {
  return SupervisorLock::holder(run_dir) == 0 && !find_processes(run_dir).empty();
}

Task task_of_adopt(const UpOptions& options) {
  const std::string run_dir = running_dir({.name = options.name, .run_dir = options.run_dir});
  return {load_plan(plan_path(run_dir)), run_dir, true};
}

/// A service manager has one command for the first start and for a supervisor that died. Then what
/// runs counts, whatever its file says by now: `millrace plan --diff` and `status` tell the rest.
bool takes_over(const UpOptions& options, bool served) {
  return served && !options.until_done && !options.run_dir.empty() && runs_alone(options.run_dir);
}

Task task_of_takeover(const std::string& given) {
  Plan plan = load_plan(plan_path(given));
  const std::string run_dir = run_dir_of(plan.name, given);
  return {std::move(plan), run_dir, true};
}

Task task_of_up(const UpOptions& options) {
  if (options.file.ends_with(".plan")) {
    Plan plan = load_plan(options.file);
    plan.others.clear();
    plan.generation = 1;
    const std::string run_dir = run_dir_of(plan.name, options.run_dir);
    if (options.last_run.empty()) return {std::move(plan), run_dir};
    return {std::move(plan), run_dir, false, bypass_of_last_run(options.last_run),
            load_run_state(options.last_run).control};
  }
  TopologyFile file = read_topology_file(options.file, this_host());
  const std::string run_dir = run_dir_of(file.plan.name, options.run_dir);
  if (runs_alone(run_dir) && !options.until_done) {
    Plan running = load_plan(plan_path(run_dir));
    if (plans_the_same(file, running, run_dir)) return {std::move(running), run_dir, true};
    const std::string run = words_for_run(file.plan.name, run_dir);
    throw Error("topology '" + file.plan.name + "' runs in " + run_dir +
                " without supervisor, and " + options.file +
                " says something else; take over what runs: millrace adopt " + run +
                ", or end it: millrace down " + run);
  }
  print_warnings(file.topology);
  return {std::move(file.plan), run_dir, false, bypass_of(file.topology),
          remote_control_of(file.topology)};
}

/// `running` is called once everything runs. Returns the exit status.
int up(const UpOptions& options, const std::function<void()>& running) {
  block_stop_signals();
  ServiceManager service;
  Story story(options.json);
  Task task = options.file.empty()                     ? task_of_adopt(options)
              : takes_over(options, service.listens()) ? task_of_takeover(options.run_dir)
                                                       : task_of_up(options);
  const std::string& run_dir = task.run_dir;
  SupervisorOptions how{.run_dir = run_dir,
                        .bypass = task.bypass,
                        .control = task.control,
                        .folder = executable_folder(),
                        .last_run = options.last_run,
                        .what = options.what,
                        .until_done = options.until_done};
  how.limits.count_max = options.restarts_max;
  if (options.restart_delay_ms != 0) {
    how.limits.first_delay = how.limits.delay_max =
        std::chrono::milliseconds(options.restart_delay_ms);
  }
  how.step = [&](const std::string& what, double seconds) { story.step(what, seconds); };
  how.event = [&](const Event& event) { story.event(event); };
  how.turn = [&] { service.alive(); };
  if (options.run_dir.empty() && remove_dead_beside(run_dir) != 0) {
    how.step("removed what killed topologies had left", 0);
  }
  Supervisor supervisor(std::move(task.plan), how);
  if (task.take_over) {
    supervisor.adopt();
  } else {
    supervisor.start();
  }
  if (options.detach) story.print(supervisor.plan(), run_dir, nullptr, {});
  running();
  service.ready(supervisor.plan().name + ": " + std::to_string(supervisor.plan().actors.size()) +
                " actors in " + run_dir);
  supervisor.run();
  service.stopping();
  supervisor.stop();
  const AuditReply* audit = supervisor.audit() ? &*supervisor.audit() : nullptr;
  if (!options.detach) story.print(supervisor.plan(), run_dir, audit, supervisor.unread());
  return is_well(audit, supervisor.unread()) ? 0 : kExitInvalid;
}

void run_up(const UpOptions& options) {
  const Format format = options.json ? Format::kJson : Format::kText;
  int status = 0;
  if (options.detach) {
    status = run_detached([&](Starter& starter) {
      return status_of_command(format, [&] { return up(options, [&] { starter.running(); }); });
    });
  } else {
    run_command(format, [&] { status = up(options, [] {}); });
  }
  if (status != 0) throw CLI::RuntimeError(status);
}

void add_shared_options(CLI::App& command, UpOptions& options) {
  command.add_option(
      "--run-dir", options.run_dir,
      "run directory; default: /run/millrace/NAME or $XDG_RUNTIME_DIR/millrace/NAME");
  command.add_flag("--detach", options.detach, "return when the topology runs");
  command.add_option("--restarts", options.restarts_max,
                     "give a worker up after N restarts in a minute, or N in a row of a worker "
                     "that ends at once");
  command
      .add_option("--restart-delay", options.restart_delay_ms,
                  "wait N ms before each restart of a worker; default: from 50 to 5000, doubled "
                  "while it ends soon")
      ->check(CLI::Range(1, 60'000));
  command.add_flag("--json", options.json,
                   "print steps and audit, or the refusal, as JSON at the end");
}

}  // namespace

void add_up(CLI::App& app) {
  CLI::App* command = app.add_subcommand("up", "run a topology; Ctrl-C or `millrace down` ends it");
  auto options = std::make_shared<UpOptions>();
  command->add_option("file", options->file, "the topology, YAML; or a plan that `history` kept")
      ->required();
  add_shared_options(*command, *options);
  command->add_flag("--until-done", options->until_done,
                    "end by itself when all input is read and nothing is in flight, and print "
                    "the audit; status 1 when it is not exact or a capture was not read whole");
  // What `apply --restart` and `rollback --restart` say to it; in no help.
  command->add_option("--last-run", options->last_run)->group("");
  command->add_option("--what", options->what)->group("");
  command->callback([options] { run_up(*options); });
}

void add_adopt(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "adopt", "supervise a running topology whose supervisor has gone; its traffic never stops");
  auto options = std::make_shared<UpOptions>();
  command->add_option("name", options->name, "the topology's name")->required();
  add_shared_options(*command, *options);
  command->callback([options] { run_up(*options); });
}

}  // namespace millrace
