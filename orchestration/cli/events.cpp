// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/event_stream.hpp"
#include "orchestration/cli/event_text.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/running.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

struct EventsOptions : RunningOptions {
  std::uint64_t count = 0;
};

/// Prints lines as they come, until the topology ends, or so many were printed.
void events(const EventsOptions& options) {
  const std::string run_dir = running_dir(options);
  EventStream stream(load_plan(plan_path(run_dir)), run_dir);
  std::string line;
  for (std::uint64_t printed = 0; std::cout && stream.next(line);) {
    std::cout << (options.json ? line : text_of_event(line)) << '\n';
    const bool last = ++printed == options.count;
    if (last || stream.is_quiet()) std::cout << std::flush;
    if (last) return;
  }
}

}  // namespace

void add_events(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "events", "what functions tell of packets from now on, until the topology ends, or Ctrl-C");
  auto options = std::make_shared<EventsOptions>();
  add_running_options(*command, *options);
  command->add_option("-n,--count", options->count, "end after so many");
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { events(*options); });
  });
}

}  // namespace millrace
