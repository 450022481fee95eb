// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <iostream>
#include <memory>
#include <utility>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/route_look.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/cli/segment_look.hpp"
#include "orchestration/cli/snapshot.hpp"
#include "services/functions/image_file.hpp"
#include "services/functions/route/route_settings.hpp"
#include "shared/base/error.hpp"
#include "shared/base/say.hpp"
#include "shared/control/run_state.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace {
namespace {

constexpr const char* kRoutesHelp =
    "Without ADDRESS: what the table was made of, and its next hops with the packets whose "
    "look-up\n"
    "ended there. With ADDRESS: what becomes of a packet to it, as `ip route get` says it: next\n"
    "hop, port, MAC address and state of the neighbour (millrace neighbours --help).\n"
    "It is read from the table that workers have in use, not from its files.";

struct RoutesOptions : RunningOptions {
  std::string address;
  std::string function;
};

std::vector<std::uint64_t> hits_by_hop(const Observed& observed, std::uint32_t function,
                                       std::size_t hop_count) {
  const std::uint32_t first = function_counter_first(observed.plan, function);
  const auto count = static_cast<std::uint32_t>(
      std::min<std::size_t>(observed.plan.functions[function].counter_count, hop_count));
  std::vector<std::uint64_t> sums(count, 0);
  for (std::uint32_t actor = 0; actor < observed.plan.actors.size(); ++actor) {
    const auto hits = observed.status.function_counters(actor, first, count);
    for (std::uint32_t i = 0; i < count; ++i) {
      sums[i] += std::atomic_ref(hits[i]).load(std::memory_order_relaxed);
    }
  }
  return sums;
}

void add_build(const std::string& run_dir, RouteLook& look) {
  for (const TableFacts& facts : load_run_state(run_dir).tables) {
    if (facts.function != look.function) continue;
    look.accepted = facts.accepted;
    look.refused = facts.refused;
    look.generation = facts.generation;
  }
  struct stat info {};
  if (::stat(look.image.c_str(), &info) != 0) throw system_error("stat " + look.image, errno);
  constexpr std::uint64_t kStatBlockBytes = 512;
  look.image_bytes = static_cast<std::uint64_t>(info.st_size);
  look.stored_bytes = static_cast<std::uint64_t>(info.st_blocks) * kStatBlockBytes;
  look.built = time_stamp(static_cast<std::uint64_t>(info.st_mtim.tv_sec) * 1'000'000'000 +
                          static_cast<std::uint64_t>(info.st_mtim.tv_nsec));
}

void print(const RouteLook& look, const RoutesOptions& options) {
  if (options.json) {
    std::cout << json_text(options.address.empty() ? routes_json(look)
                                                   : route_to_json(look, options.address))
              << '\n';
  } else {
    std::cout << (options.address.empty() ? routes_text(look)
                                          : route_to_text(look, options.address));
  }
}

void look_and_print(const RoutesOptions& options, const std::string& run_dir,
                    const Observed& observed) {
  const std::uint32_t number = route_function(observed.plan, options.function);
  const PlanFunction& function = observed.plan.functions[number];
  const MappedImage image(function.image, kRouteImage);
  const SegmentLook segment(segment_of(observed.plan, run_dir), observed.plan);
  RouteLook look{.plan = observed.plan,
                 .function = function.name,
                 .table = view_route_image(image.bytes()),
                 .hits = {},
                 .neighbours = list_neighbours(segment.neighbours(), neighbour_now_ms(observed)),
                 .image = function.image};
  look.hits = hits_by_hop(observed, number, look.table.hops.size());
  for (const auto& [key, value] : function.settings) {
    if (key == "table") look.files.push_back(value);
  }
  look.of_kernel = route_settings(function).follows_kernel;
  look.live = image.header().live != 0;
  add_build(run_dir, look);
  print(look, options);
}

/// A table may give way to the next one while it is being looked at: then that one is.
void routes(const RoutesOptions& options) {
  const std::string run_dir = running_dir(options);
  for (Observed observed = observe(run_dir);;) {
    try {
      return look_and_print(options, run_dir, observed);
    } catch (const Error&) {
      Observed now = observe(run_dir);
      if (now.plan.revision == observed.plan.revision) throw;
      observed = std::move(now);
    }
  }
}

}  // namespace

void add_routes(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "routes", "show a router's next hops and their packets, or where ADDRESS leads");
  auto options = std::make_shared<RoutesOptions>();
  add_running_options(*command, *options);
  command->add_option("address", options->address, "show where a packet to this address would go");
  command->add_option("--function", options->function,
                      "the function to show, when several are of type route");
  command->footer(kRoutesHelp);
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { routes(*options); });
  });
}

}  // namespace millrace
