// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/neighbour_list.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/cli/segment_look.hpp"
#include "orchestration/cli/snapshot.hpp"
#include "shared/base/nearest.hpp"
#include "shared/base/run_words.hpp"

namespace millrace {
namespace {

constexpr const char* kNeighboursHelp =
    "States, as in `ip neigh`:\n"
    "  reachable   has answered, or proven otherwise that it is there, within 30 s\n"
    "  stale       its last proof is older; the next packet to it goes, and asks it again\n"
    "  probe       the same, asked again without an answer so far\n"
    "  incomplete  asked for; packets to it wait at the egress\n"
    "  failed      three questions without an answer; packets to it are dropped for 3 s\n"
    "  permanent   told by the kernel behind the port ('neighbours: kernel'), never asked for\n"
    "'stays': it never gives way to another when the table is full.\n"
    "Without a packet none is asked for: an entry that is not used keeps the state that it had.";

struct NeighboursOptions : RunningOptions {
  std::string port;
  std::string forget;
};

std::optional<std::uint32_t> port_number(const Plan& plan, const std::string& name) {
  if (name.empty()) return std::nullopt;
  std::vector<std::string_view> names;
  for (const PlanPort& port : plan.ports) names.emplace_back(port.name);
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) throw Error(no_such("port", name, names));
  return static_cast<std::uint32_t>(at - names.begin());
}

void show(const Observed& observed, const NeighbourTableView& table,
          const NeighboursOptions& options) {
  const NeighbourList list =
      list_neighbours(table, neighbour_now_ms(observed), port_number(observed.plan, options.port));
  if (options.json) {
    std::cout << json_text(neighbours_json(observed.plan, list)) << '\n';
  } else {
    std::cout << neighbours_text(observed.plan, list, wants_colour(STDOUT_FILENO));
  }
}

/// At one port, or at each that has it.
void forget(const Plan& plan, const NeighbourTableView& table, const NeighboursOptions& options) {
  const auto wanted = port_number(plan, options.port);
  nlohmann::ordered_json ports = nlohmann::ordered_json::array();
  for (std::uint32_t port = 0; port < plan.ports.size(); ++port) {
    const auto key = key_of_address(options.forget, port);
    if (!key) throw Error("--forget: '" + options.forget + "' is no IPv4 or IPv6 address");
    if (wanted && *wanted != port) continue;
    if (table.forget(*key)) ports.push_back(plan.ports[port].name);
  }
  if (ports.empty()) {
    throw Error("no neighbour " + options.forget +
                (wanted ? " at port '" + options.port + "'" : "") +
                "; see which there are: millrace neighbours " +
                words_for_run(options.name, running_dir(options)));
  }
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"ok", true}, {"forgotten", options.forget}, {"ports", ports}};
    std::cout << json_text(json) << '\n';
    return;
  }
  for (const auto& port : ports) {
    std::cout << options.forget << " at " << port.get<std::string>() << ": forgotten\n";
  }
}

void neighbours(const NeighboursOptions& options) {
  const std::string run_dir = running_dir(options);
  const Observed observed = observe(run_dir);
  const bool changes = !options.forget.empty();
  const SegmentLook segment(segment_of(observed.plan, run_dir), observed.plan, changes);
  if (changes) {
    forget(observed.plan, segment.neighbours(), options);
  } else {
    show(observed, segment.neighbours(), options);
  }
}

}  // namespace

void add_neighbours(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "neighbours",
      "list hosts beside the ports of a router: address, port, MAC address, state, age");
  auto options = std::make_shared<NeighboursOptions>();
  add_running_options(*command, *options);
  command->add_option("port", options->port, "list only hosts at this port");
  command->add_option("--forget", options->forget,
                      "forget this address, at PORT or everywhere; it is asked for when needed");
  command->footer(kNeighboursHelp);
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { neighbours(*options); });
  });
}

}  // namespace millrace
