// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <iomanip>
#include <sstream>
#include <utility>
#include <vector>

#include "orchestration/planner/plan_printer.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/secrets.hpp"
#include "shared/config/observers.hpp"
#include "shared/config/plan_fields.hpp"

namespace millrace {
namespace {

using Out = std::ostringstream;

std::string settings_text(const Plan& plan, const Settings& settings) {
  std::string text;
  for (const auto& [key, value] : settings) {
    text += " " + key + "=" + without_secrets(value, plan.secrets);
  }
  return text;
}

std::string megabytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", static_cast<double>(bytes) / 1e6);
  return text;
}

void put_ports(const Plan& plan, Out& out) {
  out << "ports\n";
  for (const PlanPort& port : plan.ports) {
    out << "  " << port.name << ": " << port.device << settings_text(plan, port.settings)
        << ", mtu " << port.mtu << ", mac " << port.mac;
    for (const std::string& address : port.addresses) out << ", " << address;
    if (port.host >= 0) {
      out << ", host behind it: " << plan.ports[static_cast<std::size_t>(port.host)].name;
    }
    out << '\n';
  }
}

void put_functions(const Plan& plan, Out& out) {
  if (!plan.functions.empty()) out << "functions\n";
  for (const PlanFunction& function : plan.functions) {
    out << "  " << function.name << ": " << function.type << " on "
        << plan.groups[function.group].name << settings_text(plan, function.settings);
    if (!function.image.empty()) out << ", image " << function.image;
    if (function.stateful) out << ", " << function.lane_state_bytes << " bytes of state a lane";
    for (const auto& [what, choice] : {std::pair("unavailable", function.unavailable),
                                       std::pair("overload", function.overload)}) {
      if (choice == Fallback::kWait) continue;
      out << ", " << what << ": " << enum_name(choice);
    }
    if (function.when_class != 0) {
      out << ", only class";
      for (std::size_t i = 0; i < plan.classes.size(); ++i) {
        if ((function.when_class >> i & 1) != 0) out << ' ' << plan.classes[i];
      }
    }
    out << '\n';
  }
}

/// " which takes 20 % of the batches and those above 32 at the GPU"
std::string split_text(const PlanGroup& group) {
  std::string text = " which takes ";
  if (is_balanced(group)) return text + "as many of the batches as both are measured to need";
  if (group.offload < 100) text += std::to_string(100 - group.offload) + " % of the batches and ";
  return text + "what a producer has beyond " + std::to_string(group.spill) + " batches at the GPU";
}

void put_groups(const Plan& plan, Out& out) {
  if (!plan.groups.empty()) out << "groups\n";
  for (const PlanGroup& group : plan.groups) {
    out << "  " << group.name << ": " << enum_name(group.kind) << ", " << group.count
        << " of at most " << group.max << ", dispatch " << enum_name(group.dispatch);
    if (is_gpu(group)) {
      out << ", stand-in " << plan.groups[group.stand_in].name << ',';
      if (splits(group)) out << split_text(group) << ',';
      out << settings_text(plan, group.settings);
    }
    out << '\n';
  }
}

void put_stages(const Plan& plan, std::uint8_t stage, Out& out) {
  for (; stage != kEgressStage; stage = plan.stages[stage].next) {
    out << " -> " << plan.groups[plan.stages[stage].group].name << '[';
    const char* separator = "";
    for (const std::uint32_t function : plan.stages[stage].functions) {
      out << separator << plan.functions[function].name;
      separator = " ";
    }
    out << ']' << (plan.stages[stage].stateful ? " (in order)" : "");
  }
  out << " -> egress";
}

std::string wait_text(std::uint64_t packets) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.0f us at 1 Mpps, %.0f us at 10 Mpps",
                static_cast<double>(packets), static_cast<double>(packets) / 10);
  return text;
}

void put_shares(const Plan& plan, std::uint8_t stage, Out& out) {
  for (; stage != kEgressStage; stage = plan.stages[stage].next) {
    const PlanStage& at = plan.stages[stage];
    if (at.share == 0) continue;
    const std::uint64_t sum = std::uint64_t{at.share} * producers_of(plan, stage);
    const std::uint64_t packets = sum * plan.batch_capacity;
    out << "    " << plan.groups[at.group].name << ": share of " << at.share << " batches ("
        << at.lane_share << " a lane) from each in front of it, " << sum << " in all, " << packets
        << " packets: a packet waits at most " << wait_text(packets)
        << "; packets above the share skip the stage\n";
  }
}

const char* lanes_by_text(LanesBy by) {
  if (by == LanesBy::kAddresses) return " by addresses";
  return by == LanesBy::kInside ? " by inside address" : "";
}

void put_paths(const Plan& plan, Out& out) {
  out << "paths\n";
  for (const PlanPath& path : plan.paths) {
    out << "  " << path.name << ": ingress";
    if (!path.match.empty()) out << " (" << path.match << ')';
    put_stages(plan, path.first_stage, out);
    out << ", " << path.lane_count << (path.lane_count == 1 ? " lane (" : " lanes (")
        << path.lane_first << " to " << path.lane_first + path.lane_count - 1 << ')'
        << (path.ordered ? lanes_by_text(path.lanes_by) : " in turn, without order")
        << (path.has_keys ? ", with keys of flows for the GPU\n" : "\n");
    put_shares(plan, path.first_stage, out);
  }
  out << "streams\n";
  for (const PlanStream& stream : plan.streams) {
    const std::uint64_t packets = std::uint64_t{stream.slot_count} * plan.batch_capacity;
    out << "  " << plan.actors[stream.ingress].name << " -> " << plan.actors[stream.egress].name
        << ":";
    for (const PlanStreamPath& at : stream.paths) {
      out << " path " << plan.paths[at.path].name << ", to " << plan.ports[at.output].name << ',';
    }
    out << ' ' << stream.slot_count << " slots, " << stream.buffer_count << " buffers\n"
        << "    at most " << packets << " packets in flight: they wait at most "
        << wait_text(packets) << '\n';
    for (const PlanStreamPath& at : stream.paths) {
      if (at.slots_max == 0) continue;
      out << "    path " << plan.paths[at.path].name << " uses at most " << at.slots_max
          << " slots; what comes then is refused (overload)\n";
    }
  }
}

void put_actors(const Plan& plan, Out& out) {
  const std::uint32_t started = started_count(plan);
  out << "processes: " << started << " at start, " << plan.actors.size() - started << " spare";
  const char* between = "; ";
  for (const ObserverKind& observer : kObservers) {
    if (observer.is_wanted(plan)) out << std::exchange(between, ", ") << observer.name;
  }
  out << '\n';
  for (std::size_t i = 0; i < plan.actors.size(); ++i) {
    const PlanActor& actor = plan.actors[i];
    out << "  " << std::setw(2) << i << "  " << std::left << std::setw(20) << actor.name << ' '
        << std::setw(10) << enum_name(actor.kind) << ' ' << std::setw(5)
        << (actor.at_start ? "start" : "spare") << std::right;
    if (actor.core >= 0) out << "  core " << actor.core;
    if (plan.nodes.size() > 1 && actor.node >= 0) out << "  node " << actor.node;
    out << '\n';
  }
  if (plan.fused) out << "placement: fused, one thread moves all packets\n";
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += ' ' + name;
  return list;
}

void put_cores(const Plan& plan, Out& out) {
  std::size_t cores = 0;
  for (const PlanNode& node : plan.nodes) cores += node.cores.size();
  const auto shared = shared_cores_of(plan);
  if (shared.empty()) {
    out << (plan.shared_cores ? "cores: shared, actors sleep when idle\n"
                              : "cores: one an actor, actors poll\n");
    return;
  }
  out << "cores: shared, actors sleep when idle";
  if (plan.shared_cores) {
    std::size_t movers = 0;
    for (const PlanActor& actor : plan.actors) movers += actor.at_start && moves_packets(actor);
    out << "; of " << cores << " that may be used one an actor and one for the rest would take "
        << movers + 1;
  }
  out << '\n';
  for (const auto& [core, names] : shared) {
    if (core >= 0) out << "  core " << core << " is shared by" << list_of(names) << '\n';
  }
}

void put_nodes(const Plan& plan, Out& out) {
  constexpr std::size_t kShown = 12;
  if (plan.nodes.size() < 2) return;
  out << "NUMA nodes: " << plan.nodes.size();
  if (plan.memory_node >= 0) out << ", memory on node " << plan.memory_node;
  out << '\n';
  for (const PlanNode& node : plan.nodes) {
    out << "  node " << node.number << ": " << node.cores.size() << " cores, from "
        << node.cores.front() << " to " << node.cores.back();
    for (const PlanPort& port : plan.ports) {
      if (port.node == static_cast<int>(node.number)) out << ", port " << port.name;
    }
    out << '\n';
  }
  const std::vector<NodeCrossing> crossings = node_crossings(plan);
  out << "node crossings: " << (crossings.empty() ? "none" : std::to_string(crossings.size()))
      << '\n';
  for (std::size_t i = 0; i < crossings.size() && i < kShown; ++i) {
    out << "  " << crossings[i].from << " (node " << crossings[i].from_node << ") -> "
        << crossings[i].to << " (node " << crossings[i].to_node << ")\n";
  }
  if (crossings.size() > kShown) {
    out << "  and " << crossings.size() - kShown << " more, see --json\n";
  }
}

void put_links(const Plan& plan, Out& out) {
  out << "links: " << plan.links.size();
  if (!plan.links.empty()) {
    const auto [least, most] = std::ranges::minmax_element(plan.links, {}, &PlanLink::depth);
    out << ", " << least->depth << " to " << most->depth << " descriptors deep";
  }
  std::size_t column = SIZE_MAX / 2;
  for (const PlanLink& link : plan.links) {
    const std::string name = link_name(plan, link);
    if (column + name.size() + 1 > 98) {
      out << "\n ";
      column = 1;
    }
    out << ' ' << name;
    column += name.size() + 1;
  }
  out << '\n';
}

void put_memory(const Plan& plan, Out& out) {
  const PlanMemory memory = plan_memory(plan);
  out << "memory: " << megabytes(memory.total) << " MB in " << memory.total / kHugePage
      << " huge pages: slots " << megabytes(memory.slots) << ", buffers "
      << megabytes(memory.buffers) << " (" << plan.buffer_stride << " bytes each), links "
      << megabytes(memory.links);
  if (memory.loops != 0) out << ", loops " << megabytes(memory.loops);
  out << '\n';
}

void put_events(const Plan& plan, Out& out) {
  if (!plan.events) return;
  const PlanEvents& events = *plan.events;
  out << "events: socket "
      << (events.socket.empty() ? "events.sock of the run directory" : events.socket);
  if (!events.file.empty()) out << ", file " << events.file;
  if (events.rotate_bytes != 0) {
    out << " (renamed at " << events.rotate_bytes << " bytes, " << events.keep << " kept)";
  }
  if (const auto& ipfix = events.ipfix) {
    out << ", IPFIX to " << ipfix->collector << " (domain " << ipfix->domain << ")";
  }
  if (events.stats_s != 0) out << ", stats each " << events.stats_s << " s";
  out << '\n';
}

}  // namespace

std::string plan_text(const Plan& plan) {
  Out out;
  out << "topology " << plan.name << ": batches of at most " << plan.batch_capacity
      << " packets, heartbeat limit " << plan.heartbeat_limit_ms << " ms, telemetry "
      << plan.telemetry_listen << '\n';
  put_ports(plan, out);
  put_groups(plan, out);
  put_functions(plan, out);
  put_paths(plan, out);
  put_actors(plan, out);
  put_cores(plan, out);
  put_nodes(plan, out);
  put_links(plan, out);
  put_events(plan, out);
  put_memory(plan, out);
  return out.str();
}

}  // namespace millrace
