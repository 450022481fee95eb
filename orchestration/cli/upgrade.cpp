// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <set>

#include "orchestration/cli/changing.hpp"
#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/supervisor/child.hpp"
#include "orchestration/supervisor/programs.hpp"
#include "orchestration/supervisor/run_dir.hpp"
#include "shared/base/run_words.hpp"
#include "shared/config/observers.hpp"
#include "shared/control/build_layout.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

struct UpgradeOptions : RunningOptions {
  std::string from;  ///< empty: where this executable lies
};

void require_executable(const std::string& path) {
  if (::access(path.c_str(), X_OK) == 0) return;
  throw Error("no executable " + path + "; name the folder of a whole build with --from");
}

/// What the program of the new build that plays `actor` says of its layout.
BuildLayout layout_of_program(const std::string& folder, const std::string& run_dir,
                              const Plan& plan, std::uint32_t actor) {
  Command command = actor_command(folder, run_dir, plan, actor);
  require_executable(command.program);
  command.arguments.emplace_back("--layout");
  const Captured answer = run_and_capture(command, "/dev/null");
  const auto layout = parse_layout(answer.output.substr(0, answer.output.find('\n')));
  if (answer.end.clean() && layout) return *layout;
  throw Error(command.program + " --layout " + answer.end.text() +
              " without naming its layout: this build cannot take over what runs");
}

/// Throws Error when one of the programs could not join what runs.
void check_layouts(const std::string& folder, const std::string& run_dir, const Plan& plan) {
  const BuildLayout running = layout_of_running(run_dir);
  std::set<std::string> asked;
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    const std::string program = program_of(plan, actor);
    if (!asked.insert(program).second) continue;
    const std::string text = difference(running, layout_of_program(folder, run_dir, plan, actor));
    if (text.empty()) continue;
    throw Error(folder + "/" + program + " has another memory layout than what runs: " + text +
                "\nnothing has changed; the planned restart: " + folder +
                "/millrace apply FILE --restart, with the file of '" + plan.name +
                "'; it prints its outage");
  }
  for (const char* other : {"/millrace-builder", "/millrace"}) require_executable(folder + other);
  for (const ObserverKind& observer : kObservers) {
    require_executable(folder + "/millrace-" + observer.name);
  }
}

void upgrade(const UpgradeOptions& options) {
  const std::string run_dir = running_dir(options);
  require_supervisor(run_dir);
  const Plan plan = load_plan(plan_path(run_dir));
  std::error_code error;
  const fs::path folder =
      options.from.empty() ? fs::path(executable_folder()) : fs::canonical(options.from, error);
  if (error) throw Error(options.from + ": " + error.message());
  check_layouts(folder, run_dir, plan);
  ChangeRequest request;
  request.upgrade = folder;
  request.what = "upgrade " + folder.string();
  ChangeReply reply = ask_change(run_dir, request);
  reply.lines.push_back("the supervisor is of the build that it was; the last step: kill -9 " +
                        std::to_string(SupervisorLock::holder(run_dir)) + " and " +
                        folder.string() + "/millrace adopt " + words_for_run(plan.name, run_dir) +
                        " --detach");
  print_change(reply, options.json);
}

}  // namespace

void add_upgrade(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "upgrade", "replace the processes of a running topology by those of another build");
  auto options = std::make_shared<UpgradeOptions>();
  add_running_options(*command, *options);
  command->add_option("--from", options->from,
                      "folder of the new executables; default: that of this one");
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { upgrade(*options); });
  });
}

}  // namespace millrace
