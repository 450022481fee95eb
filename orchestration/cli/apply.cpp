// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <memory>

#include "orchestration/cli/changing.hpp"
#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/restart.hpp"
#include "orchestration/cli/table_check.hpp"
#include "orchestration/cli/topology_file.hpp"
#include "orchestration/planner/plan_diff.hpp"
#include "orchestration/supervisor/programs.hpp"
#include "shared/base/run_words.hpp"
#include "shared/control/build_layout.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

constexpr std::chrono::seconds kStatusAnswer{5};

struct ApplyOptions {
  std::string file;
  std::string run_dir;
  bool json = false;
  bool restart = false;
  bool accept_refused = false;
  bool accept_shrunk = false;
  std::uint32_t confirm_seconds = 0;
};

std::string what_of(const ApplyOptions& options) {
  return "apply " + std::filesystem::absolute(options.file).lexically_normal().string();
}

/// What cannot change while it runs.
void apply_by_restart(const ApplyOptions& options, const std::string& run_dir,
                      const TopologyFile& file, const Plan& running, const PlanDiff& diff) {
  check_restart(diff.restart, options.restart, run_dir);
  if (options.confirm_seconds != 0) {
    throw Error(
        "--confirm: a restart cannot be taken back by itself; without --restart or without "
        "--confirm");
  }
  if (ask_supervisor<StatusReply>(run_dir, StatusRequest{}, kStatusAnswer).confirm_seconds != 0) {
    const std::string run = words_for_run(running.name, run_dir);
    throw Error("the last change waits to be confirmed: millrace confirm " + run +
                ", or millrace rollback " + run);
  }
  check_host(running, file.plan);
  check_tables(running, file.plan, executable_folder(), run_dir,
               {options.accept_refused, options.accept_shrunk});
  PlannedRestart restart{.file = options.file,
                         .run_dir = run_dir,
                         .what = what_of(options) + " --restart",
                         .changes = diff.lines,
                         .json = options.json};
  restart.changes.insert(restart.changes.end(), diff.restart.begin(), diff.restart.end());
  restart_in_background(restart);
}

void apply(const ApplyOptions& options) {
  const TopologyFile file = read_topology_file(options.file, this_host());
  print_warnings(file.topology);
  const std::string run_dir =
      running_dir({.name = file.plan.name, .run_dir = options.run_dir, .json = options.json});
  const Plan running = load_plan(plan_path(run_dir));
  PlanDiff diff = diff_to_running(file, running, run_dir);
  const std::string layout = difference(layout_of_running(run_dir), layout_of_build(running));
  if (!layout.empty()) diff.restart.push_back("memory layout of this build: " + layout);
  if (!diff.restart.empty()) {
    return apply_by_restart(options, run_dir, file, running, diff);
  }
  ChangeRequest request{.confirm_seconds = options.confirm_seconds};
  request.what = what_of(options);
  request.accept_refused = options.accept_refused;
  request.accept_shrunk = options.accept_shrunk;
  print_change(ask_change_to(file.plan, run_dir, request), options.json);
}

}  // namespace

void add_apply(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "apply", "change a running topology to what a file says: only what differs, under traffic");
  auto options = std::make_shared<ApplyOptions>();
  command->add_option("file", options->file, "the topology, YAML")->required();
  command->add_option("--run-dir", options->run_dir, "its run directory, if not the default one");
  command
      ->add_option("--confirm", options->confirm_seconds,
                   "undo the change after so many seconds unless `millrace confirm` is run")
      ->check(CLI::Range(1u, 30u * 24 * 3600));
  command->add_flag(
      "--restart", options->restart,
      "where a change needs it, end the topology and start it again; prints the outage");
  command->add_flag("--accept-refused", options->accept_refused,
                    "also when more lines are refused than of the tables in use");
  command->add_flag("--accept-shrunk", options->accept_shrunk,
                    "also with under half of the entries of the tables in use, or of one of their "
                    "files: what was cut short looks like that");
  command->add_flag("--json", options->json, "the result as JSON; errors too");
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { apply(*options); });
  });
}

}  // namespace millrace
