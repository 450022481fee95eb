// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/drain.hpp"

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/supervisor/drain_word.hpp"
#include "orchestration/supervisor/leader_client.hpp"
#include "shared/base/run_words.hpp"
#include "shared/config/loop.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;
using Lines = std::vector<std::string>;

constexpr std::chrono::milliseconds kPause{10};
constexpr std::uint32_t kPatienceMax = 86'400;

struct DrainOptions : RunningOptions {
  std::uint32_t patience = 30;
};

Error not_drained(const DrainOptions& options, const std::string& run, const Lines& waits) {
  std::string text =
      "not drained within " + std::to_string(options.patience) + " s, and still waiting for:";
  for (const std::string& line : waits) text += "\n  " + line;
  return Error(text + "\nno port is read meanwhile; wait on: millrace drain " + run +
               ", or read on: millrace undrain " + run);
}

/// Asks until nothing moves any more. While nothing recovers there is no audit, so no answer is
/// one more thing to wait for. Packets may go round in loops for ever: these are cut when patience
/// is at its end, and it begins anew.
AuditReply settle(const DrainOptions& options, const std::string& run_dir, const Plan& plan,
                  DrainWord& word) {
  auto until = Clock::now() + std::chrono::seconds(options.patience);
  for (;;) {
    const Lines reading = word.still_reading();
    Lines waits;
    try {
      AuditReply audit = ask_leader<AuditReply>(run_dir, AuditRequest{});
      waits = waits_for(plan, reading, audit);
      if (waits.empty()) return audit;
    } catch (const Error& error) {
      waits = {error.what()};
    }
    if (!word.is_set()) throw Error("undrained meanwhile, by another command");
    if (Clock::now() >= until && has_loop(plan) && word.cut_loops()) {
      std::cerr << "packets have gone round in loops for " << options.patience
                << " s: what is sent to a loop is dropped (no_output) from now on\n";
      until = Clock::now() + std::chrono::seconds(options.patience);
    }
    if (Clock::now() >= until) {
      throw not_drained(options, words_for_run(plan.name, run_dir), waits);
    }
    std::this_thread::sleep_for(kPause);
  }
}

void drain(const DrainOptions& options) {
  const std::string run_dir = running_dir(options);
  const Plan plan = load_plan(plan_path(run_dir));
  DrainWord word(plan);
  word.set(true);
  const AuditReply audit = settle(options, run_dir, plan, word);
  if (options.json) {
    std::cout << json_text(audit_json(audit)) << '\n';
  } else {
    std::cout << options.name << ": drained, nothing is in flight; read on: millrace undrain "
              << options.name << '\n'
              << audit_text(audit, wants_colour(STDOUT_FILENO));
  }
}

void undrain(const RunningOptions& options) {
  const Plan plan = load_plan(plan_path(running_dir(options)));
  DrainWord word(plan);
  const bool was = word.is_set();
  word.set(false);
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"ok", true}, {"topology", options.name}, {"was_drained", was}};
    std::cout << json_text(json) << '\n';
    return;
  }
  std::cout << options.name << (was ? ": ports are read again\n" : ": was not drained\n");
}

std::string packets(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " packet" : " packets");
}

}  // namespace

Lines waits_for(const Plan& plan, const Lines& reading, const AuditReply& audit) {
  Lines waits;
  for (const std::string& name : reading) waits.push_back(name + ", which has not stopped reading");
  for (const AuditLane& lane : audit.lanes) {
    if (lane.in_flight == 0 || lane.stream >= plan.streams.size()) continue;
    const PlanPort& port = plan.ports[plan.streams[lane.stream].port];
    waits.push_back(packets(lane.in_flight) + " in flight, received by port " + port.name +
                    " into lane " + std::to_string(lane.lane));
  }
  for (const NamedCount& loop : audit.loops) {
    waits.push_back(packets(loop.count) + " in loop " + loop.name);
  }
  waits.insert(waits.end(), audit.problems.begin(), audit.problems.end());
  if (waits.empty() && !audit.quiet) waits.emplace_back("counters that still move");
  return waits;
}

void add_drain(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "drain", "stop reading ports, and wait until nothing is in flight: before maintenance");
  auto options = std::make_shared<DrainOptions>();
  add_running_options(*command, *options);
  command
      ->add_option("--patience", options->patience,
                   "seconds to wait; what is in flight then is named, and ports stay unread")
      ->capture_default_str()
      ->check(CLI::Range(std::uint32_t{1}, kPatienceMax));
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { drain(*options); });
  });
  command = app.add_subcommand("undrain", "read the ports of a drained topology again");
  auto plain = std::make_shared<RunningOptions>();
  add_running_options(*command, *plain);
  command->callback([plain] {
    run_command(plain->json ? Format::kJson : Format::kText, [&] { undrain(*plain); });
  });
}

}  // namespace millrace
