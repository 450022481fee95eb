// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <thread>
#include <tuple>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/flow_filter.hpp"
#include "orchestration/cli/flow_look.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/cli/snapshot.hpp"
#include "shared/base/clock.hpp"

namespace millrace {
namespace {

constexpr const char* kFlowsHelp =
    "Each line is a connection as its first packet had it, with packets and bytes of that\n"
    "direction / of the answers, how long ago it began and was last heard of, and when it is\n"
    "forgotten unless a packet comes. Bytes are those of IP packets.\n"
    "States: new (no answer yet), established; of TCP syn_sent, syn_recv, established,\n"
    "fin_wait, close_wait, last_ack, time_wait, close, syn_sent2, as conntrack has them.\n"
    "\n"
    "--filter takes pairs between spaces, all of which have to hold; values behind commas are\n"
    "alternatives, and != is the contrary:\n"
    "  src=10.0.0.0/8 dst=192.0.2.9     ends of the first packet: address or prefix\n"
    "  sport=1024-65535 dport=53,443    its ports: number or range\n"
    "  addr=... port=...                any end, also behind a translation\n"
    "  proto=tcp,udp,icmp,icmpv6,sctp   or a number\n"
    "  state=established  translated=yes  path=main  lane=3  function=flow\n"
    "--json: \"first\" has src, sport, dst, dport (of ICMP icmp_id, icmp_type) of the first "
    "packet,\n"
    "\"answer\" those of the packets that answer it: behind nat they are other ones. packets and\n"
    "bytes are [first direction, answers]; age_s, idle_s and expires_s are seconds; assured: it\n"
    "has lasted, and does not give way to others when the table is full.\n"
    "Examples:\n"
    "  millrace flows edge --filter \"proto=tcp state=syn_sent\" --count\n"
    "  millrace flows edge --filter \"src!=10.1.0.0/16 dport=22,3389\"\n"
    "  millrace flows edge --filter translated=yes --json | jq '.flows[].answer.dst'\n"
    "  millrace flows edge --top 10 --by rate\n"
    "  millrace flows edge --follow --filter \"dst=192.0.2.0/24\"\n"
    "It reads the memory that workers change and holds none up: what comes or goes during the\n"
    "look may be missing. --follow looks twice a second, and does not see shorter connections;\n"
    "events do (section 'events').";

struct FlowsOptions : RunningOptions {
  std::string function, filter;
  bool count = false, follow = false;
  std::uint32_t top = 0;
  std::string by = "bytes";
};

using FlowLines = std::vector<FlowLine>;
/// What tells a connection from others, now and later.
using FlowIdentity =
    std::tuple<std::string, std::string, std::uint32_t, std::uint32_t, std::uint64_t>;

FlowIdentity identity_of(const FlowLine& line) {
  return {line.function, line.path, line.lane, line.number, line.started_ms};
}

std::uint64_t now_ms_of(const Observed& observed) {
  const StatusHeader& header = observed.status.header();
  return TscScale(header.tsc_hz).ns_between(header.tsc_origin, tsc_now()) / 1'000'000;
}

/// Of a word that the command line takes.
FlowOrder order_of(const std::string& by) {
  if (by == "packets") return FlowOrder::kPackets;
  if (by == "rate") return FlowOrder::kRate;
  return by == "flows" ? FlowOrder::kFlows : FlowOrder::kBytes;
}

class Flows {
 public:
  Flows(const FlowsOptions& options, const std::string& run_dir)
      : options_(options),
        observed_(observe(run_dir)),
        filter_(options.filter),
        segment_(segment_of(observed_.plan, run_dir), observed_.plan),
        look_(observed_.plan, segment_, options.function) {}

  void show() {
    if (options_.count) return count();
    if (options_.top != 0) return top();
    if (options_.follow) return follow();
    const FlowLines lines = list();
    if (!options_.json) {
      std::cout << flows_text(lines) << summary(lines.size());
      return;
    }
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const FlowLine& line : lines) all.push_back(flow_json(line));
    print(
        {{"ok", true}, {"topology", observed_.plan.name}, {"flows", all}, {"room", look_.room()}});
  }

 private:
  static void print(const nlohmann::ordered_json& json) { std::cout << json_text(json) << '\n'; }

  FlowLines list() const {
    FlowLines lines;
    look_.list(now_ms_of(observed_), [&](FlowLine line) {
      if (filter_.takes(line)) lines.push_back(std::move(line));
    });
    return lines;
  }

  std::string summary(std::size_t count) const {
    return (count == 0 ? "no" : std::to_string(count)) +
           (count == 1 ? " connection" : " connections") + "; room for " +
           std::to_string(look_.room()) + "\n";
  }

  void count() const {
    std::uint64_t all = 0;
    std::map<std::string_view, std::uint64_t> by_state;
    look_.list(now_ms_of(observed_), [&](const FlowLine& line) {
      if (!filter_.takes(line)) return;
      ++all;
      ++by_state[line.state];
    });
    if (options_.json) {
      nlohmann::ordered_json states = nlohmann::ordered_json::object();
      for (const auto& [state, count] : by_state) states[std::string(state)] = count;
      return print({{"ok", true}, {"count", all}, {"states", states}});
    }
    std::cout << all << '\n';
  }

  /// Rates take two looks.
  void top() const {
    FlowLines lines = list();
    const FlowOrder by = order_of(options_.by);
    if (by == FlowOrder::kRate) {
      std::map<FlowIdentity, FlowLine> before;
      for (FlowLine& line : lines) before.emplace(identity_of(line), std::move(line));
      std::this_thread::sleep_for(std::chrono::seconds(1));
      lines = list();
      for (FlowLine& line : lines) put_rates(before, line);
    }
    const auto talkers = top_talkers(lines, by, options_.top);
    if (!options_.json) {
      std::cout << talkers_text(talkers) << summary(lines.size());
      return;
    }
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const FlowTalker& talker : talkers) all.push_back(talker_json(talker));
    print({{"ok", true}, {"talkers", all}, {"connections", lines.size()}});
  }

  static void put_rates(const std::map<FlowIdentity, FlowLine>& before, FlowLine& line) {
    const auto at = before.find(identity_of(line));
    const FlowLine none{};
    const FlowLine& old = at == before.end() ? none : at->second;
    const std::uint64_t since = at == before.end() ? line.started_ms : old.now_ms;
    const double seconds =
        static_cast<double>(std::max<std::uint64_t>(line.now_ms - since, 1)) / 1e3;
    const auto rate = [&](const auto& now, const auto& then) {
      return (static_cast<double>(now[0] + now[1]) - static_cast<double>(then[0] + then[1])) /
             seconds;
    };
    line.packets_s = rate(line.packets, old.packets);
    line.bytes_s = rate(line.bytes, old.bytes);
  }

  void tell(const char* what, const FlowLine& line) const {
    if (options_.json) {
      nlohmann::ordered_json json = {{"what", what}};
      json.update(flow_json(line));
      std::cout << json.dump() << '\n';
    } else {
      std::cout << flow_change_text(what, line);
    }
  }

  /// Prints changes until the topology ends, or the output is closed.
  void follow() const {
    std::map<FlowIdentity, FlowLine> known;
    for (bool first = true; std::cout && anybody_runs(observed_); first = false) {
      std::map<FlowIdentity, FlowLine> now;
      for (FlowLine& line : list()) now.emplace(identity_of(line), std::move(line));
      for (const auto& [identity, line] : known) {
        if (!now.contains(identity)) tell("ended", line);
      }
      for (const auto& [identity, line] : now) {
        if (!known.contains(identity)) tell(first ? "there" : "new", line);
      }
      std::cout << std::flush;
      known = std::move(now);
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
  }

  const FlowsOptions& options_;
  Observed observed_;
  FlowFilter filter_;
  SegmentLook segment_;
  FlowLook look_;
};

}  // namespace

void add_flows(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "flows", "list connections of a function of type flow: both ends, state, packets, age");
  auto options = std::make_shared<FlowsOptions>();
  add_running_options(*command, *options);
  command->add_option("--filter", options->filter, "show only flows that match; syntax below");
  command->add_option("--function", options->function,
                      "show only flows of this function (type flow)");
  auto* const count =
      command->add_flag("--count", options->count, "print only the number of flows");
  auto* const top = command->add_option("--top", options->top, "show the N sources with the most")
                        ->check(CLI::Range(1, 100'000))
                        ->excludes(count);
  command
      ->add_option("--by", options->by, "order by; rate: bytes a second, measured over one second")
      ->check(CLI::IsMember({"bytes", "packets", "rate", "flows"}))
      ->needs(top);
  command->add_flag("--follow", options->follow, "print flows when they begin and end")
      ->excludes(count)
      ->excludes(top);
  command->footer(kFlowsHelp);
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText,
                [&] { Flows(*options, running_dir(*options)).show(); });
  });
}

}  // namespace millrace
