// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/try_run.hpp"
#include "shared/base/limits.hpp"
#include "shared/config/plan_reasons.hpp"

namespace millrace {
namespace {

double ns_per_packet(const TriedFunction& tried) {
  return tried.packets == 0
             ? 0
             : static_cast<double>(tried.time_ns) / static_cast<double>(tried.packets);
}

nlohmann::ordered_json json_of(const TriedFunction& tried) {
  nlohmann::ordered_json hits = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < tried.hits.size(); ++i) {
    if (tried.hits[i] != 0) hits[std::to_string(i)] = tried.hits[i];
  }
  return {{"type", tried.plan.type},           {"ns_per_packet", ns_per_packet(tried)},
          {"accepted", tried.report.accepted}, {"refused", tried.report.refused},
          {"refusals", tried.report.refusals}, {"hits", hits}};
}

nlohmann::ordered_json json_of(const TryRun& run, const TryTotals::ByReason& counts) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) json[reason_text(run.reasons(), i)] = counts[i];
  }
  return json;
}

void print_json(const TryRun& run) {
  nlohmann::ordered_json functions = nlohmann::ordered_json::array();
  for (const TriedFunction& tried : run.functions()) functions.push_back(json_of(tried));
  const nlohmann::ordered_json json = {{"ok", run.totals().broken.empty()},
                                       {"packets", run.totals().packets},
                                       {"passed", run.totals().passed},
                                       {"done", json_of(run, run.totals().done)},
                                       {"dropped", json_of(run, run.totals().dropped)},
                                       {"consumed", json_of(run, run.totals().consumed)},
                                       {"oversize_longest", run.totals().oversize_longest},
                                       {"functions", functions},
                                       {"classes", run.classes()},
                                       {"broken_captures", run.totals().broken}};
  std::cout << json_text(json) << '\n';
}

/// What makes functions see packets that were oversize.
void print_hint(std::uint32_t longest) {
  if (longest == 0) return;
  constexpr std::uint32_t kEthernetBytes = 14;
  const std::uint32_t mtu = longest - kEthernetBytes;
  std::cout << "         the longest of those has " << longest << " bytes: ";
  if (mtu <= kTryMtuMax) {
    std::cout << "--mtu " << mtu << " looks at it too\n";
  } else {
    std::cout << "too many for any port; --mtu " << kTryMtuMax << " looks at what is shorter\n";
  }
}

void print_fate(const TryRun& run, std::string_view fate, const TryTotals::ByReason& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    std::cout << fate << counts[i];
    if (static_cast<Reason>(i) != Reason::kNone) {
      std::cout << "  " << reason_text(run.reasons(), i);
    }
    std::cout << '\n';
  }
}

void print_text(const TryRun& run) {
  for (const TriedFunction& tried : run.functions()) {
    for (const std::string& refusal : tried.report.refusals) {
      std::cout << "refused " << refusal << '\n';
    }
    if (tried.traits->has_image) {
      std::cout << tried.plan.type << ": table of " << tried.report.accepted << " entries, "
                << tried.report.refused << " refused\n";
    }
  }
  for (const std::string& broken : run.totals().broken)
    std::cout << "not read whole: " << broken << '\n';
  std::cout << "packets  " << run.totals().packets << "\npassed   " << run.totals().passed << '\n';
  print_fate(run, "done     ", run.totals().done);
  print_fate(run, "dropped  ", run.totals().dropped);
  print_fate(run, "consumed ", run.totals().consumed);
  print_hint(run.totals().oversize_longest);
  for (const TriedFunction& tried : run.functions()) {
    std::cout << tried.plan.type << ": " << std::lround(ns_per_packet(tried)) << " ns a packet\n";
  }
}

}  // namespace

void add_try(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "try", "run functions over captures, here and now; no root, no huge pages");
  auto options = std::make_shared<TryOptions>();
  auto json = std::make_shared<bool>(false);
  command->add_option("function", options->functions, "a type, or several: route,match")
      ->required();
  command
      ->add_option("--pcap", options->captures, "read packets from this capture; may be repeated")
      ->required();
  command->add_option(
      "--out", options->out,
      "write packets that leave, also answers, to this capture; of several --pcap: to a folder");
  command->add_option("--verdicts", options->verdicts,
                      "write a line of text for each packet; of several --pcap: to a folder");
  command->add_option("--events", options->events,
                      "write alerts and connections, lines of EVE JSON; after the last packet "
                      "time goes on until every connection has ended");
  command
      ->add_option("--set", options->settings, "set KEY=VALUE or TYPE.KEY=VALUE: table=routes.txt")
      ->allow_extra_args(false);
  command->add_option("--port", options->ports, "add a port: wan=02:00:00:00:00:01,192.0.2.2/24")
      ->allow_extra_args(false);
  command->add_option("--in", options->port_in,
                      "the --port at which the packets arrive; without it nothing is answered");
  command
      ->add_option("--mtu", options->mtu,
                   "MTU of the ports; a packet that does not fit is dropped as oversize")
      ->check(CLI::Range(kMtuMin, kTryMtuMax))
      ->capture_default_str();
  command->add_flag("--json", *json, "the result as JSON; errors too");
  command->callback([options, json] {
    run_command(*json ? Format::kJson : Format::kText, [&] {
      TryRun run(*options);
      run.run();
      *json ? print_json(run) : print_text(run);
      // All is shown, but not all that was asked for was looked at.
      if (!run.totals().broken.empty()) throw CLI::RuntimeError(kExitInvalid);
    });
  });
}

}  // namespace millrace
