// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/topology_file.hpp"
#include "orchestration/planner/plan_printer.hpp"

namespace millrace {
namespace {

struct ValidateOptions {
  std::string file;
  bool json = false;
};

void validate(const ValidateOptions& options) {
  // Without a host: a file for a large machine is right on a laptop too.
  const TopologyFile file = read_topology_file(options.file, Host{});
  const Plan& plan = file.plan;
  const std::uint32_t started = started_count(plan);
  if (options.json) {
    auto warnings = nlohmann::ordered_json::array();
    for (const TopologyWarning& warning : file.topology.warnings) {
      warnings.push_back({{"file", warning.mark.file},
                          {"line", warning.mark.line},
                          {"column", warning.mark.column},
                          {"text", to_text(warning)}});
    }
    const nlohmann::ordered_json json = {{"ok", true},
                                         {"name", plan.name},
                                         {"ports", plan.ports.size()},
                                         {"groups", plan.groups.size()},
                                         {"functions", plan.functions.size()},
                                         {"paths", plan.paths.size()},
                                         {"streams", plan.streams.size()},
                                         {"processes", started},
                                         {"warnings", warnings}};
    std::cout << json_text(json) << '\n';
    return;
  }
  print_warnings(file.topology);
  std::cout << options.file << ": topology '" << plan.name << "' is right: ports "
            << plan.ports.size() << ", groups " << plan.groups.size() << ", functions "
            << plan.functions.size() << ", paths " << plan.paths.size() << ", processes " << started
            << '\n';
}

}  // namespace

void add_validate(CLI::App& app) {
  CLI::App* command = app.add_subcommand("validate", "check a topology file; starts nothing");
  auto options = std::make_shared<ValidateOptions>();
  command->add_option("file", options->file, "the topology, YAML")->required();
  command->add_flag("--json", options->json, "the result as JSON; errors too");
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { validate(*options); });
  });
}

}  // namespace millrace
