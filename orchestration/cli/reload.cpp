// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>

#include "orchestration/cli/changing.hpp"
#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

struct ReloadOptions : RunningOptions {
  std::vector<std::string> functions;
  bool accept_refused = false;
  bool accept_shrunk = false;
};

/// All that have a table.
std::vector<std::string> functions_with_table(const std::string& run_dir) {
  std::vector<std::string> names;
  for (const PlanFunction& function : load_plan(plan_path(run_dir)).functions) {
    if (!function.image.empty()) names.push_back(function.name);
  }
  return names;
}

void reload(const ReloadOptions& options) {
  ChangeRequest request{.reload = options.functions};
  request.accept_refused = options.accept_refused;
  request.accept_shrunk = options.accept_shrunk;
  if (request.reload.empty() && !options.remote.at.empty()) {
    throw Error("with --at the functions have to be named: their list is on that host");
  }
  if (request.reload.empty()) request.reload = functions_with_table(running_dir(options));
  if (request.reload.empty()) throw Error("no function of '" + options.name + "' has a table");
  request.what = "reload";
  for (const std::string& name : request.reload) request.what += " " + name;
  print_change(ask_change(options, request), options.json);
}

}  // namespace

void add_reload(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("reload", "read rules and tables of functions again, while traffic flows");
  auto options = std::make_shared<ReloadOptions>();
  add_running_options(*command, *options);
  add_remote_options(*command, *options);
  command->add_option(
      "functions", options->functions,
      "functions, and with them all that read the same file; default: all with a table");
  command->add_flag("--accept-refused", options->accept_refused,
                    "also when more lines are refused than of the table in use");
  command->add_flag("--accept-shrunk", options->accept_shrunk,
                    "also with under half of the entries of the table in use, or of one of its "
                    "files: what was cut short looks like that");
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { reload(*options); });
  });
}

}  // namespace millrace
