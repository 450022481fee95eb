// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/supervisor/bypass.hpp"
#include "orchestration/supervisor/programs.hpp"
#include "orchestration/supervisor/supervisor.hpp"
#include "shared/base/patience.hpp"
#include "shared/base/run_words.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"
#include "shared/control/run_state.hpp"

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kDownAnswer{5000};
constexpr std::chrono::seconds kEnd{60};

/// One that ends already, as another command asked it to, need not answer.
void ask_to_end(const std::string& run_dir, pid_t supervisor) {
  try {
    ask_supervisor<OkReply>(run_dir, DownRequest{}, kDownAnswer);
  } catch (const Error&) {
    if (SupervisorLock::holder(run_dir) == supervisor && !load_run_state(run_dir).stopping) throw;
  }
}

void end_by_supervisor(const RunningOptions& options, const std::string& run_dir,
                       pid_t supervisor) {
  ask_to_end(run_dir, supervisor);
  Patience patience(kEnd);
  while (SupervisorLock::holder(run_dir) == supervisor) {
    if (patience.is_over()) {
      throw Error("the supervisor (pid " + std::to_string(supervisor) +
                  ") is still stopping after " + std::to_string(kEnd.count()) +
                  " s; see millrace status " + words_for_run(options.name, run_dir));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// Its supervisor has gone: be one for as long as it takes to stop.
void stop_orphans(const std::string& run_dir) {
  Supervisor supervisor(load_plan(plan_path(run_dir)),
                        {.run_dir = run_dir, .folder = executable_folder()});
  supervisor.adopt_to_stop();
  supervisor.stop();
}

Error bypass_is_off(const RunningOptions& options, const std::string& run_dir,
                    const std::string& why) {
  return Error("topology '" + options.name + "' has ended, but its bypass is off" + why +
               ": millrace bypass " + words_for_run(options.name, run_dir) + " on");
}

/// The supervisor that ended has turned it on, or could not: then only this command can tell.
void require_bypass(const RunningOptions& options, const std::string& run_dir) {
  const auto bypass = load_bypass(run_dir);
  if (bypass && !bypass->on) throw bypass_is_off(options, run_dir, "");
}

void turn_on_bypass(const RunningOptions& options, const std::string& run_dir) {
  try {
    turn_bypass(run_dir, true);
  } catch (const Error& error) {
    throw bypass_is_off(options, run_dir, std::string(" (") + error.what() + ")");
  }
}

/// Without a plan it has not begun yet, or another command has come so far in ending it. True when
/// that was so, and nothing is left of it.
bool ends_already(const std::string& run_dir) {
  Patience patience(kEnd);
  bool waited = false;
  while (!std::filesystem::exists(plan_path(run_dir)) && SupervisorLock::holder(run_dir) != 0) {
    if (patience.is_over()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    waited = true;
  }
  return waited && !std::filesystem::exists(plan_path(run_dir));
}

/// Ends what runs here. Returns how.
const char* down_here(const RunningOptions& options) {
  const std::string left = run_dir_of(options.name, options.run_dir);
  if (ends_already(left)) {
    require_bypass(options, left);
    return "stopped";
  }
  if (is_record(left)) {
    const SupervisorLock lock(left);
    remove_run_dir(left, options.name);
    return "had ended by itself; its logs are removed";
  }
  const std::string run_dir = running_dir(options);
  const char* how = "stopped";
  if (const pid_t supervisor = SupervisorLock::holder(run_dir); supervisor != 0) {
    end_by_supervisor(options, run_dir, supervisor);
    require_bypass(options, run_dir);
  } else if (!find_processes(run_dir).empty()) {
    stop_orphans(run_dir);
    require_bypass(options, run_dir);
    how = "stopped (it had no supervisor)";
  } else {
    const SupervisorLock lock(run_dir);
    if (const auto other = find_namesake(run_dir, options.name)) {
      throw Error("topology '" + options.name + "' runs in " + other->run_dir +
                  ": its shared memory is not removed");
    }
    remove_run_dir(run_dir, options.name);
    turn_on_bypass(options, run_dir);
    how = "did not run; what it had left is removed";
  }
  return how;
}

void down(const RunningOptions& options) {
  const char* how = "told to stop";
  if (options.remote.at.empty()) {
    how = down_here(options);
  } else {
    ask_supervisor<OkReply>(options, DownRequest{}, kDownAnswer);
  }
  if (options.json) {
    const nlohmann::ordered_json json = {{"ok", true}, {"topology", options.name}, {"text", how}};
    std::cout << json_text(json) << '\n';
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
