// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/planner/plan_names.hpp"
#include "orchestration/supervisor/leader_client.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

struct FunctionOptions : RunningOptions {
  std::string function;
  std::string wish;
};

void set_service(const FunctionOptions& options) {
  const std::string run_dir = running_dir(options);
  const Plan plan = load_plan(plan_path(run_dir));
  const std::uint32_t number = function_named(plan, options.function);
  const bool out = options.wish == "out";
  ask_leader<OkReply>(run_dir, SetService{number, out});
  const bool passes = plan.functions[number].unavailable == Fallback::kPass;
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"ok", true}, {"function", options.function}, {"out", out}, {"passes", passes}};
    std::cout << json_text(json) << '\n';
    return;
  }
  std::cout << options.function << ": ";
  if (out) {
    std::cout << "out of service, its packets " << (passes ? "pass" : "are dropped") << '\n';
  } else {
    std::cout << "in service\n";
  }
}

}  // namespace

void add_function(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("function",
                         "take a function out of service (its packets pass or are dropped as its "
                         "`unavailable` says), or put it back");
  auto options = std::make_shared<FunctionOptions>();
  add_running_options(*command, *options);
  command->add_option("function", options->function, "its name in the topology")->required();
  command->add_option("wish", options->wish, "in or out")
      ->required()
      ->check(CLI::IsMember({"in", "out"}));
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { set_service(*options); });
  });
}

}  // namespace millrace
