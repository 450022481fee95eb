// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/limits.hpp"
#include "shared/base/reason.hpp"
#include "shared/config/plan_translation.hpp"

/// The plan: a topology after all checks, with every number decided. The supervisor makes it from
/// the YAML (orchestration/planner/planner.hpp), writes it into the run directory, and every
/// process reads its part of it. Plain data; ids are indexes into the vectors here. Limits:
/// shared/base/limits.hpp.

namespace millrace {

/// Checked settings of a port or function, in the order of the file: key, value as text. A list is
/// one entry per element with the same key.
using Settings = std::vector<std::pair<std::string, std::string>>;

enum class GroupKind : std::uint8_t { kClassifier, kGpu };
enum class Dispatch : std::uint8_t { kAny, kFlow };
enum class Fallback : std::uint8_t { kDrop, kPass, kWait };  ///< `unavailable` and `overload`

enum class ActorKind : std::uint8_t { kHub, kStandby, kIngress, kClassifier, kGpu, kEgress };

/// Plays in a group of workers, which scales and runs functions.
constexpr bool is_of_group(ActorKind kind) {
  return kind == ActorKind::kClassifier || kind == ActorKind::kGpu;
}

inline constexpr std::size_t kPortAddressCountMax = 256;

struct PlanPort {
  std::string name;    ///< as in the YAML
  std::string device;  ///< "afpacket", "replay", ...: a kind of io-worker/ports/README.md
  Settings settings;   ///< the device's own keys (io-worker/ports/README.md)
  std::uint32_t mtu = 1500;
  std::string mac;  ///< "02:00:00:00:00:01"; given or derived from the port's number, never empty
  std::vector<std::string> addresses;  ///< own addresses, "10.1.0.1/24", "2001:db8::1/64"
  int node = -1;                       ///< NUMA node of its device; -1: no matter, or not known
  int host = -1;  ///< number of the tap port to the host behind it (`host_interface`); -1: none
};

struct PlanFunction {
  std::string name;   ///< as in the YAML
  std::string type;   ///< "route", "match", "record", ...: a row of services/functions/table.hpp
  Settings settings;  ///< the function's own keys; `classes` in the order of the bits of class_mask
  std::string image;  ///< path of the published table image; empty when the function has none
  std::uint32_t group = 0;  ///< where it runs
  std::uint32_t when_class =
      0;  ///< mask of classes that a packet needs (any of them); 0: all packets
  std::uint32_t class_mask =
      0;  ///< bits of the classes that it can set, in the order of `classes:`
  Fallback unavailable = Fallback::kWait;  ///< when no worker of its group is alive
  Fallback overload = Fallback::kWait;     ///< when the share of its stage is used up
  bool stateful = false;                   ///< needs lanes in order and one writer a lane
  std::uint64_t lane_state_bytes = 0;      ///< of shared memory for each lane; 0: none
  std::uint32_t lane_undo_lines = 0;       ///< of that state, in a lane's LaneUndoLog; 0: no log
  std::uint32_t counter_count = 0;  ///< entries of its FunctionCounters; the builder's report says
  std::uint32_t share = 0;          ///< see PlanStage; 0: not said
  std::uint32_t edition = 0;  ///< of settings and image: Plan::revision that brought them; 0: start
  bool gone = false;  ///< no file names it any more, or not yet; name, number and counters are kept
};

/// How many workers a group gets by how busy they are; off while `min` is 0.
struct PlanAutoscale {
  std::uint32_t min = 0, max = 0;
  std::uint32_t up = 80;    ///< percent busy, of all together: above it one more
  std::uint32_t down = 30;  ///< one less when the others would be below it
  friend bool operator==(const PlanAutoscale&, const PlanAutoscale&) = default;
};

struct PlanGroup {
  std::string name;
  GroupKind kind = GroupKind::kClassifier;
  std::uint32_t count = 1;  ///< workers at start
  std::uint32_t max = 1;    ///< workers that scaling can reach; shared memory is laid out for all
  Dispatch dispatch = Dispatch::kAny;
  std::uint32_t stand_in = 0;   ///< for a gpu group: the classifier group that redoes its batches
  std::uint32_t spill = 0;      ///< gpu: batches of one producer that may be at it, further ones go
                                ///< to stand_in; 0: stand_in has nothing to do while one is alive
  std::uint32_t offload = 100;  ///< gpu, with `spill`: percent of the batches that go to it at all;
                                ///< 0: as ActorEntry::offload says, by what both are measured to do
  Settings settings;  ///< gpu: device, devices, those of the software device (gpu-worker/README.md)
  PlanAutoscale autoscale;
};

/// Consecutive functions of a path on one group: what a worker does with a batch in one visit.
struct PlanStage {
  std::uint32_t path = 0;
  std::uint32_t group = 0;
  std::vector<std::uint32_t> functions;
  std::uint8_t next = 255;  ///< following stage, kEgressStage at the end
  bool stateful = false;    ///< any of its functions is: batches enter in sequence
  std::uint32_t share = 0;  ///< batches of one producer that may be in it, then `overload` decides;
                            ///< 0: as many as there are slots
  std::uint32_t lane_share = 0;  ///< of these, of one lane; at most `share`
  std::uint32_t edition = 0;     ///< of `functions`, as PlanFunction::edition
};

/// What decides in which of its path's lanes a packet goes.
enum class LanesBy : std::uint8_t {
  kFlow,       ///< addresses, ports, protocol; alike in both directions
  kAddresses,  ///< both addresses; those that an ICMP error quotes: what a flow consists of meets
  kInside,     ///< the address inside, which PlanTranslation tells
};

struct PlanPath {
  std::string name;
  std::uint8_t first_stage = 255;  ///< kEgressStage when the path runs no function
  std::uint32_t lane_first =
      0;  ///< its lanes are [lane_first, lane_first + lane_count) of the topology
  std::uint32_t lane_count = 1;
  bool has_keys = false;  ///< the ingress fills the column `key`: a GPU comes first and asks for no
                          ///< more
  std::string match;      ///< pcap filter, as in the YAML; empty: takes every packet
  std::vector<std::uint64_t> filter;  ///< it compiled (shared/base/packet_filter.hpp)
  LanesBy lanes_by = LanesBy::kFlow;
  bool ordered = true;          ///< false, `order: none`: each batch has the next lane
  PlanTranslation translation;  ///< where lanes are by it
};

/// A path that a stream feeds.
struct PlanStreamPath {
  std::uint32_t path = 0;
  std::uint32_t output = 0;  ///< port for packets that no function gave an output: the path's `to:`
  std::uint32_t slots_max = 0;  ///< slots that it may use, then the ingress refuses its packets; 0:
                                ///< all of the stream's, and without one the port is not polled
};

/// One ingress queue.
struct PlanStream {
  std::uint32_t port = 0;
  std::uint32_t queue = 0;
  std::vector<PlanStreamPath>
      paths;                  ///< at least one; the first whose filter matches takes a packet
  std::uint32_t ingress = 0;  ///< actor
  std::uint32_t egress = 0;   ///< actor that transmits its batches
  std::uint32_t slot_first = 0, slot_count = 0;
  std::uint32_t buffer_first = 0, buffer_count = 0;
};

struct PlanActor {
  std::string name;  ///< "hub", "standby", "ingress.lan.0", "front.0", "gpu.0.a", "egress.0"
  ActorKind kind = ActorKind::kHub;
  std::uint32_t group = 0;  ///< classifier, gpu
  std::uint32_t index =
      0;  ///< worker number in its group; stream of an ingress; number of an egress
  std::uint32_t twin = 0;  ///< gpu: the actor of the worker's other incarnation
  bool at_start =
      true;       ///< started with the topology; false for spare workers and second incarnations
  int core = -1;  ///< -1: not bound to one
  bool core_named = false;  ///< by `cores:` of its port, its group or the egress
  int node = -1;            ///< NUMA node of its core, or of the cores that it may use; -1: any
  int home = -1;            ///< node where its packets or its GPU are; -1: no matter
};

/// A NUMA node of the host with the cores of it that we may use, ascending.
struct PlanNode {
  std::uint32_t number = 0;
  std::vector<std::uint32_t> cores;
};

/// Another edition of a function than the one that computes: the next one, while all workers make
/// it ready, or the last one, while batches that it computed are under way. Of one that comes or
/// went, one of both is `gone`.
struct PlanEdition {
  std::uint32_t number = 0;  ///< of the function
  PlanFunction function;
};

/// Alike, what a stage runs.
struct PlanStageEdition {
  std::uint32_t number = 0;  ///< of the stage
  std::vector<std::uint32_t> functions;
  std::uint32_t edition = 0;
};

/// An SPSC link of batch descriptors.
struct PlanLink {
  std::uint32_t producer = 0;  ///< actor
  std::uint32_t consumer = 0;  ///< actor
  std::uint32_t depth = 0;     ///< entries; a power of two above all slots that can be in it
};

/// A drop reason that functions declare (DeclaredReason).
struct PlanReason {
  std::string name;
  ReasonCause cause = ReasonCause::kLoss;
  std::string summary;
};

/// `events: ipfix`: the collector of flows and translations as IPFIX, by UDP.
struct PlanIpfix {
  std::string collector;     ///< ADDRESS:PORT
  std::uint32_t domain = 1;  ///< observation domain
  friend bool operator==(const PlanIpfix&, const PlanIpfix&) = default;
};

/// `events:`, what functions tell of packets. Paths: absolute.
struct PlanEvents {
  std::string file;                ///< JSON lines; empty: none is written
  std::uint64_t rotate_bytes = 0;  ///< a file that is as long is renamed; 0: it grows
  std::uint32_t keep = 5;          ///< renamed files: FILE.1, the newest, to FILE.<keep>
  std::string socket;              ///< empty: `events.sock` of the run directory
  std::optional<PlanIpfix> ipfix;  ///< nothing: there is no collector
  std::uint32_t stats_s = 0;       ///< from one line of sums to the next; 0: there are none
  friend bool operator==(const PlanEvents&, const PlanEvents&) = default;
};

struct Plan {
  std::string name;  ///< of the topology: names the run directory and shared memory
  std::uint32_t batch_capacity = 64;
  std::uint32_t buffer_stride = 2176;  ///< bytes
  std::uint32_t slot_count = 0;  ///< of all streams; stand-in slots of the hub come after them
  std::uint32_t stand_in_slot_count = 64;
  std::uint32_t buffer_count = 0;  ///< of all streams and egresses
  std::uint32_t side_first = 0;    ///< the egresses' own buffers are [side_first, buffer_count)
  std::uint32_t side_count = 0;    ///< of these, of each egress
  /// Entries of the neighbour table; a power of two.
  std::uint32_t neighbour_count = kNeighbourCountDefault;
  std::uint32_t heartbeat_limit_ms = 1000;  ///< an actor silent for longer is fenced
  std::uint32_t crash_limit = 5;  ///< deaths in a function in a minute that take it out; 0: never
  bool fused = false;        ///< `placement: fused`: one process moves all packets (process_of)
  bool shared_cores = true;  ///< more actors than cores: idle at once instead of spinning
  std::string telemetry_listen = "127.0.0.1:0";
  std::optional<PlanEvents> events;  ///< nothing: there are no rings and no process for them
  std::vector<PlanPort> ports;
  std::vector<PlanFunction> functions;
  std::vector<std::string> classes;  ///< bit i of a class mask is classes[i]
  std::vector<PlanReason> reasons;   ///< of functions; kCoreReasonCount + i is reasons[i]
  std::vector<PlanGroup> groups;
  std::vector<PlanStage> stages;
  std::vector<PlanPath> paths;
  std::vector<PlanStream> streams;
  std::vector<PlanActor> actors;  ///< hub 0, standby 1, then ingress, workers of each group, egress
  std::vector<PlanLink> links;
  std::vector<std::string> secrets;  ///< values of settings that are never shown
  std::vector<PlanNode> nodes;       ///< ascending; one when the host tells nothing of nodes
  int memory_node = -1;              ///< where the segment should lie; -1: no matter
  std::vector<std::string> sources;  ///< files that it was made from, the topology first
  std::string hash;                  ///< of what was in them; empty: not known
  std::uint32_t generation = 1;      ///< counts the changes of the running topology, its start too
  std::uint32_t revision = 0;        ///< counts what was written after the start; actors follow
  std::vector<PlanEdition> others;   ///< at most one a function; all of them of one change
  std::vector<PlanStageEdition> other_stages;         ///< at most one a stage; of that change
  std::uint32_t spare_counters = kSpareCounterCount;  ///< left for functions that come
};

/// Where clients get the events of a topology that has them.
inline std::string events_socket_path(const Plan& plan, const std::string& run_dir) {
  const bool named = plan.events && !plan.events->socket.empty();
  return named ? plan.events->socket : run_dir + "/events.sock";
}

/// True for a buffer of an egress's own pool.
inline bool is_side_buffer(const Plan& plan, std::uint32_t buffer) {
  return plan.side_count != 0 && buffer >= plan.side_first && buffer < plan.buffer_count;
}

/// First buffer of the pool of egress `number`.
inline std::uint32_t side_buffers_of(const Plan& plan, std::uint32_t number) {
  return plan.side_first + number * plan.side_count;
}

/// True when a gpu group leaves batches to its stand-in also while it is alive: `on: [gpu, deep]`.
inline bool splits(const PlanGroup& group) { return group.spill != 0; }

/// True when it is measured how many: `offload: auto`.
inline bool is_balanced(const PlanGroup& group) { return splits(group) && group.offload == 0; }

/// The function as it computes now, or its other edition where it has one.
inline const PlanFunction& edition_of(const Plan& plan, std::uint32_t function, bool other) {
  for (const PlanEdition& edition : plan.others) {
    if (other && edition.number == function) return edition.function;
  }
  return plan.functions[function];
}

/// What a stage runs now, or its other list where it has one.
inline const std::vector<std::uint32_t>& functions_of(const Plan& plan, std::uint32_t stage,
                                                      bool other) {
  for (const PlanStageEdition& edition : plan.other_stages) {
    if (other && edition.number == stage) return edition.functions;
  }
  return plan.stages[stage].functions;
}

/// Which functions and tables a stage computes with: no two combinations of its list and its
/// functions' editions share a number, as each change has a new one.
inline std::uint32_t stage_edition(const Plan& plan, std::uint32_t stage, bool other = false) {
  std::uint32_t edition = plan.stages[stage].edition;
  for (const PlanStageEdition& one : plan.other_stages) {
    if (other && one.number == stage) edition = one.edition;
  }
  for (const std::uint32_t function : functions_of(plan, stage, other)) {
    edition = std::max(edition, edition_of(plan, function, other).edition);
  }
  return edition;
}

/// True when no function of the stage waits for a group without a living worker.
inline bool goes_on_without_group(const Plan& plan, const PlanStage& stage) {
  for (const std::uint32_t function : stage.functions) {
    if (plan.functions[function].unavailable == Fallback::kWait) return false;
  }
  return !stage.functions.empty();
}

/// True when a function of the group has state: its lanes have an order there, and one worker each.
inline bool has_state(const Plan& plan, std::uint32_t group) {
  return std::ranges::any_of(
      plan.stages, [&](const PlanStage& stage) { return stage.group == group && stage.stateful; });
}

/// True when batches may go past the stage: its group is away, or its share is used up.
inline bool may_be_skipped(const Plan& plan, const PlanStage& stage) {
  return stage.share != 0 || goes_on_without_group(plan, stage);
}

/// The lanes that a stream feeds, of the topology, path by path.
inline std::vector<std::uint32_t> lanes_of(const Plan& plan, const PlanStream& stream) {
  std::vector<std::uint32_t> lanes;
  for (const PlanStreamPath& at : stream.paths) {
    const PlanPath& path = plan.paths[at.path];
    for (std::uint32_t i = 0; i < path.lane_count; ++i) lanes.push_back(path.lane_first + i);
  }
  return lanes;
}

/// By queue, those that the port may get among them: the ingress that receives from it.
inline std::vector<std::uint32_t> ingresses_of_port(const Plan& plan, std::uint32_t port) {
  std::vector<std::uint32_t> actors;
  for (const PlanStream& stream : plan.streams) {
    if (stream.port != port) continue;
    actors.resize(std::max<std::size_t>(actors.size(), stream.queue + 1));
    actors[stream.queue] = stream.ingress;
  }
  return actors;
}

/// True when the actor touches packets of living traffic: all but hub and standby.
inline bool moves_packets(const PlanActor& actor) {
  return actor.kind != ActorKind::kHub && actor.kind != ActorKind::kStandby;
}

/// Shares its core with another one that starts, or has none of its own: it must not spin.
inline bool shares_core(const Plan& plan, std::uint32_t actor) {
  const PlanActor& me = plan.actors[actor];
  if (plan.shared_cores || me.core < 0) return true;
  for (std::uint32_t i = 0; !plan.fused && i < plan.actors.size(); ++i) {
    const PlanActor& other = plan.actors[i];
    const bool twin = me.kind == ActorKind::kGpu && me.twin == i;
    if (i != actor && !twin && other.at_start && other.core == me.core) return true;
  }
  return false;
}

/// The first actor of the process that plays `actor`: itself, unless the topology is fused; then
/// the first ingress for all that move packets.
inline std::uint32_t process_of(const Plan& plan, std::uint32_t actor) {
  return plan.fused && moves_packets(plan.actors[actor]) ? plan.streams[0].ingress : actor;
}

/// Cores of this topology that no actor has for itself: for threads that sleep mostly.
inline std::vector<std::uint32_t> cores_of_nobody(const Plan& plan) {
  std::vector<std::uint32_t> cores;
  for (const PlanNode& node : plan.nodes) {
    for (const std::uint32_t core : node.cores) {
      const auto has_it = [&](const PlanActor& actor) {
        return actor.core == static_cast<int>(core);
      };
      if (std::ranges::none_of(plan.actors, has_it)) cores.push_back(core);
    }
  }
  return cores;
}

/// A DPDK driver serves the port: the hub owns the device, io-workers are its secondaries.
inline bool is_dpdk(const PlanPort& port) { return port.device == "dpdk"; }
inline bool uses_dpdk(const Plan& plan) {
  for (const PlanPort& port : plan.ports) {
    if (is_dpdk(port)) return true;
  }
  return false;
}

}  // namespace millrace
