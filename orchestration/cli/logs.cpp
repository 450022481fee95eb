// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/log_lines.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/cli/sgr.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/say.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kPause{200};

struct LogsOptions : RunningOptions {
  std::vector<std::string> names;
  bool follow = false;
  std::string since;
};

void print(const LogLine& line, const LogsOptions& options, bool colour) {
  const std::string time = time_stamp(line.time_ns);
  if (options.json) {
    const nlohmann::ordered_json json = {{"time", time}, {"who", line.who}, {"text", line.text}};
    // What a library printed may be no UTF-8.
    std::cout << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  } else if (colour) {
    std::cout << sgr::kDim << time << sgr::kPlain << ' ' << sgr::kCyan << line.who << sgr::kPlain
              << ": " << line.text << '\n';
  } else {
    std::cout << time << ' ' << line.who << ": " << line.text << '\n';
  }
}

void logs(const LogsOptions& options) {
  const std::string run_dir = recorded_dir(options);
  const std::uint64_t since =
      options.since.empty() ? 0 : parse_since(options.since, system_clock_ns());
  const bool colour = wants_colour(STDOUT_FILENO);
  LogFiles files(run_dir, options.names);
  for (;;) {
    const bool last = !options.follow || !std::filesystem::exists(plan_path(run_dir));
    for (const LogLine& line : files.read_new()) {
      if (line.time_ns >= since) print(line, options, colour);
    }
    std::cout << std::flush;
    if (last || !std::cout) return;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

void add_logs(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("logs", "show the logs of a topology's processes, merged by time");
  auto options = std::make_shared<LogsOptions>();
  add_running_options(*command, *options);
  command->add_option("process", options->names,
                      "a process, as `millrace status` names it; default: all");
  command->add_flag("-f,--follow", options->follow, "go on until the topology ends, or Ctrl-C");
  command->add_option("--since", options->since,
                      "show lines from this age (90s, 15m, 2h, 1d) or time on");
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { logs(*options); });
  });
}

}  // namespace millrace
