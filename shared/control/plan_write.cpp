// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/control.capnp.h"
#include "shared/control/plan_file.hpp"
#include "shared/control/wire.hpp"

namespace millrace {
namespace {

using wire::size_of;
using wire::write_list;
using wire::write_texts;

void write_settings(const Settings& from, capnp::List<wire::Setting>::Builder list) {
  write_list(from, list, [](const auto& setting, wire::Setting::Builder out) {
    out.setKey(setting.first);
    out.setValue(setting.second);
  });
}

void write_port(const PlanPort& port, wire::Port::Builder out) {
  out.setName(port.name);
  out.setDevice(port.device);
  write_settings(port.settings, out.initSettings(size_of(port.settings)));
  out.setMtu(port.mtu);
  out.setMac(port.mac);
  out.setNode(port.node);
  out.setHost(port.host);
  write_texts(port.addresses, out.initAddresses(size_of(port.addresses)));
}

void write_function(const PlanFunction& function, wire::Function::Builder out) {
  out.setName(function.name);
  out.setType(function.type);
  write_settings(function.settings, out.initSettings(size_of(function.settings)));
  out.setImage(function.image);
  out.setGroup(function.group);
  out.setWhenClass(function.when_class);
  out.setClassMask(function.class_mask);
  out.setUnavailable(static_cast<wire::Fallback>(function.unavailable));
  out.setOverload(static_cast<wire::Fallback>(function.overload));
  out.setStateful(function.stateful);
  out.setLaneStateBytes(function.lane_state_bytes);
  out.setLaneUndoLines(function.lane_undo_lines);
  out.setCounterCount(function.counter_count);
  out.setShare(function.share);
  out.setEdition(function.edition);
  out.setGone(function.gone);
}

void write_group(const PlanGroup& group, wire::Group::Builder out) {
  out.setName(group.name);
  out.setKind(static_cast<wire::GroupKind>(group.kind));
  out.setCount(group.count);
  out.setMax(group.max);
  out.setDispatch(static_cast<wire::Dispatch>(group.dispatch));
  out.setStandIn(group.stand_in);
  out.setOffload(group.offload);
  out.setSpill(group.spill);
  write_settings(group.settings, out.initSettings(size_of(group.settings)));
  auto autoscale = out.initAutoscale();
  autoscale.setMin(group.autoscale.min);
  autoscale.setMax(group.autoscale.max);
  autoscale.setUp(group.autoscale.up);
  autoscale.setDown(group.autoscale.down);
}

void write_stage(const PlanStage& stage, wire::Stage::Builder out) {
  out.setPath(stage.path);
  out.setGroup(stage.group);
  auto functions = out.initFunctions(size_of(stage.functions));
  for (unsigned i = 0; i < stage.functions.size(); ++i) functions.set(i, stage.functions[i]);
  out.setNext(stage.next);
  out.setStateful(stage.stateful);
  out.setShare(stage.share);
  out.setLaneShare(stage.lane_share);
  out.setEdition(stage.edition);
}

void write_translation(const PlanTranslation& translation, wire::Translation::Builder out) {
  auto inside = out.initInside(size_of(translation.inside));
  for (unsigned i = 0; i < inside.size(); ++i) inside.set(i, translation.inside[i]);
  write_list(translation.pool, out.initPool(size_of(translation.pool)),
             [](const PlanTranslation::Range& range, wire::AddressRange::Builder to) {
               to.setFirst(range.first);
               to.setLast(range.last);
             });
  out.setBlock(translation.block);
  write_list(translation.fixed, out.initFixed(size_of(translation.fixed)),
             [](const PlanFixedAddress& at, wire::FixedAddress::Builder to) {
               to.setOutside(at.outside);
               to.setInside(at.inside);
               to.setCount(at.count);
               to.setProtocol(at.protocol);
               to.setPort(at.port);
             });
}

void write_path(const PlanPath& path, wire::Path::Builder out) {
  out.setName(path.name);
  out.setFirstStage(path.first_stage);
  out.setLaneFirst(path.lane_first);
  out.setLaneCount(path.lane_count);
  out.setHasKeys(path.has_keys);
  out.setMatch(path.match);
  auto filter = out.initFilter(size_of(path.filter));
  for (unsigned i = 0; i < path.filter.size(); ++i) filter.set(i, path.filter[i]);
  out.setLanesBy(static_cast<wire::LanesBy>(path.lanes_by));
  write_translation(path.translation, out.initTranslation());
}

void write_stream(const PlanStream& stream, wire::Stream::Builder out) {
  out.setPort(stream.port);
  out.setQueue(stream.queue);
  write_list(stream.paths, out.initPaths(size_of(stream.paths)),
             [](const PlanStreamPath& at, wire::StreamPath::Builder to) {
               to.setPath(at.path);
               to.setOutput(at.output);
               to.setSlotsMax(at.slots_max);
             });
  out.setIngress(stream.ingress);
  out.setEgress(stream.egress);
  out.setSlotFirst(stream.slot_first);
  out.setSlotCount(stream.slot_count);
  out.setBufferFirst(stream.buffer_first);
  out.setBufferCount(stream.buffer_count);
}

void write_actor(const PlanActor& actor, wire::Actor::Builder out) {
  out.setName(actor.name);
  out.setKind(static_cast<wire::ActorKind>(actor.kind));
  out.setGroup(actor.group);
  out.setIndex(actor.index);
  out.setTwin(actor.twin);
  out.setAtStart(actor.at_start);
  out.setCore(actor.core);
  out.setCoreNamed(actor.core_named);
  out.setNode(actor.node);
  out.setHome(actor.home);
}

void write_node(const PlanNode& node, wire::Node::Builder out) {
  out.setNumber(node.number);
  auto cores = out.initCores(size_of(node.cores));
  for (unsigned i = 0; i < node.cores.size(); ++i) cores.set(i, node.cores[i]);
}

void write_link(const PlanLink& link, wire::Link::Builder out) {
  out.setProducer(link.producer);
  out.setConsumer(link.consumer);
  out.setDepth(link.depth);
}

void write_edition(const PlanEdition& edition, wire::Edition::Builder out) {
  out.setNumber(edition.number);
  write_function(edition.function, out.initFunction());
}

void write_stage_edition(const PlanStageEdition& stage, wire::StageEdition::Builder out) {
  out.setNumber(stage.number);
  auto functions = out.initFunctions(size_of(stage.functions));
  for (unsigned i = 0; i < stage.functions.size(); ++i) functions.set(i, stage.functions[i]);
  out.setEdition(stage.edition);
}

void write_reason(const PlanReason& reason, wire::Reason::Builder out) {
  out.setName(reason.name);
  out.setCause(static_cast<std::uint8_t>(reason.cause));
  out.setSummary(reason.summary);
}

void write_scalars(const Plan& plan, wire::Plan::Builder out) {
  out.setName(plan.name);
  out.setBatchCapacity(plan.batch_capacity);
  out.setBufferStride(plan.buffer_stride);
  out.setSlotCount(plan.slot_count);
  out.setStandInSlotCount(plan.stand_in_slot_count);
  out.setBufferCount(plan.buffer_count);
  out.setSideFirst(plan.side_first);
  out.setSideCount(plan.side_count);
  out.setNeighbourCount(plan.neighbour_count);
  out.setHeartbeatLimitMs(plan.heartbeat_limit_ms);
  out.setCrashLimit(plan.crash_limit);
  out.setFused(plan.fused);
  out.setSharedCores(plan.shared_cores);
  out.setTelemetryListen(plan.telemetry_listen);
  if (plan.events) {
    auto events = out.initEvents();
    events.setFile(plan.events->file);
    events.setRotateBytes(plan.events->rotate_bytes);
    events.setKeep(plan.events->keep);
    events.setSocket(plan.events->socket);
    if (const auto& ipfix = plan.events->ipfix) {
      events.setCollector(ipfix->collector);
      events.setDomain(ipfix->domain);
    }
  }
  out.setMemoryNode(plan.memory_node);
  out.setRevision(plan.revision);
  out.setHash(plan.hash);
  out.setGeneration(plan.generation);
  out.setSpareCounters(plan.spare_counters);
}

}  // namespace

std::vector<std::byte> encode_plan(const Plan& plan) {
  capnp::MallocMessageBuilder message;
  auto out = message.initRoot<wire::Plan>();
  write_scalars(plan, out);
  write_list(plan.ports, out.initPorts(size_of(plan.ports)), write_port);
  write_list(plan.functions, out.initFunctions(size_of(plan.functions)), write_function);
  write_texts(plan.classes, out.initClasses(size_of(plan.classes)));
  write_list(plan.reasons, out.initReasons(size_of(plan.reasons)), write_reason);
  write_list(plan.groups, out.initGroups(size_of(plan.groups)), write_group);
  write_list(plan.stages, out.initStages(size_of(plan.stages)), write_stage);
  write_list(plan.paths, out.initPaths(size_of(plan.paths)), write_path);
  write_list(plan.streams, out.initStreams(size_of(plan.streams)), write_stream);
  write_list(plan.actors, out.initActors(size_of(plan.actors)), write_actor);
  write_list(plan.links, out.initLinks(size_of(plan.links)), write_link);
  write_list(plan.nodes, out.initNodes(size_of(plan.nodes)), write_node);
  write_list(plan.others, out.initOthers(size_of(plan.others)), write_edition);
  write_list(plan.other_stages, out.initOtherStages(size_of(plan.other_stages)),
             write_stage_edition);
  write_texts(plan.sources, out.initSources(size_of(plan.sources)));
  write_texts(plan.secrets, out.initSecrets(size_of(plan.secrets)));
  return wire::message_bytes(message);
}

}  // namespace millrace
