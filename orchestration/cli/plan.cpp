// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/topology_file.hpp"
#include "shared/config/plan_printer.hpp"

namespace millrace {
namespace {

struct PlanOptions {
  std::string file;
  bool json = false;
  bool mermaid = false;
};

void print_plan(const PlanOptions& options) {
  const TopologyFile file = read_topology_file(options.file, this_host());
  const Plan& plan = file.plan;
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
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { print_plan(*options); });
  });
}

}  // namespace millrace
