// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/cli/topology_file.hpp"
#include "orchestration/planner/plan_printer.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

struct PlanOptions {
  std::string file;
  bool json = false;
  bool mermaid = false;
  bool diff = false;
  std::string run_dir;
};

/// What `apply` would do to the topology of this name that runs.
void print_diff(const TopologyFile& file, const PlanOptions& options) {
  const std::string run_dir =
      running_dir({.name = file.plan.name, .run_dir = options.run_dir, .json = options.json});
  const PlanDiff diff = diff_to_running(file, load_plan(plan_path(run_dir)), run_dir);
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"ok", true}, {"changes", diff.lines}, {"restart", diff.restart}};
    std::cout << json_text(json) << '\n';
    return;
  }
  if (diff.empty()) std::cout << "nothing differs\n";
  for (const std::string& line : diff.lines) std::cout << line << '\n';
  for (const std::string& line : diff.restart) std::cout << line << "  (needs --restart)\n";
}

void print_plan(const PlanOptions& options) {
  const TopologyFile file = read_topology_file(options.file, this_host());
  const Plan& plan = file.plan;
  if (options.diff) return print_diff(file, options);
  if (!options.json) print_warnings(file.topology);
  if (options.json) {
    std::cout << plan_json(plan, file.topology.warnings);
  } else if (options.mermaid) {
    std::cout << plan_mermaid(plan);
  } else {
    std::cout << plan_text(plan);
  }
}

}  // namespace

void add_plan(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "plan", "print what a topology means on this host: processes, links, lanes, cores, memory");
  auto options = std::make_shared<PlanOptions>();
  command->add_option("file", options->file, "the topology, YAML")->required();
  CLI::Option* json = command->add_flag("--json", options->json, "all numbers as JSON");
  command->add_flag("--mermaid", options->mermaid, "a Mermaid flow chart")->excludes(json);
  command->add_flag("--diff", options->diff, "what `millrace apply` would change of what runs");
  command->add_option("--run-dir", options->run_dir,
                      "with --diff: where it runs, if not in the default place");
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { print_plan(*options); });
  });
}

}  // namespace millrace
