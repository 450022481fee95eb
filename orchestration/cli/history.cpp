// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/history.hpp"

#include <unistd.h>

#include <array>
#include <ctime>
#include <iostream>
#include <memory>

#include "orchestration/cli/changing.hpp"
#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "shared/control/plan_file.hpp"

// What was changed, and the way back: `history`, `rollback`, `confirm`.

namespace millrace {
namespace {

struct RollbackOptions : RunningOptions {
  std::uint64_t generation = 0;  ///< 0: the one before the present one
};

std::string time_text(std::uint64_t time_ns) {
  const auto seconds = static_cast<std::time_t>(time_ns / 1'000'000'000);
  std::tm when{};
  ::localtime_r(&seconds, &when);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &when);
  return text.data();
}

void print_history(const RunningOptions& options) {
  const std::vector<History::Entry> entries = History(running_dir(options)).entries();
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
  std::cout << nlohmann::ordered_json{{"ok", true}, {"generations", list}}.dump(2) << '\n';
}

void roll_back(const RollbackOptions& options) {
  const std::string run_dir = running_dir(options);
  const Plan now = load_plan(run_dir + "/plan.bin");
  const std::uint64_t to = options.generation != 0 ? options.generation : now.generation - 1;
  const std::string path = run_dir + "/plan.bin.back." + std::to_string(::getpid());
  save_plan(History(run_dir).plan_of(to), path);
  ChangeRequest request{.plan = path, .accept_refused = true, .rollback = true};
  request.what = "rollback " + std::to_string(to);
  try {
    const ChangeReply reply = ask_change(run_dir, request);
    ::unlink(path.c_str());
    print_change(reply, options.json);
  } catch (const Error&) {
    ::unlink(path.c_str());
    throw;
  }
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
  add(app.add_subcommand("history", "what a running topology has been since its start"),
      std::make_shared<RunningOptions>(), print_history);
  auto confirmed = std::make_shared<RunningOptions>();
  CLI::App* stays = app.add_subcommand("confirm", "the last change stays: after `apply --confirm`");
  add(stays, confirmed, confirm);
  add_remote_options(*stays, *confirmed);
  auto options = std::make_shared<RollbackOptions>();
  CLI::App* back = app.add_subcommand("rollback", "back to an earlier generation of `history`");
  add(back, options, roll_back);
  back->add_option("generation", options->generation, "which; without: the one before");
}

}  // namespace millrace
