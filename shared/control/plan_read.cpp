// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/control.capnp.h"
#include "shared/control/plan_file.hpp"
#include "shared/control/wire.hpp"
#include "shared/layout/limits.hpp"

namespace millrace {
namespace {

constexpr std::size_t kSettingCountMax = 4096;
// Each pair of actors may have a link each way, and GPU workers one an incarnation.
constexpr std::size_t kLinkCountMax = std::size_t{2} * kActorCountMax * kActorCountMax;

using wire::enumeration;
using wire::read_list;
using wire::text;

void read_texts(std::vector<std::string>& out, capnp::List<capnp::Text>::Reader list,
                std::size_t limit, const char* what) {
  read_list(out, list, limit, what, [](capnp::Text::Reader item) { return text(item); });
}

Settings read_settings(capnp::List<wire::Setting>::Reader list) {
  Settings out;
  read_list(out, list, kSettingCountMax, "settings", [](wire::Setting::Reader setting) {
    return std::pair(text(setting.getKey()), text(setting.getValue()));
  });
  return out;
}

PlanPort read_port(wire::Port::Reader in) {
  PlanPort port;
  port.name = text(in.getName());
  port.device = text(in.getDevice());
  port.settings = read_settings(in.getSettings());
  port.mtu = in.getMtu();
  port.mac = text(in.getMac());
  port.node = in.getNode();
  port.host = in.getHost();
  read_texts(port.addresses, in.getAddresses(), kPortAddressCountMax, "addresses");
  return port;
}

PlanFunction read_function(wire::Function::Reader in) {
  PlanFunction function;
  function.name = text(in.getName());
  function.type = text(in.getType());
  function.settings = read_settings(in.getSettings());
  function.image = text(in.getImage());
  function.group = in.getGroup();
  function.when_class = in.getWhenClass();
  function.class_mask = in.getClassMask();
  function.unavailable = enumeration(in.getUnavailable(), Fallback::kWait, "fallback");
  function.overload = enumeration(in.getOverload(), Fallback::kWait, "fallback");
  function.stateful = in.getStateful();
  function.lane_state_bytes = in.getLaneStateBytes();
  function.lane_undo_lines = in.getLaneUndoLines();
  function.counter_count = in.getCounterCount();
  function.share = in.getShare();
  function.edition = in.getEdition();
  function.gone = in.getGone();
  return function;
}

PlanGroup read_group(wire::Group::Reader in) {
  PlanGroup group;
  group.name = text(in.getName());
  group.kind = enumeration(in.getKind(), GroupKind::kGpu, "kind of group");
  group.count = in.getCount();
  group.max = in.getMax();
  group.dispatch = enumeration(in.getDispatch(), Dispatch::kFlow, "dispatch");
  group.stand_in = in.getStandIn();
  group.offload = in.getOffload();
  group.spill = in.getSpill();
  group.settings = read_settings(in.getSettings());
  const auto autoscale = in.getAutoscale();
  group.autoscale = {autoscale.getMin(), autoscale.getMax(), autoscale.getUp(),
                     autoscale.getDown()};
  return group;
}

void read_numbers(std::vector<std::uint32_t>& out, capnp::List<std::uint32_t>::Reader list) {
  read_list(out, list, kStageFunctionCountMax, "functions of a stage",
            [](std::uint32_t function) { return function; });
}

PlanStage read_stage(wire::Stage::Reader in) {
  PlanStage stage;
  stage.path = in.getPath();
  stage.group = in.getGroup();
  read_numbers(stage.functions, in.getFunctions());
  stage.edition = in.getEdition();
  stage.next = in.getNext();
  stage.stateful = in.getStateful();
  stage.share = in.getShare();
  stage.lane_share = in.getLaneShare();
  return stage;
}

PlanStageEdition read_stage_edition(wire::StageEdition::Reader in) {
  PlanStageEdition stage{.number = in.getNumber(), .edition = in.getEdition()};
  read_numbers(stage.functions, in.getFunctions());
  return stage;
}

PlanTranslation read_translation(wire::Translation::Reader in) {
  PlanTranslation translation;
  read_numbers(translation.inside, in.getInside());
  read_list(translation.pool, in.getPool(), kTranslationEntryMax, "ranges of a pool",
            [](wire::AddressRange::Reader at) {
              return PlanTranslation::Range{at.getFirst(), at.getLast()};
            });
  translation.block = in.getBlock();
  read_list(translation.fixed, in.getFixed(), kTranslationEntryMax, "fixed addresses",
            [](wire::FixedAddress::Reader at) {
              return PlanFixedAddress{.outside = at.getOutside(),
                                      .inside = at.getInside(),
                                      .count = at.getCount(),
                                      .protocol = at.getProtocol(),
                                      .port = at.getPort()};
            });
  return translation;
}

PlanPath read_path(wire::Path::Reader in) {
  PlanPath path;
  path.name = text(in.getName());
  path.first_stage = in.getFirstStage();
  path.lane_first = in.getLaneFirst();
  path.lane_count = in.getLaneCount();
  path.has_keys = in.getHasKeys();
  path.match = text(in.getMatch());
  read_list(path.filter, in.getFilter(), kFilterInstructionMax, "instructions of a filter",
            [](std::uint64_t instruction) { return instruction; });
  path.lanes_by = enumeration(in.getLanesBy(), LanesBy::kInside, "lanes by");
  path.translation = read_translation(in.getTranslation());
  return path;
}

PlanStream read_stream(wire::Stream::Reader in) {
  PlanStream stream;
  stream.port = in.getPort();
  stream.queue = in.getQueue();
  read_list(stream.paths, in.getPaths(), kPathCountMax, "paths of a stream",
            [](wire::StreamPath::Reader at) {
              return PlanStreamPath{
                  .path = at.getPath(), .output = at.getOutput(), .slots_max = at.getSlotsMax()};
            });
  stream.ingress = in.getIngress();
  stream.egress = in.getEgress();
  stream.slot_first = in.getSlotFirst();
  stream.slot_count = in.getSlotCount();
  stream.buffer_first = in.getBufferFirst();
  stream.buffer_count = in.getBufferCount();
  return stream;
}

PlanActor read_actor(wire::Actor::Reader in) {
  PlanActor actor;
  actor.name = text(in.getName());
  actor.kind = enumeration(in.getKind(), ActorKind::kEgress, "kind of actor");
  actor.group = in.getGroup();
  actor.index = in.getIndex();
  actor.twin = in.getTwin();
  actor.at_start = in.getAtStart();
  actor.core = in.getCore();
  actor.core_named = in.getCoreNamed();
  actor.node = in.getNode();
  actor.home = in.getHome();
  return actor;
}

PlanNode read_node(wire::Node::Reader in) {
  PlanNode node;
  node.number = in.getNumber();
  read_list(node.cores, in.getCores(), kCoreCountMax, "cores of a node",
            [](std::uint32_t core) { return core; });
  return node;
}

PlanReason read_reason(wire::Reason::Reader in) {
  if (in.getCause() > static_cast<std::uint8_t>(ReasonCause::kLoss))
    throw Error("cause of a reason");
  return {text(in.getName()), static_cast<ReasonCause>(in.getCause()), text(in.getSummary())};
}

PlanLink read_link(wire::Link::Reader in) {
  return {.producer = in.getProducer(), .consumer = in.getConsumer(), .depth = in.getDepth()};
}

void read_scalars(Plan& plan, wire::Plan::Reader in) {
  plan.name = text(in.getName());
  plan.batch_capacity = in.getBatchCapacity();
  plan.buffer_stride = in.getBufferStride();
  plan.slot_count = in.getSlotCount();
  plan.stand_in_slot_count = in.getStandInSlotCount();
  plan.buffer_count = in.getBufferCount();
  plan.side_first = in.getSideFirst();
  plan.side_count = in.getSideCount();
  plan.neighbour_count = in.getNeighbourCount();
  plan.heartbeat_limit_ms = in.getHeartbeatLimitMs();
  plan.crash_limit = in.getCrashLimit();
  plan.fused = in.getFused();
  plan.shared_cores = in.getSharedCores();
  plan.telemetry_listen = text(in.getTelemetryListen());
  if (in.hasEvents()) {
    const wire::Events::Reader events = in.getEvents();
    plan.events = PlanEvents{.file = text(events.getFile()),
                             .rotate_bytes = events.getRotateBytes(),
                             .keep = events.getKeep(),
                             .socket = text(events.getSocket()),
                             .ipfix = std::nullopt};
    const std::string collector = text(events.getCollector());
    if (!collector.empty()) plan.events->ipfix = {collector, events.getDomain()};
  }
  plan.memory_node = in.getMemoryNode();
  plan.revision = in.getRevision();
  plan.hash = text(in.getHash());
  plan.generation = in.getGeneration();
  plan.spare_counters = in.getSpareCounters();
}

Plan read_plan(wire::Plan::Reader in) {
  Plan plan;
  read_scalars(plan, in);
  read_list(plan.ports, in.getPorts(), kPortCountMax, "ports", read_port);
  read_list(plan.functions, in.getFunctions(), kFunctionPlaceMax, "functions", read_function);
  read_texts(plan.classes, in.getClasses(), kClassCountMax, "classes");
  read_list(plan.reasons, in.getReasons(), kDeclaredReasonCountMax, "reasons", read_reason);
  read_list(plan.groups, in.getGroups(), kGroupCountMax, "groups", read_group);
  read_list(plan.stages, in.getStages(), kStageCountMax, "stages", read_stage);
  read_list(plan.paths, in.getPaths(), kPathCountMax, "paths", read_path);
  read_list(plan.streams, in.getStreams(), kStreamCountMax, "streams", read_stream);
  read_list(plan.actors, in.getActors(), kActorCountMax, "actors", read_actor);
  read_list(plan.links, in.getLinks(), kLinkCountMax, "links", read_link);
  read_list(plan.nodes, in.getNodes(), kNodeCountMax, "nodes", read_node);
  read_list(plan.others, in.getOthers(), kFunctionPlaceMax, "other editions",
            [](wire::Edition::Reader item) {
              return PlanEdition{item.getNumber(), read_function(item.getFunction())};
            });
  read_list(plan.other_stages, in.getOtherStages(), kStageCountMax, "other lists of stages",
            read_stage_edition);
  read_texts(plan.sources, in.getSources(), kSettingCountMax, "sources");
  read_texts(plan.secrets, in.getSecrets(), kSettingCountMax, "secrets");
  return plan;
}

}  // namespace

Plan decode_plan(std::span<const std::byte> bytes) {
  if (bytes.size() > kPlanBytesMax) {
    throw Error("plan: " + std::to_string(bytes.size()) + " bytes, at most " +
                std::to_string(kPlanBytesMax));
  }
  return while_doing("plan", [&] {
    Plan plan = wire::read_message<wire::Plan>(bytes, "bytes", read_plan);
    check_plan(plan);
    return plan;
  });
}

}  // namespace millrace
