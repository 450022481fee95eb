// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>
#include <thread>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/supervisor/bypass.hpp"
#include "orchestration/supervisor/programs.hpp"
#include "orchestration/supervisor/supervisor.hpp"
#include "shared/control/plan_file.hpp"

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kAnswer{5000};
constexpr std::chrono::seconds kEnd{60};

void end_by_supervisor(const std::string& run_dir) {
  ask_supervisor<OkReply>(run_dir, DownRequest{}, kAnswer);
  const auto until = std::chrono::steady_clock::now() + kEnd;
  while (SupervisorLock::holder(run_dir) != 0) {
    if (std::chrono::steady_clock::now() > until) {
      throw Error("the supervisor is still stopping after " + std::to_string(kEnd.count()) +
                  " s; see millrace status");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// Its supervisor has gone: be one for as long as it takes to stop.
void stop_orphans(const std::string& run_dir) {
  Supervisor supervisor(load_plan(run_dir + "/plan.bin"),
                        {.run_dir = run_dir, .folder = executable_folder()});
  supervisor.adopt_to_stop();
  supervisor.stop();
}

/// Ends what runs here. Returns how.
const char* down_here(const RunningOptions& options) {
  const std::string run_dir = running_dir(options);
  const char* how = "stopped";
  if (SupervisorLock::holder(run_dir) != 0) {
    end_by_supervisor(run_dir);
  } else if (!find_processes(run_dir).empty()) {
    stop_orphans(run_dir);
    how = "stopped (it had no supervisor)";
  } else {
    const SupervisorLock lock(run_dir);
    remove_run_dir(run_dir, options.name);
    turn_bypass(run_dir, true);
    how = "did not run; what it had left is removed";
  }
  return how;
}

void down(const RunningOptions& options) {
  const char* how = "told to stop";
  if (options.remote.at.empty()) {
    how = down_here(options);
  } else {
    ask_supervisor<OkReply>(options, DownRequest{}, kAnswer);
  }
  if (options.json) {
    const nlohmann::ordered_json json = {{"ok", true}, {"topology", options.name}, {"text", how}};
    std::cout << json.dump(2) << '\n';
    return;
  }
  std::cout << options.name << ": " << how << '\n';
}

}  // namespace

void add_down(CLI::App& app) {
  CLI::App* command = app.add_subcommand("down", "end a running topology, in order");
  auto options = std::make_shared<RunningOptions>();
  add_running_options(*command, *options);
  add_remote_options(*command, *options);
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { down(*options); });
  });
}

}  // namespace millrace
