// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/restart.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "orchestration/cli/changing.hpp"
#include "orchestration/cli/detach.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/doctor/doctor.hpp"
#include "orchestration/supervisor/last_run.hpp"
#include "orchestration/supervisor/listen_check.hpp"
#include "orchestration/supervisor/programs.hpp"
#include "orchestration/supervisor/run_dir.hpp"
#include "orchestration/supervisor/service_manager.hpp"
#include "shared/base/patience.hpp"
#include "shared/base/run_words.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kDown{60};

/// Ends the running topology. Returns when no process of it is left.
void end(const std::string& run_dir) {
  const std::string words = words_for_run(topology_in(run_dir), run_dir);
  ask_supervisor<OkReply>(run_dir, DownRequest{}, std::chrono::seconds(5));
  Patience patience(kDown);
  while (SupervisorLock::holder(run_dir) != 0 || !find_processes(run_dir).empty()) {
    if (patience.is_over()) {
      throw Error("the topology in " + run_dir + " has not ended within " +
                  std::to_string(kDown.count()) + " s; what it waits for: millrace status " +
                  words);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// Starts a topology or a saved plan in the background. Throws Error with its words.
void begin(const std::string& file, const std::string& run_dir, const LastRun& last,
           const std::string& what) {
  const Captured up = run_and_capture({executable_folder() + "/millrace",
                                       {"up", file, "--detach", "--run-dir", run_dir, "--json",
                                        "--last-run", last.folder(), "--what", what}},
                                      last.folder() + "/control.log");
  if (up.end.clean()) return;
  const auto answer = nlohmann::json::parse(up.output, nullptr, false);
  const bool told = answer.is_object() && answer.contains("error");
  throw Error("start of " + file + " " + up.end.text() + ": " +
              (told ? answer["error"].get<std::string>() : up.output));
}

/// Returns why the new one does not run, but the last one again; empty: it does.
std::string begin_or_go_back(const PlannedRestart& restart, const LastRun& last) {
  std::string file = restart.file;
  try {
    if (restart.plan) {
      file = last.folder() + "/plan.bin.next.plan";
      save_plan(*restart.plan, file);
    }
    begin(file, restart.run_dir, last, restart.what);
    return "";
  } catch (const Error& failure) {
    try {
      begin(last.plan_path(), restart.run_dir, last, "start again, after: " + restart.what);
      return failure.what();
    } catch (const Error& again) {
      const std::string kept = restart.run_dir + ".plan";
      std::error_code error;
      std::filesystem::copy_file(last.plan_path(), kept,
                                 std::filesystem::copy_options::overwrite_existing, error);
      throw Error(std::string(failure.what()) + "\nwhat ran before does not start either: " +
                  again.what() + "\nits plan is kept: millrace up " + kept);
    }
  }
}

ChangeReply do_restart(const PlannedRestart& restart) {
  const LastRun last(restart.run_dir);
  const auto began = Clock::now();
  end(restart.run_dir);
  const std::string failure = begin_or_go_back(restart, last);
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  char outage[64];
  std::snprintf(outage, sizeof outage, "restarted: no traffic for at most %.2f s", seconds);
  if (!failure.empty()) throw Error(failure + "\nwhat ran before runs again; " + outage);
  ChangeReply reply{.generation = load_plan(plan_path(restart.run_dir)).generation,
                    .lines = restart.changes};
  reply.lines.emplace_back(outage);
  return reply;
}

/// Those of `next` that are not in `now`.
std::vector<std::string> new_ones(const std::vector<std::string>& next,
                                  const std::vector<std::string>& now) {
  std::vector<std::string> fresh;
  std::ranges::copy_if(next, std::back_inserter(fresh), [&](const std::string& one) {
    return std::ranges::find(now, one) == now.end();
  });
  return fresh;
}

}  // namespace

void check_restart(const std::vector<std::string>& needed, bool asked, const std::string& run_dir) {
  if (!asked) {
    std::string text = "this cannot change while it runs (needs --restart):";
    for (const std::string& line : needed) text += "\n  " + line;
    throw Error(text);
  }
  const std::string unit = unit_of(require_supervisor(run_dir));
  if (unit.empty()) return;
  throw Error("systemd runs this topology: write the new topology to the file of " + unit +
              ", then: systemctl restart " + unit);
}

void check_host(const Plan& running, const Plan& next) {
  const Needs now = needs_of(running);
  Needs wanted = needs_of(next);
  wanted.interfaces = new_ones(wanted.interfaces, now.interfaces);
  wanted.pci = new_ones(wanted.pci, now.pci);
  wanted.af_xdp = wanted.af_xdp && !now.af_xdp;
  wanted.tap = wanted.tap && !now.tap;
  wanted.cuda = wanted.cuda && !now.cuda;
  std::vector<Finding> findings;
  examine_devices(HostFiles(), wanted, findings);
  std::string text;
  for (const Finding& one : findings) {
    if (one.health != Health::kProblem) continue;
    text += "\n  " + one.check + ": " + one.found + (one.mend.empty() ? "" : "; " + one.mend);
  }
  if (!text.empty()) throw Error("it would not start on this host, nothing has changed:" + text);
  if (next.telemetry_listen != running.telemetry_listen) {
    check_listen("telemetry", next.telemetry_listen);
  }
}

void restart_in_background(const PlannedRestart& restart) {
  const int status = run_detached([&](Starter&) {
    struct sigaction nothing {};  // the reader of what it says may go
    nothing.sa_handler = [](int) {};
    ::sigaction(SIGPIPE, &nothing, nullptr);
    return status_of_command(restart.json ? Format::kJson : Format::kText, [&] {
      print_change(do_restart(restart), restart.json);
      return 0;
    });
  });
  if (status != 0) throw CLI::RuntimeError(status);
}

}  // namespace millrace
