// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/ending.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/flow_filter.hpp"
#include "orchestration/cli/flow_look.hpp"
#include "orchestration/cli/follow_reader.hpp"
#include "orchestration/cli/follow_text.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/cli/watching.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kFlowsShown = 5;

constexpr const char* kFollowHelp =
    "FLOW is a line of `millrace flows`, or a filter as that takes it, which leaves one "
    "connection\n"
    "of TCP:\n"
    "  millrace follow edge \"10.1.0.5:40000 > 192.0.2.9:80\"\n"
    "  millrace follow edge src=10.1.0.5 dport=80\n"
    "  millrace follow edge dport=25 --raw --direction to_server > mail\n"
    "What the first sender says has > in front, what it is told <; bytes that are no text are\n"
    "escaped (\\xNN), and [n bytes missing] stands where some did not come by. --json has a line\n"
    "for each piece, with the bytes in base64.\n"
    "It shows what leaves the topology, in the order of the stream, from now on until the\n"
    "connection ends or Ctrl-C. Nothing waits for it: what it cannot take in time is missing.\n"
    "For all connections, and from their begin, there is the function `streams`.";

struct FollowOptions : RunningOptions {
  std::vector<std::string> flow;
  bool raw = false;
  std::string direction = "both";
  double seconds = 0;
  std::uint64_t bytes = 0;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// The one connection that is meant. Throws Error that says which ones there are.
FlowLine flow_of(const Observed& observed, const std::string& run_dir, const std::string& text) {
  const FlowFilter filter(follow_filter(text));
  const SegmentLook segment(segment_of(observed.plan, run_dir), observed.plan);
  const FlowLook look(observed.plan, segment, "");
  std::vector<FlowLine> lines;
  look.list(0, [&](FlowLine line) {
    if (line.tuple.protocol == ip_protocol::kTcp && filter.takes(line)) {
      lines.push_back(std::move(line));
    }
  });
  if (lines.empty()) {
    throw Error("no TCP connection is '" + text + "'; `millrace flows " + observed.plan.name +
                " --filter proto=tcp` lists them");
  }
  if (lines.size() == 1) return lines[0];
  std::string list;
  for (std::size_t i = 0; i < std::min(lines.size(), kFlowsShown); ++i) {
    list += "\n  " + flow_ends_text(lines[i]);
  }
  if (lines.size() > kFlowsShown) list += "\n  ...";
  throw Error("'" + text + "' is " + std::to_string(lines.size()) +
              " connections of TCP; name one of them:" + list);
}

/// Of a translated connection the side of its first sender has its addresses, in both ways; of
/// others packets are looked at as they leave.
std::vector<std::string> ports_of(const Plan& plan, const FlowLine& flow) {
  std::vector<std::string> ports;
  for (const PlanPort& port : plan.ports) {
    ports.push_back(flow.is_translated() ? port.name : port.name + ":out");
  }
  return ports;
}

class Follow {
 public:
  Follow(const FollowOptions& options, const std::string& run_dir)
      : options_(options),
        observed_(observe(run_dir)),
        flow_(flow_of(observed_, run_dir, joined(options.flow))),
        watching_(observed_, run_dir, wish()),
        reader_(flow_.tuple, [this](const FollowedPiece& piece) { show(piece); }) {}

  void run() {
    watching_.await_all("packets");
    std::cerr << "following " << flow_ends_text(flow_) << "; Ctrl-C ends it\n";
    began_ = Clock::now();
    while (!is_over()) {
      if (!take_some(false)) std::this_thread::sleep_for(kWatchPause);
    }
    while (take_some(true)) continue;
    reader_.finish();
    std::cout << std::flush;
    tell();
  }

 private:
  WatchWish wish() const {
    WatchWish wish = wish_of(
        observed_.plan, watch_places(observed_.plan, ports_of(observed_.plan, flow_), {}, false));
    wish.filter = filter_of_option(follow_pcap_filter(flow_.tuple));
    return wish;
  }

  bool is_over() {
    if (g_ended || !std::cout || reader_.has_ended() || is_full()) return true;
    const std::chrono::duration<double> since = Clock::now() - began_;
    return (options_.seconds != 0 && since.count() >= options_.seconds) || !watching_.goes_on();
  }
  bool is_full() const { return options_.bytes != 0 && shown_[0] + shown_[1] >= options_.bytes; }

  /// True when there was something.
  bool take_some(bool at_once) {
    constexpr std::uint32_t kPerFlush = 1024;
    Watching::Shown shown;
    std::uint32_t count = 0;
    for (; count < kPerFlush && !is_full() && watching_.next(shown, at_once); ++count) {
      reader_.take(shown.bytes);
    }
    if (count != 0) std::cout << std::flush;
    return count != 0;
  }

  void show(FollowedPiece piece) {
    const bool is_wanted = options_.direction == "both" ||
                           (options_.direction == "to_server") == (piece.direction == 0);
    if (!is_wanted || is_full()) return;
    if (options_.bytes != 0) {
      const std::uint64_t rest = options_.bytes - shown_[0] - shown_[1];
      piece.bytes = piece.bytes.first(std::min<std::uint64_t>(piece.bytes.size(), rest));
    }
    shown_[piece.direction] += piece.bytes.size();
    missing_ += piece.missing;
    if (options_.raw) {
      std::cout.write(reinterpret_cast<const char*>(piece.bytes.data()),
                      static_cast<std::streamsize>(piece.bytes.size()));
    } else {
      std::cout << (options_.json ? followed_json(piece) : followed_text(piece));
    }
  }

  void tell() const {
    std::cerr << shown_[0] << " bytes to the server, " << shown_[1] << " to the client, "
              << missing_ << " missing";
    if (reader_.unread() != 0) std::cerr << ", " << reader_.unread() << " packets not read";
    if (reader_.has_ended()) std::cerr << "; the connection has ended";
    std::cerr << '\n';
  }

  const FollowOptions& options_;
  Observed observed_;
  FlowLine flow_;
  Watching watching_;
  FollowReader reader_;
  std::array<std::uint64_t, 2> shown_{};  ///< bytes, by direction
  std::uint64_t missing_ = 0;
  Clock::time_point began_ = Clock::now();
};

}  // namespace

void add_follow(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "follow",
      "show the bytes of a TCP connection, both ways, as they come: millrace follow NAME FLOW");
  auto options = std::make_shared<FollowOptions>();
  add_running_options(*command, *options);
  command->add_option("flow", options->flow, "the connection; see below")->required();
  command
      ->add_flag("--raw", options->raw,
                 "print the bytes unchanged, both directions mixed as they come")
      ->excludes("--json");
  command->add_option("--direction", options->direction, "show only this direction")
      ->check(CLI::IsMember({"both", "to_server", "to_client"}))
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "stop after N seconds")
      ->check(CLI::Range(0.01, 1e6));
  command->add_option("--bytes", options->bytes, "stop after N bytes")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{INT64_MAX}));
  command->footer(kFollowHelp);
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] {
      end_on_signals();
      Follow(*options, running_dir(*options)).run();
    });
  });
}

}  // namespace millrace
