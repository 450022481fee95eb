// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/topology_file.hpp"

#include <filesystem>
#include <iostream>
#include <set>
#include <utility>

#include "io-worker/ports/port.hpp"
#include "io-worker/ports/rtnetlink.hpp"
#include "orchestration/cli/same_place.hpp"
#include "orchestration/planner/loader.hpp"
#include "orchestration/planner/plan_diff.hpp"
#include "orchestration/planner/plan_sources.hpp"
#include "orchestration/supervisor/bypass.hpp"
#include "orchestration/supervisor/history.hpp"
#include "orchestration/supervisor/remote_control.hpp"
#include "services/functions/acl/acl.hpp"
#include "services/functions/firewall/firewall.hpp"
#include "services/functions/flow/flow_settings.hpp"
#include "services/functions/route/kernel_routes.hpp"
#include "services/functions/table.hpp"
#include "shared/base/secrets.hpp"
#include "shared/config/plan_settings.hpp"
#include "shared/control/run_state.hpp"

namespace millrace {
namespace {

/// The place of the setting that a message speaks of, else that of the item.
template <typename Item>
SourceMark place_of(const std::string& why, const Item& item) {
  for (const TopologySetting& setting : item.settings) {
    if (why.find(setting.key + " is '" + setting.value.value + "'") != why.npos) {
      return setting.value.mark;
    }
  }
  return item.name.mark;
}

/// Adds what an Error of `check` says of the item.
template <typename Item, typename Check>
void gather(Problems& problems, const Topology& topology, const Item& item, const char* kind,
            Check&& check) {
  try {
    check();
  } catch (const Error& error) {
    const std::string why = without_secrets(error.what(), topology.secrets);
    problems.add(place_of(error.what(), item), std::string(kind) + " '" + item.name.value +
                                                   "' that cannot be used (" + why + ")");
  }
}

void check_parts(const Topology& topology, const Plan& plan) {
  Problems problems;
  for (std::size_t i = 0; i < plan.ports.size(); ++i) {
    gather(problems, topology, topology.ports[i], "port", [&] { check_port(plan.ports[i]); });
  }
  for (std::size_t i = 0; i < plan.functions.size(); ++i) {
    const PlanFunction& function = plan.functions[i];
    gather(problems, topology, topology.functions[i], "function", [&] {
      function_type(function.type).check(function);
      if (follows_kernel(function)) check_host_interfaces(plan.ports, "routes");
      if (follows_kernel_neighbours(function)) check_host_interfaces(plan.ports, "neighbours");
    });
  }
  problems.throw_if_any();
}

/// Of interfaces that are here: where the topology will run there may be none of them, or others.
void look_at_interfaces(const Plan& plan, Topology& topology) {
  for (std::size_t i = 0; i < plan.ports.size(); ++i) {
    const auto wish = interface_wish(plan.ports[i]);
    const auto link = wish ? find_link(wish->interface) : std::nullopt;
    if (!link) continue;
    const std::string text = mtu_warning(plan.ports[i].name, wish->mtu, wish->interface, link->mtu);
    if (!text.empty()) topology.warnings.push_back({topology.ports[i].name.mark, text});
  }
  if (const auto stacked = stacked_ports(plan.ports)) {
    topology.warnings.push_back({topology.ports[stacked->upper].name.mark, stacked->trouble});
  }
}

/// Functions that are to tell of packets where nothing hears it.
void look_at_events(const Plan& plan, Topology& topology) {
  if (topology.events) return;
  for (std::size_t i = 0; i < plan.functions.size(); ++i) {
    const TopologyFunction& function = topology.functions[i];
    const auto asks = function_type(plan.functions[i].type).asks_for_events;
    const std::string what = asks == nullptr ? "" : asks(plan.functions[i]);
    if (what.empty()) continue;
    const auto setting = std::ranges::find(function.settings, "events", &TopologySetting::key);
    topology.warnings.push_back(
        {setting == function.settings.end() ? function.name.mark : setting->value.mark,
         "function '" + function.name.value + "' is to tell of packets (" + what +
             "), but nothing hears it without a section 'events: {}'"});
  }
}

/// Of the function's rule files, one with a rule that rejects; empty: none.
std::string file_that_rejects(const PlanFunction& function) {
  if (function.type == "acl") return acl_file_that_rejects(function);
  return function.type == "firewall" ? firewall_file_that_rejects(function) : "";
}

/// No sender is told of a packet for which a function in front of the filter has chosen the output.
void look_at_rejects(const Plan& plan, Topology& topology) {
  for (const TopologyPath& path : topology.paths) {
    std::string router;
    for (const Marked<std::string>& name : path.run) {
      const PlanFunction& function = plan.functions[index_of(topology.functions, name.value)];
      if (function.type == "route") router = function.name;
      if (router.empty()) continue;
      const std::string file = file_that_rejects(function);
      if (file.empty()) continue;
      topology.warnings.push_back(
          {name.mark, "path '" + path.name.value + "' runs '" + function.name + "' behind '" +
                          router + "': what it rejects (" + file +
                          ") is dropped in silence there; it tells senders in front of '" + router +
                          "'"});
    }
  }
}

/// Of a path, in its order: what stands in front of a function of it.
struct InFront {
  std::string flow, translation, router;  ///< names of functions; empty: none
};

/// Why no client gets through a rule of synproxy there; empty: it does.
std::string hinders_synproxy(const InFront& front, const Plan& plan, const Topology& topology) {
  if (!front.router.empty()) {
    return "behind '" + front.router +
           "': the output of a SYN has been chosen there, so none is answered, and no connection "
           "opens; it belongs in front of '" +
           front.router + "'";
  }
  if (!front.translation.empty()) {
    return "behind '" + front.translation +
           "': it answers a SYN with the addresses that it sees, which are translated ones there; "
           "it belongs in front of '" +
           front.translation + "'";
  }
  if (front.flow.empty()) return "";
  const FlowSettings flow =
      flow_settings(plan.functions[index_of(topology.functions, front.flow)].settings);
  if (flow.tcp.pickup || !flow.drop_invalid) return "";
  return "behind '" + front.flow +
         "' with pickup: false and invalid: drop: the ACK that brings a cookie back is dropped "
         "there, and no connection opens";
}

void look_at_synproxy(const Plan& plan, Topology& topology) {
  for (const TopologyPath& path : topology.paths) {
    InFront front;
    for (const Marked<std::string>& name : path.run) {
      const PlanFunction& function = plan.functions[index_of(topology.functions, name.value)];
      if (function.type == "flow") front.flow = function.name;
      if (function.type == "nat" || function.type == "nat64") front.translation = function.name;
      if (function.type == "route") front.router = function.name;
      const std::string why =
          function.type == "firewall" ? hinders_synproxy(front, plan, topology) : "";
      const std::string file = why.empty() ? "" : firewall_file_of_synproxy(function);
      if (file.empty()) continue;
      topology.warnings.push_back({name.mark, "path '" + path.name.value + "' runs '" +
                                                  function.name + "', which has synproxy (" + file +
                                                  "), " + why});
    }
  }
}

/// What one port writes is no other's: neither what another writes nor what one reads, nor what
/// the topology was read from.
void check_outputs(const Topology& topology, const std::set<std::string>& read,
                   Problems& problems) {
  const auto compare = [&](const auto& owner, const TopologyPort& port,
                           const TopologySetting& out) {
    for (const TopologySetting& other : owner.settings) {
      const bool file =
          other.kind == SettingKind::kInputFile || other.kind == SettingKind::kOutputFile;
      if (!file || &other == &out || !same_place(other.value.value, out.value.value)) continue;
      problems.add(out.value.mark,
                   "'" + out.value.value + "' as '" + out.key + "' of port '" + port.name.value +
                       "', which is '" + other.key + "' of '" + owner.name.value + "' too",
                   "a file of its own");
    }
  };
  for (const TopologyPort& port : topology.ports) {
    for (const TopologySetting& setting : port.settings) {
      if (setting.kind != SettingKind::kOutputFile) continue;
      for (const TopologyPort& other : topology.ports) compare(other, port, setting);
      for (const TopologyFunction& one : topology.functions) compare(one, port, setting);
      for (const std::string& source : read) {
        if (!same_place(source, setting.value.value)) continue;
        problems.add(setting.value.mark,
                     "'" + setting.value.value + "' as '" + setting.key + "' of port '" +
                         port.name.value + "', which the topology was read from",
                     "a file of its own");
      }
    }
  }
}

/// The topology, what it includes, and what its functions read: tables and rules.
std::vector<std::string> sources_of(const Topology& topology, const std::string& self,
                                    std::set<std::string> read) {
  for (const TopologyFunction& function : topology.functions) {
    for (const TopologySetting& setting : function.settings) {
      if (setting.kind == SettingKind::kInputFile) read.insert(setting.value.value);
    }
  }
  read.erase(self);
  std::vector<std::string> sources = {source_of(self)};
  for (const std::string& path : read) sources.push_back(source_of(path));
  return sources;
}

}  // namespace

PlanDiff diff_to_running(const TopologyFile& file, const Plan& running,
                         const std::string& run_dir) {
  PlanDiff diff = diff_plans(History(run_dir).as_written(running), file.plan);
  if (remote_control_of(file.topology) != load_run_state(run_dir).control) {
    diff.restart.emplace_back("control");
  }
  std::optional<Bypass> bypass = load_bypass(run_dir);
  if (bypass) {
    bypass->on = false;
    bypass->called.clear();
  }
  if (bypass_of(file.topology) != bypass) diff.restart.emplace_back("bypass");
  return diff;
}

bool plans_the_same(const TopologyFile& file, const Plan& running, const std::string& run_dir) {
  const PlanDiff diff = diff_to_running(file, running, run_dir);
  return diff.functions.empty() && diff.stages.empty() &&
         diff.restart.empty();  // it may have been scaled
}

void print_warnings(const Topology& topology) {
  for (const TopologyWarning& warning : topology.warnings) {
    std::cerr << to_text(warning) << '\n';
  }
}

TopologyFile read_topology_file(const std::string& path, const Host& host) {
  const std::vector<KnownFunction> known = known_functions();
  TopologyFile file;
  const std::string self = std::filesystem::absolute(path).lexically_normal();
  std::set<std::string> read = {self};
  Problems problems;
  file.topology = load_topology(
      path, known, problems, [&](const std::filesystem::path& name, std::size_t most, bool secret) {
        read.insert(std::filesystem::absolute(name).lexically_normal());
        return read_config_file(name, most, secret);
      });
  check_files(file.topology, problems);
  check_outputs(file.topology, read, problems);
  check_remote_control(file.topology, problems);
  problems.throw_if_any();
  file.plan = make_plan(file.topology, known, host);
  check_parts(file.topology, file.plan);
  look_at_interfaces(file.plan, file.topology);
  look_at_events(file.plan, file.topology);
  look_at_rejects(file.plan, file.topology);
  look_at_synproxy(file.plan, file.topology);
  file.plan.sources = sources_of(file.topology, self, std::move(read));
  return file;
}

}  // namespace millrace
