// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/limits.hpp"
#include "shared/config/observers.hpp"
#include "shared/control/control.capnp.h"
#include "shared/control/messages.hpp"
#include "shared/control/wire.hpp"

namespace millrace {
namespace {

constexpr std::size_t kEventCountMax = 1024;
constexpr std::size_t kNamedCountMax = 256;

using wire::read_list;
using wire::text;

Event read_event(wire::Event::Reader in) {
  Event event;
  event.severity = wire::enumeration(in.getSeverity(), Severity::kError, "severity");
  event.kind = text(in.getKind());
  event.actor = in.getActor();
  event.text = text(in.getText());
  event.number = in.getNumber();
  event.time_ns = in.getTimeNs();
  return event;
}

ActorStatus read_actor(wire::ActorStatus::Reader in) {
  ActorStatus actor;
  actor.actor = in.getActor();
  actor.name = text(in.getName());
  actor.state = text(in.getState());
  actor.pid = in.getPid();
  actor.incarnation = in.getIncarnation();
  actor.restarts = in.getRestarts();
  actor.packets = in.getPackets();
  actor.batches = in.getBatches();
  actor.heartbeat_age_ms = in.getHeartbeatAgeMs();
  actor.note = text(in.getNote());
  return actor;
}

std::vector<NamedCount> read_counts(capnp::List<wire::NamedCount>::Reader in) {
  std::vector<NamedCount> counts;
  read_list(counts, in, kNamedCountMax, "counts", [](wire::NamedCount::Reader item) {
    return NamedCount{text(item.getName()), item.getCount()};
  });
  return counts;
}

StatusReply read_status(wire::StatusReply::Reader in) {
  StatusReply status;
  status.topology = text(in.getTopology());
  status.phase = text(in.getPhase());
  status.run_dir = text(in.getRunDir());
  status.up_ns = in.getUpNs();
  // All actors of a plan, and the observers.
  read_list(status.actors, in.getActors(), kActorCountMax + kObserverCount, "actors", read_actor);
  read_list(status.events, in.getEvents(), kEventCountMax, "events", read_event);
  status.skipped = read_counts(in.getSkipped());
  status.refused = read_counts(in.getRefused());
  status.offload = read_counts(in.getOffload());
  read_list(status.out, in.getOut(), kFunctionPlaceMax, "functions out",
            [](capnp::Text::Reader item) { return text(item); });
  status.generation = in.getGeneration();
  status.hash = text(in.getHash());
  status.differs = in.getDiffers();
  status.confirm_seconds = in.getConfirmSeconds();
  status.taking_back = text(in.getTakingBack());
  status.drained = in.getDrained();
  return status;
}

AuditLane read_lane(wire::AuditLane::Reader in) {
  return {.stream = in.getStream(),
          .lane = in.getLane(),
          .received = in.getReceived(),
          .transmitted = in.getTransmitted(),
          .dropped = in.getDropped(),
          .in_flight = in.getInFlight()};
}

AuditReply read_audit(wire::AuditReply::Reader in) {
  AuditReply audit;
  audit.by = text(in.getBy());
  audit.exact = in.getExact();
  audit.quiet = in.getQuiet();
  audit.received = in.getReceived();
  audit.transmitted = in.getTransmitted();
  audit.in_flight = in.getInFlight();
  audit.unaccounted = in.getUnaccounted();
  audit.loops = read_counts(in.getLoops());
  audit.dropped = read_counts(in.getDropped());
  audit.generated = read_counts(in.getGenerated());
  audit.consumed = read_counts(in.getConsumed());
  audit.slots = read_counts(in.getSlots());
  audit.buffers = read_counts(in.getBuffers());
  read_list(audit.lanes, in.getLanes(), kStreamCountMax * kLaneCountMax, "lanes", read_lane);
  read_list(audit.problems, in.getProblems(), kReplyLinesMax, "problems",
            [](capnp::Text::Reader item) { return text(item); });
  return audit;
}

GroupCount read_scale(wire::Scale::Reader in) { return {text(in.getGroup()), in.getCount()}; }

ChangeRequest read_change(wire::Change::Reader in) {
  ChangeRequest change{.plan = text(in.getPlan()),
                       .confirm_seconds = in.getConfirmSeconds(),
                       .what = text(in.getWhat()),
                       .accept_refused = in.getAcceptRefused(),
                       .rollback = in.getRollback(),
                       .upgrade = text(in.getUpgrade()),
                       .accept_shrunk = in.getAcceptShrunk()};
  read_list(change.reload, in.getReload(), kFunctionCountMax, "functions",
            [](capnp::Text::Reader item) { return text(item); });
  read_list(change.scale, in.getScale(), kGroupCountMax, "groups", read_scale);
  return change;
}

ChangeReply read_changed(wire::ChangeReply::Reader in) {
  ChangeReply reply{.generation = in.getGeneration()};
  read_list(reply.lines, in.getLines(), kReplyLinesMax, "lines",
            [](capnp::Text::Reader item) { return text(item); });
  return reply;
}

ControlBody read_body(wire::Message::Reader in) {
  switch (in.which()) {
    case wire::Message::OK:
      return OkReply{};
    case wire::Message::ERROR:
      return ErrorReply{text(in.getError())};
    case wire::Message::READY:
      return Ready{in.getReady()};
    case wire::Message::EVENT:
      return read_event(in.getEvent());
    case wire::Message::DRAIN:
      return Drain{in.getDrain().getActor(), in.getDrain().getOn()};
    case wire::Message::FOLLOW_PLAN:
      return FollowPlan{in.getFollowPlan()};
    case wire::Message::STATUS:
      return StatusRequest{};
    case wire::Message::STATUS_REPLY:
      return read_status(in.getStatusReply());
    case wire::Message::AUDIT:
      return AuditRequest{};
    case wire::Message::AUDIT_REPLY:
      return read_audit(in.getAuditReply());
    case wire::Message::DOWN:
      return DownRequest{};
    case wire::Message::SERVICE:
      return SetService{in.getService().getFunction(), in.getService().getOut()};
    case wire::Message::CONFIRM:
      return ConfirmRequest{};
    case wire::Message::CHANGE:
      return read_change(in.getChange());
    case wire::Message::CHANGE_REPLY:
      return read_changed(in.getChangeReply());
    case wire::Message::OBSOLETE_HELLO:
    case wire::Message::OBSOLETE_HEARTBEAT:
    case wire::Message::OBSOLETE_STOP:
      break;
  }
  throw Error("kind " + std::to_string(static_cast<unsigned>(in.which())) + " is unknown");
}

}  // namespace

ControlMessage decode_message(std::span<const std::byte> bytes) {
  if (bytes.size() > kMessageBytesMax) {
    throw Error("message: " + std::to_string(bytes.size()) + " bytes, at most " +
                std::to_string(kMessageBytesMax));
  }
  return while_doing("message", [&] {
    return wire::read_message<wire::Message>(bytes, "bytes", [](wire::Message::Reader in) {
      return ControlMessage{.id = in.getId(), .body = read_body(in)};
    });
  });
}

}  // namespace millrace
