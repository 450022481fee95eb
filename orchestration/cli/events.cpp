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

constexpr const char* kEventsHelp =
    "The topology needs a section `events`. A line is an event: when, its type, what it says, "
    "both\n"
    "ends. --json has the lines of eve.json, with the keys of Suricata; jq filters them:\n"
    "  alert             rules of ids, match, inspect, acl and firewall that matched\n"
    "  flow              a connection that has ended: packets, bytes, start, state, reason\n"
    "  nat               a translation, or a block of ports, that begins or ends\n"
    "  http dns tls ssh smtp drop      of ids, as its key `log` asks\n"
    "  anomaly           a stream that ids gives up; an address that two hosts claim\n"
    "  stats             sums of the topology, where `stats` asks for them\n"
    "Examples:\n"
    "  millrace events edge -n 10\n"
    "  millrace events edge --json | jq -c 'select(.event_type == \"flow\" and .dest_port == "
    "443)'\n"
    "  millrace events edge --json | jq -r 'select(.event_type == \"dns\").dns.rrname'\n"
    "It never holds a worker up: what a slow reader misses is counted by the events process.\n"
    "Alerts of the past are in `millrace alerts`, connections that there are in `millrace flows`.";

}  // namespace

void add_events(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "events", "print new events of functions, until the topology ends or Ctrl-C");
  auto options = std::make_shared<EventsOptions>();
  add_running_options(*command, *options);
  command->add_option("-n,--count", options->count, "stop after N events");
  command->footer(kEventsHelp);
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { events(*options); });
  });
}

}  // namespace millrace
