// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <thread>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/live_view.hpp"
#include "orchestration/cli/running.hpp"

namespace millrace {
namespace {

struct TopOptions : RunningOptions {
  double interval_s = 1;
  std::uint32_t count = 0;
};

/// Fits a page into the terminal's window, where it would scroll or be folded. The cursor has the
/// last line.
std::string fitted(const std::string& page) {
  constexpr const char* kFromTheTop = "\033[H\033[J";
  winsize window{};
  const bool known =
      ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 1 && window.ws_col > 0;
  if (!known) return kFromTheTop + page;
  return kFromTheTop + first_columns(first_lines(page, window.ws_row - 1U), window.ws_col);
}

void watch(const TopOptions& options) {
  const std::string run_dir = running_dir(options);
  Observed observed = observe(run_dir);
  const bool page = ::isatty(STDOUT_FILENO) == 1;
  const auto interval = std::chrono::duration<double>(options.interval_s);
  Snapshot before = look_at(observed);
  for (std::uint32_t turn = 1; options.count == 0 || turn <= options.count; ++turn) {
    std::this_thread::sleep_for(interval);
    Snapshot after = look_at(observed);
    follow_plan(observed, run_dir);
    if (options.json) {
      std::cout << live_json(observed.plan, before, after).dump() << '\n';
    } else if (page) {
      std::cout << fitted(live_page(observed.plan, before, after, wants_colour(STDOUT_FILENO)));
    } else {
      char time[32];
      std::snprintf(time, sizeof time, "%6.1f s  ", turn * options.interval_s);
      std::cout << time << live_line(observed.plan, before, after) << '\n';
    }
    std::cout << std::flush;
    if (!anybody_alive(after) || !anybody_runs(observed)) {
      if (!options.json) std::cout << "the topology has ended\n";
      return;
    }
    before = std::move(after);
  }
}

}  // namespace

void add_top(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "top", "watch a topology: ports, actors, drops, latency; a line a second when piped");
  auto options = std::make_shared<TopOptions>();
  add_running_options(*command, *options);
  command->add_option("--interval", options->interval_s, "show new numbers every N seconds")
      ->check(CLI::Range(0.05, 3600.0));
  command->add_option("--count", options->count, "stop after N updates; default: at Ctrl-C");
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { watch(*options); });
  });
}

}  // namespace millrace
