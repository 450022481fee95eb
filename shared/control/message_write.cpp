// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/control.capnp.h"
#include "shared/control/messages.hpp"
#include "shared/control/wire.hpp"

namespace millrace {
namespace {

using wire::size_of;
using wire::write_list;
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
  write_list(counts, out, [](const NamedCount& count, wire::NamedCount::Builder to) {
    to.setName(count.name);
    to.setCount(count.count);
  });
}

void write_status(const StatusReply& status, wire::StatusReply::Builder out) {
  out.setTopology(status.topology);
  out.setPhase(status.phase);
  out.setRunDir(status.run_dir);
  out.setUpNs(status.up_ns);
  write_list(status.actors, out.initActors(size_of(status.actors)), write_actor);
  write_list(status.events, out.initEvents(size_of(status.events)), write_event);
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
  write_list(audit.lanes, out.initLanes(size_of(audit.lanes)), write_lane);
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
    write_list(change.scale, to.initScale(size_of(change.scale)),
               [](const GroupCount& group, wire::Scale::Builder scale) {
                 scale.setGroup(group.group);
                 scale.setCount(group.count);
               });
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

}  // namespace

std::vector<std::byte> encode_message(const ControlMessage& message) {
  capnp::MallocMessageBuilder builder;
  auto out = builder.initRoot<wire::Message>();
  out.setId(message.id);
  std::visit(BodyWriter{out}, message.body);
  return wire::message_bytes(builder);
}

}  // namespace millrace
