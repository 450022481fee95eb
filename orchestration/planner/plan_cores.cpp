// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>

#include "orchestration/planner/planning.hpp"
#include "shared/base/limits.hpp"
#include "shared/config/plan_settings.hpp"

namespace millrace {
namespace {

const std::vector<int>& cores_named_for(const Planning& planning, const PlanActor& actor) {
  static const std::vector<int> kNone;
  const Topology& topology = planning.topology;
  switch (actor.kind) {
    case ActorKind::kIngress:
      return topology.ports[planning.plan.streams[actor.index].port].cores.value;
    case ActorKind::kClassifier:
    case ActorKind::kGpu:
      return topology.groups[actor.group].cores.value;
    case ActorKind::kEgress:
      return topology.egress_cores.value;
    case ActorKind::kHub:
    case ActorKind::kStandby:
      return kNone;
  }
  return kNone;
}

/// Cores that the file names have to be ours.
void check_cores(Planning& planning, const Marked<std::vector<int>>& named) {
  const std::vector<int>& ours = planning.host.cores;
  if (ours.empty()) return;
  for (const int core : named.value) {
    if (std::find(ours.begin(), ours.end(), core) != ours.end()) continue;
    std::string list;
    for (const int c : ours) list += (list.empty() ? "" : ", ") + std::to_string(c);
    planning.problems.add(
        named.mark, "core " + std::to_string(core) + ", which this process may not use", list);
    return;
  }
}

/// Gives out cores in the order of asking.
class CorePool {
 public:
  explicit CorePool(const Host& host) : host_(host), cores_(host.cores) {
    if (!cores_.empty()) cores_.erase(cores_.begin());  // for those that sleep mostly
  }
  std::size_t size() const { return cores_.size(); }
  /// Of that node if it has one left; -1: any. -1 when there is none.
  int take(int node) {
    const auto of_node = std::find_if(cores_.begin(), cores_.end(), [&](int core) {
      return node >= 0 && host_.node_of_core(core) == node;
    });
    const auto at = of_node == cores_.end() ? cores_.begin() : of_node;
    if (at == cores_.end()) return -1;
    const int core = *at;
    cores_.erase(at);
    return core;
  }
  void remove(int core) {
    const auto at = std::find(cores_.begin(), cores_.end(), core);
    if (at != cores_.end()) cores_.erase(at);
  }
  /// How many of them are of this node.
  std::size_t left_of(int node) const {
    return static_cast<std::size_t>(std::count_if(
        cores_.begin(), cores_.end(), [&](int core) { return host_.node_of_core(core) == node; }));
  }

 private:
  const Host& host_;
  std::vector<int> cores_;
};

void plan_nodes(Planning& planning) {
  const auto add = [&](int number, const std::vector<int>& cores) {
    planning.plan.nodes.push_back(
        {static_cast<std::uint32_t>(number), {cores.begin(), cores.end()}});
  };
  for (const HostNode& node : planning.host.nodes) add(node.number, node.cores);
  if (planning.host.nodes.empty() && !planning.host.cores.empty()) add(0, planning.host.cores);
}

/// Where most of the streams are for which `counts` holds, the lowest of several; -1: not known.
template <typename Counts>
int node_of_most(const Plan& plan, Counts&& counts) {
  std::map<int, std::uint32_t> streams;
  for (const PlanStream& stream : plan.streams) {
    const int node = plan.ports[stream.port].node;
    if (node >= 0 && counts(stream)) ++streams[node];
  }
  int most = -1;
  std::uint32_t count = 0;
  for (const auto& [node, number] : streams) {
    if (number > count) most = node;
    count = std::max(count, number);
  }
  return most;
}

bool runs_on(const Plan& plan, const PlanStage& stage, std::uint32_t group) {
  const PlanGroup& own = plan.groups[stage.group];
  return stage.group == group || (own.kind == GroupKind::kGpu && own.stand_in == group);
}

bool reaches(const Plan& plan, const PlanStream& stream, std::uint32_t group) {
  return std::any_of(stream.paths.begin(), stream.paths.end(), [&](const PlanStreamPath& at) {
    return std::any_of(plan.stages.begin(), plan.stages.end(), [&](const PlanStage& stage) {
      return stage.path == at.path && runs_on(plan, stage, group);
    });
  });
}

/// The node of the GPU that an actor drives; -1: none, or not known.
int node_of_gpu(const Planning& planning, const PlanActor& actor) {
  const auto gpu = gpu_of_worker(planning.plan.groups[actor.group], actor.index);
  return gpu ? planning.host.node_of_gpu(*gpu) : -1;
}

/// The node where an actor should be.
int home_of(const Planning& planning, std::uint32_t number) {
  const Plan& plan = planning.plan;
  const PlanActor& actor = plan.actors[number];
  const int gpu = actor.kind == ActorKind::kGpu ? node_of_gpu(planning, actor) : -1;
  switch (actor.kind) {
    case ActorKind::kIngress:
      return plan.ports[plan.streams[actor.index].port].node;
    case ActorKind::kEgress:
      return node_of_most(plan, [&](const PlanStream& s) { return s.egress == number; });
    case ActorKind::kGpu:
      if (gpu >= 0) return gpu;
      [[fallthrough]];
    case ActorKind::kClassifier:
      return node_of_most(plan, [&](const PlanStream& s) { return reaches(plan, s, actor.group); });
    case ActorKind::kHub:
    case ActorKind::kStandby:
      return -1;
  }
  return -1;
}

/// Actors for which cores are named get these in turn, spare ones too.
void bind_named(Planning& planning, CorePool& pool) {
  std::map<const std::vector<int>*, std::size_t> turns;
  for (PlanActor& actor : planning.plan.actors) {
    const std::vector<int>& cores = cores_named_for(planning, actor);
    if (cores.empty()) continue;
    const bool worker = is_of_group(actor.kind);
    actor.core = cores[(worker ? actor.index : turns[&cores]++) % cores.size()];
    actor.core_named = true;
    pool.remove(actor.core);
  }
}

void bind_fused(Planning& planning, CorePool& pool) {
  Plan& plan = planning.plan;
  const std::uint32_t first = process_of(plan, plan.streams[0].ingress);
  const int named = plan.actors[first].core;
  const int core = named >= 0 || plan.shared_cores ? named : pool.take(plan.memory_node);
  for (PlanActor& actor : plan.actors) {
    if (moves_packets(actor)) actor.core = core;
  }
}

/// One core each. Actors with a home choose first.
void bind_each(Planning& planning, CorePool& pool) {
  Plan& plan = planning.plan;
  for (const auto& [spare, homed] :
       {std::pair{false, true}, {false, false}, {true, true}, {true, false}}) {
    for (PlanActor& actor : plan.actors) {
      if (actor.core >= 0 || actor.at_start == spare || !moves_packets(actor)) continue;
      // Two incarnations of a gpu worker never poll at once for long.
      const bool second = actor.kind == ActorKind::kGpu && plan.actors[actor.twin].core >= 0;
      if (second) {
        actor.core = plan.actors[actor.twin].core;
      } else if ((actor.home >= 0) == homed) {
        actor.core = pool.take(actor.home);
      }
    }
  }
}

/// Too few cores: to each the node of its home as long as there is one core an actor, the rest go
/// where the kernel puts them.
void bind_shared(Planning& planning, const CorePool& pool) {
  std::map<int, std::size_t> taken;
  for (PlanActor& actor : planning.plan.actors) {
    if (actor.core >= 0 || !actor.at_start || actor.home < 0) continue;
    if (taken[actor.home]++ < pool.left_of(actor.home)) actor.node = actor.home;
  }
}

}  // namespace

int node_of(const Host& host, const PlanPort& port) {
  for (const auto& [key, value] : port.settings) {
    if (key == "interface") return host.node_of_device(value);
    if (key == "devargs") return host.node_of_device(value.substr(0, value.find(',')));
  }
  return -1;
}

void plan_cores(Planning& planning) {
  Plan& plan = planning.plan;
  const Topology& topology = planning.topology;
  for (const TopologyPort& port : topology.ports) check_cores(planning, port.cores);
  for (const TopologyGroup& group : topology.groups) check_cores(planning, group.cores);
  check_cores(planning, topology.egress_cores);
  plan_nodes(planning);
  if (plan.nodes.size() > 1) {
    for (std::uint32_t i = 0; i < plan.actors.size(); ++i)
      plan.actors[i].home = home_of(planning, i);
    plan.memory_node = node_of_most(plan, [](const PlanStream&) { return true; });
  }
  CorePool pool(planning.host);
  bind_named(planning, pool);
  const auto open = std::count_if(plan.actors.begin(), plan.actors.end(), [](const auto& actor) {
    return actor.core < 0 && actor.at_start && moves_packets(actor);
  });
  const auto needed = static_cast<std::size_t>(plan.fused && open > 0 ? 1 : open);
  plan.shared_cores = planning.host.cores.empty() || needed > pool.size();
  if (plan.fused) {
    bind_fused(planning, pool);
  } else if (plan.shared_cores) {
    bind_shared(planning, pool);
  } else {
    bind_each(planning, pool);
  }
  for (PlanActor& actor : plan.actors) {
    if (actor.core >= 0) actor.node = planning.host.node_of_core(actor.core);
  }
}

}  // namespace millrace
