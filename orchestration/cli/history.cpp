// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/history.hpp"
#include "orchestration/cli/json_text.hpp"

#include <array>
#include <ctime>
#include <iostream>
#include <memory>
#include <optional>

#include "orchestration/cli/changing.hpp"
#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/restart.hpp"
#include "orchestration/planner/plan_diff.hpp"
#include "shared/base/run_words.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

// What was changed, and the way back: `history`, `rollback`, `confirm`.

namespace millrace {
namespace {

struct RollbackOptions : RunningOptions {
  std::optional<std::uint64_t> generation;  ///< nothing: the one before the present one
  bool restart = false;
};

std::string time_text(std::uint64_t time_ns) {
  const auto seconds = static_cast<std::time_t>(time_ns / 1'000'000'000);
  std::tm when{};
  ::gmtime_r(&seconds, &when);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%SZ", &when);
  return text.data();
}

void print_history(const RunningOptions& options) {
  const std::vector<History::Entry> entries = History(recorded_dir(options)).entries();
  if (!options.json) {
    for (const History::Entry& one : entries) {
      std::cout << one.generation << "  " << time_text(one.time_ns) << "  " << one.hash << "  "
                << one.what << '\n';
    }
    return;
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const History::Entry& one : entries) {
    list.push_back({{"generation", one.generation},
                    {"time_ns", one.time_ns},
                    {"hash", one.hash},
                    {"what", one.what}});
  }
  std::cout << json_text(nlohmann::ordered_json{{"ok", true}, {"generations", list}}) << '\n';
}

/// The one before the last change of the plan that a user made: steps of `autoscale` are none, and
/// an upgrade has the plan of before. 0: none.
std::uint64_t one_before(const std::string& run_dir, std::uint64_t generation) {
  std::uint64_t before = 0, previous = 0;
  for (const History::Entry& one : History(run_dir).entries()) {
    if (one.generation > generation) break;
    const bool of_plan = !one.what.starts_with("autoscale ") && !one.what.starts_with("upgrade ");
    if (of_plan) before = previous;
    previous = one.generation;
  }
  return before;
}

/// The last upgrade behind the generation that was gone back to stays, which the user is told.
void tell_upgrade(const std::string& run_dir, std::uint64_t to, const std::string& run) {
  std::optional<History::Entry> last;
  for (const History::Entry& one : History(run_dir).entries()) {
    if (one.generation > to && one.what.starts_with("upgrade ")) last = one;
  }
  if (!last) return;
  std::cerr << "millrace: generation " << last->generation << " (" << last->what
            << ") stays, as a rollback goes back to another plan, not to another build: millrace "
               "upgrade "
            << run << " --from DIR does that\n";
}

void roll_back(const RollbackOptions& options) {
  const std::string run_dir = running_dir(options);
  const Plan now = load_plan(plan_path(run_dir));
  const std::uint64_t to = options.generation.value_or(one_before(run_dir, now.generation));
  if (!options.generation && to == 0) {
    throw Error("there is no generation before " + std::to_string(now.generation) +
                ", which runs: see millrace history " + words_for_run(options.name, run_dir));
  }
  ChangeRequest request{.accept_refused = true, .rollback = true, .accept_shrunk = true};
  request.what = "rollback " + std::to_string(to);
  Plan plan = History(run_dir).plan_of(to);
  const PlanDiff diff = diff_plans(now, plan);
  if (diff.restart.empty()) {
    const ChangeReply reply = ask_change_to(plan, run_dir, request);
    tell_upgrade(run_dir, to, words_for_run(options.name, run_dir));
    return print_change(reply, options.json);
  }
  check_restart(diff.restart, options.restart, run_dir);
  check_host(now, plan);
  PlannedRestart restart{.plan = std::move(plan),
                         .run_dir = run_dir,
                         .what = request.what + " --restart",
                         .changes = diff.lines,
                         .json = options.json};
  restart.changes.insert(restart.changes.end(), diff.restart.begin(), diff.restart.end());
  restart_in_background(restart);
}

void confirm(const RunningOptions& options) {
  ask_supervisor<OkReply>(options, ConfirmRequest{}, std::chrono::seconds(10));
  std::cout << (options.json ? "{\"ok\": true}\n" : "the last change stays\n");
}

template <typename Options>
void add(CLI::App* command, std::shared_ptr<Options> options, void (*run)(const Options&)) {
  add_running_options(*command, *options);
  command->callback([options, run] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { run(*options); });
  });
}

}  // namespace

void add_history(CLI::App& app) {
  add(app.add_subcommand("history",
                         "list the configurations of a running topology since its start"),
      std::make_shared<RunningOptions>(), print_history);
  auto confirmed = std::make_shared<RunningOptions>();
  CLI::App* stays = app.add_subcommand("confirm", "keep the last change: after `apply --confirm`");
  add(stays, confirmed, confirm);
  add_remote_options(*stays, *confirmed);
  auto options = std::make_shared<RollbackOptions>();
  CLI::App* back = app.add_subcommand("rollback", "go back to an earlier generation of `history`");
  add(back, options, roll_back);
  back->add_option("generation", options->generation,
                   "a number of `history`; default: the one before the last change of the plan")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{UINT32_MAX}));
  back->add_flag("--restart", options->restart,
                 "where a change needs it, end the topology and start it again; prints the outage");
}

}  // namespace millrace
