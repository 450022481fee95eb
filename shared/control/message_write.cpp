// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/control.capnp.h"
#include "shared/control/messages.hpp"
#include "shared/control/wire.hpp"

namespace millrace {
namespace {

using wire::size_of;
using wire::write_texts;

void write_event(const Event& event, wire::Event::Builder out) {
  out.setSeverity(static_cast<wire::Severity>(event.severity));
  out.setKind(event.kind);
  out.setActor(event.actor);
  out.setText(event.text);
  out.setNumber(event.number);
  out.setTimeNs(event.time_ns);
}

void write_actor(const ActorStatus& actor, wire::ActorStatus::Builder out) {
  out.setActor(actor.actor);
  out.setName(actor.name);
  out.setState(actor.state);
  out.setPid(actor.pid);
  out.setIncarnation(actor.incarnation);
  out.setRestarts(actor.restarts);
  out.setPackets(actor.packets);
  out.setBatches(actor.batches);
  out.setHeartbeatAgeMs(actor.heartbeat_age_ms);
  out.setNote(actor.note);
}

void write_counts(const std::vector<NamedCount>& counts,
                  capnp::List<wire::NamedCount>::Builder out) {
  for (unsigned i = 0; i < counts.size(); ++i) {
    out[i].setName(counts[i].name);
    out[i].setCount(counts[i].count);
  }
}

void write_status(const StatusReply& status, wire::StatusReply::Builder out) {
  out.setTopology(status.topology);
  out.setPhase(status.phase);
  out.setRunDir(status.run_dir);
  out.setUpNs(status.up_ns);
  auto actors = out.initActors(size_of(status.actors));
  for (unsigned i = 0; i < status.actors.size(); ++i) write_actor(status.actors[i], actors[i]);
  auto events = out.initEvents(size_of(status.events));
  for (unsigned i = 0; i < status.events.size(); ++i) write_event(status.events[i], events[i]);
  write_counts(status.skipped, out.initSkipped(size_of(status.skipped)));
  write_counts(status.refused, out.initRefused(size_of(status.refused)));
  write_counts(status.offload, out.initOffload(size_of(status.offload)));
  write_texts(status.out, out.initOut(size_of(status.out)));
  out.setGeneration(status.generation);
  out.setHash(status.hash);
  out.setDiffers(status.differs);
  out.setConfirmSeconds(status.confirm_seconds);
  out.setTakingBack(status.taking_back);
  out.setDrained(status.drained);
}

void write_lane(const AuditLane& lane, wire::AuditLane::Builder out) {
  out.setStream(lane.stream);
  out.setLane(lane.lane);
  out.setReceived(lane.received);
  out.setTransmitted(lane.transmitted);
  out.setDropped(lane.dropped);
  out.setInFlight(lane.in_flight);
}

void write_audit(const AuditReply& audit, wire::AuditReply::Builder out) {
  out.setBy(audit.by);
  out.setExact(audit.exact);
  out.setQuiet(audit.quiet);
  out.setReceived(audit.received);
  out.setTransmitted(audit.transmitted);
  out.setInFlight(audit.in_flight);
  out.setUnaccounted(audit.unaccounted);
  write_counts(audit.dropped, out.initDropped(size_of(audit.dropped)));
  write_counts(audit.generated, out.initGenerated(size_of(audit.generated)));
  write_counts(audit.consumed, out.initConsumed(size_of(audit.consumed)));
  write_counts(audit.slots, out.initSlots(size_of(audit.slots)));
  write_counts(audit.buffers, out.initBuffers(size_of(audit.buffers)));
  auto lanes = out.initLanes(size_of(audit.lanes));
  for (unsigned i = 0; i < audit.lanes.size(); ++i) write_lane(audit.lanes[i], lanes[i]);
  write_counts(audit.loops, out.initLoops(size_of(audit.loops)));
  write_texts(audit.problems, out.initProblems(size_of(audit.problems)));
}

/// One overload for each kind of message: a further kind does not compile before it is here.
struct BodyWriter {
  wire::Message::Builder out;

  void operator()(const OkReply&) { out.setOk(); }
  void operator()(const ErrorReply& reply) { out.setError(reply.text); }
  void operator()(const Ready& ready) { out.setReady(ready.actor); }
  void operator()(const Event& event) { write_event(event, out.initEvent()); }
  void operator()(const Drain& drain) {
    auto to = out.initDrain();
    to.setActor(drain.actor);
    to.setOn(drain.on);
  }
  void operator()(const FollowPlan& follow) { out.setFollowPlan(follow.revision); }
  void operator()(const StatusRequest&) { out.setStatus(); }
  void operator()(const StatusReply& reply) { write_status(reply, out.initStatusReply()); }
  void operator()(const AuditRequest&) { out.setAudit(); }
  void operator()(const AuditReply& reply) { write_audit(reply, out.initAuditReply()); }
  void operator()(const DownRequest&) { out.setDown(); }
  void operator()(const SetService& service) {
    auto to = out.initService();
    to.setFunction(service.function);
    to.setOut(service.out);
  }
  void operator()(const ConfirmRequest&) { out.setConfirm(); }
  void operator()(const ChangeRequest& change) {
    auto to = out.initChange();
    write_texts(change.reload, to.initReload(size_of(change.reload)));
    auto scale = to.initScale(size_of(change.scale));
    for (unsigned i = 0; i < change.scale.size(); ++i) {
      scale[i].setGroup(change.scale[i].group);
      scale[i].setCount(change.scale[i].count);
    }
    to.setPlan(change.plan);
    to.setConfirmSeconds(change.confirm_seconds);
    to.setWhat(change.what);
    to.setAcceptRefused(change.accept_refused);
    to.setRollback(change.rollback);
    to.setUpgrade(change.upgrade);
    to.setAcceptShrunk(change.accept_shrunk);
  }
  void operator()(const ChangeReply& reply) {
    auto to = out.initChangeReply();
    to.setGeneration(reply.generation);
    write_texts(reply.lines, to.initLines(size_of(reply.lines)));
  }
};

struct BodyName {
  const char* operator()(const OkReply&) const { return "ok"; }
  const char* operator()(const ErrorReply&) const { return "error"; }
  const char* operator()(const Ready&) const { return "ready"; }
  const char* operator()(const Event&) const { return "event"; }
  const char* operator()(const Drain&) const { return "drain"; }
  const char* operator()(const FollowPlan&) const { return "follow plan"; }
  const char* operator()(const StatusRequest&) const { return "status"; }
  const char* operator()(const StatusReply&) const { return "status reply"; }
  const char* operator()(const AuditRequest&) const { return "audit"; }
  const char* operator()(const AuditReply&) const { return "audit reply"; }
  const char* operator()(const DownRequest&) const { return "down"; }
  const char* operator()(const SetService&) const { return "function"; }
  const char* operator()(const ConfirmRequest&) const { return "confirm"; }
  const char* operator()(const ChangeRequest&) const { return "change"; }
  const char* operator()(const ChangeReply&) const { return "change reply"; }
};

}  // namespace

std::vector<std::byte> encode_message(const ControlMessage& message) {
  capnp::MallocMessageBuilder builder;
  auto out = builder.initRoot<wire::Message>();
  out.setId(message.id);
  std::visit(BodyWriter{out}, message.body);
  return wire::message_bytes(builder);
}

const char* message_name(const ControlBody& body) { return std::visit(BodyName{}, body); }

}  // namespace millrace
