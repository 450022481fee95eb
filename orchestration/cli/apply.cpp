// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include "orchestration/cli/changing.hpp"
#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/topology_file.hpp"
#include "orchestration/supervisor/bypass.hpp"
#include "orchestration/supervisor/programs.hpp"
#include "orchestration/supervisor/remote_control.hpp"
#include "orchestration/supervisor/run_dir.hpp"
#include "shared/config/plan_diff.hpp"
#include "shared/control/build_layout.hpp"
#include "shared/control/plan_file.hpp"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kDown{60};

struct ApplyOptions {
  std::string file;
  std::string run_dir;
  bool json = false;
  bool restart = false;
  bool accept_refused = false;
  std::uint32_t confirm_seconds = 0;
};

/// Ends what runs. Returns when nothing of it is left.
void end(const std::string& run_dir) {
  ask_supervisor<OkReply>(run_dir, DownRequest{}, std::chrono::seconds(5));
  const auto until = Clock::now() + kDown;
  while (SupervisorLock::holder(run_dir) != 0 || !find_processes(run_dir).empty()) {
    if (Clock::now() > until) throw Error("what runs in " + run_dir + " does not end");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// Starts a topology or a saved plan in the background. Throws Error with its words.
void begin(const std::string& file, const std::string& run_dir, const std::string& log) {
  const Captured up = run_and_capture(
      {executable_folder() + "/millrace", {"up", file, "--detach", "--run-dir", run_dir, "--json"}},
      log);
  if (!up.end.clean()) throw Error("start of " + file + " " + up.end.text() + "\n" + up.output);
}

/// The planned restart: the new file has been checked; should it not start all the same, what ran
/// before does again.
ChangeReply restart(const ApplyOptions& options, const std::string& run_dir, const PlanDiff& diff) {
  // Beside the run directory, which goes, and where nobody else may write.
  const std::string saved = run_dir + "." + std::to_string(::getpid()) + ".plan";
  const std::string log = saved + ".log";
  std::filesystem::copy_file(run_dir + "/plan.bin", saved,
                             std::filesystem::copy_options::overwrite_existing);
  std::string lost;  // a plan has neither
  if (load_remote_control(run_dir)) lost += ", without its `control:`";
  if (load_bypass(run_dir)) lost += ", without its `bypass:`";
  const auto began = Clock::now();
  end(run_dir);
  std::string failure;
  try {
    begin(options.file, run_dir, log);
  } catch (const Error& error) {
    failure = error.what();
    begin(saved, run_dir, log);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  std::error_code error;
  std::filesystem::remove(saved, error);
  std::filesystem::remove(log, error);
  char outage[64];
  std::snprintf(outage, sizeof outage, "restarted: no traffic for at most %.2f s", seconds);
  if (!failure.empty()) {
    throw Error(failure + "\nwhat ran before runs again" + lost + "; " + outage);
  }
  ChangeReply reply{.generation = 1, .lines = diff.lines};
  reply.lines.insert(reply.lines.end(), diff.restart.begin(), diff.restart.end());
  reply.lines.emplace_back(outage);
  return reply;
}

void apply(const ApplyOptions& options) {
  const TopologyFile file = read_topology_file(options.file, this_host());
  print_warnings(file.topology);
  const std::string run_dir =
      running_dir({.name = file.plan.name, .run_dir = options.run_dir, .json = options.json});
  require_supervisor(run_dir);
  const Plan running = load_plan(run_dir + "/plan.bin");
  PlanDiff diff = diff_to_running(file, running, run_dir);
  const std::string layout = difference(layout_of_running(running.name), layout_of_build(running));
  if (!layout.empty()) diff.restart.push_back("memory layout of this build: " + layout);
  if (!diff.restart.empty() && options.restart) {
    return print_change(restart(options, run_dir, diff), options.json);
  }
  if (!diff.restart.empty()) {
    std::string text = "this cannot change while it runs (needs --restart):";
    for (const std::string& line : diff.restart) text += "\n  " + line;
    throw Error(text);
  }
  const std::string path = run_dir + "/plan.bin.apply." + std::to_string(::getpid());
  save_plan(file.plan, path);
  ChangeRequest request{.plan = path, .confirm_seconds = options.confirm_seconds};
  request.what = "apply " + std::filesystem::absolute(options.file).lexically_normal().string();
  request.accept_refused = options.accept_refused;
  try {
    ChangeReply reply = ask_change(run_dir, request);
    ::unlink(path.c_str());
    if (diff.lines.empty()) reply.lines.emplace_back("nothing differs");
    if (options.confirm_seconds != 0) {
      reply.lines.push_back("taken back in " + std::to_string(options.confirm_seconds) +
                            " s unless confirmed: millrace confirm " + file.plan.name);
    }
    print_change(reply, options.json);
  } catch (const Error&) {
    ::unlink(path.c_str());
    throw;
  }
}

}  // namespace

void add_apply(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "apply", "change a running topology to what a file says: only what differs, under traffic");
  auto options = std::make_shared<ApplyOptions>();
  command->add_option("file", options->file, "the topology, YAML")->required();
  command->add_option("--run-dir", options->run_dir, "its run directory, if not the default one");
  command->add_option("--confirm", options->confirm_seconds,
                      "take it back after so many seconds, unless `millrace confirm` comes");
  command->add_flag("--restart", options->restart,
                    "end it and start it anew where it has to be; the outage is printed");
  command->add_flag("--accept-refused", options->accept_refused,
                    "also when more lines are refused than of the tables in use");
  command->add_flag("--json", options->json, "the result, also a refusal, as JSON");
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { apply(*options); });
  });
}

}  // namespace millrace
