// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/cli/trace_steps.hpp"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t kSpare = 256;  // steps of some may be lost, with a process or a full ring
constexpr std::uint64_t kRingBytes = std::uint64_t{1} << 20;

struct TraceOptions : RunningOptions {
  std::string filter;
  std::uint64_t count = 1;
  double seconds = 10;
};

WatchWish wish_of(const Plan& plan, const TraceOptions& options) {
  WatchWish wish;
  wish.filter = filter_of_option(options.filter);
  for (const PlanActor& actor : plan.actors) {
    wish.actors.push_back(actor.kind != ActorKind::kHub && actor.kind != ActorKind::kStandby);
  }
  wish.ring_bytes = kRingBytes;
  wish.trace_count = static_cast<std::uint32_t>(options.count) + kSpare;
  wish.slot_count = plan.slot_count;
  return wish;
}

void print(const Plan& plan, const TracedPacket& packet, std::uint64_t number,
           const TraceOptions& options) {
  if (options.json) {
    std::cout << trace_json(plan, packet, number).dump() << '\n' << std::flush;
  } else {
    std::cout << trace_text(plan, packet, number, wants_colour(STDOUT_FILENO)) << std::flush;
  }
}

/// Returns how many were followed to their end.
std::uint64_t follow(const TraceOptions& options, const std::string& run_dir) {
  const Observed observed = observe(run_dir);
  Watching watching(observed, run_dir, wish_of(observed.plan, options));
  watching.await_all("steps");
  watching.begin_to_follow();
  TraceGatherer gatherer;
  std::uint64_t done = 0;
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  for (;;) {
    Watching::Shown shown;
    while (done < options.count && watching.next(shown, false)) {
      std::uint64_t since = 0;
      if (shown.bytes.size() == sizeof(TraceStep)) {
        since = reinterpret_cast<const TraceStep*>(shown.bytes.data())->since_tsc;
      }
      if (auto packet = gatherer.add(shown, watching.time_ns(since))) {
        print(observed.plan, *packet, ++done, options);
      }
    }
    if (done == options.count || Clock::now() > end || !std::cout) return done;
    if (!watching.goes_on()) return done;
    std::this_thread::sleep_for(kWatchPause);
  }
}

void trace(const TraceOptions& options) {
  const std::uint64_t done = follow(options, running_dir(options));
  if (done == options.count) return;
  std::ostringstream text;
  text << done << " of " << options.count << " packets came through within " << options.seconds
       << " s" << (options.filter.empty() ? "" : "; the filter may take none");
  throw Error(text.str());
}

constexpr const char* kTraceHelp =
    "Each packet is followed from its port to its end: a line for each step, with the time since\n"
    "the step before.\n"
    "--filter takes what tcpdump takes (man pcap-filter), of the packet as it comes in:\n"
    "  millrace trace edge --filter 'host 10.1.0.5 and udp port 53' --count 3\n"
    "  millrace trace edge --filter 'icmp' --seconds 60 --json\n"
    "Without a filter any packet will do. It ends with an error when so many have not come.";

}  // namespace

void add_trace(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("trace", "follow packets through actors, links and functions, with times");
  auto options = std::make_shared<TraceOptions>();
  add_running_options(*command, *options);
  command->add_option("--filter", options->filter,
                      "follow only packets that match this pcap filter");
  command->add_option("--count", options->count, "follow N packets")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--seconds", options->seconds, "give up after N seconds (default 10)")
      ->check(CLI::Range(0.1, 1e6));
  command->footer(kTraceHelp);
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { trace(*options); });
  });
}

}  // namespace millrace
