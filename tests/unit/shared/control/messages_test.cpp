// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "shared/base/error.hpp"
#include "shared/base/limits.hpp"
#include "shared/config/observers.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

template <class Body>
Body round_trip(const Body& body) {
  const ControlMessage message = decode_message(encode_message({.id = 77, .body = body}));
  EXPECT_EQ(message.id, 77U);
  return std::get<Body>(message.body);
}

AuditReply filled_audit() {
  return {.by = "standby",
          .exact = true,
          .quiet = true,
          .received = 100,
          .transmitted = 80,
          .in_flight = 3,
          .unaccounted = 4,
          .loops = {{"again", 2}},
          .dropped = {{"no_route", 9}, {"rule", 8}},
          .generated = {{"copy", 7}},
          .consumed = {{"fragmented", 6}},
          .slots = {{"free", 60}, {"held", 4}},
          .buffers = {{"pool", 1000}},
          .lanes = {{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}},
          .problems = {"stream 0 lane 1: 4 packets are missing"}};
}

TEST(Messages, CarryWhatAnActorSaysOfItself) {
  EXPECT_EQ(round_trip(Ready{6}).actor, 6U);
  const Event event = round_trip(Event{Severity::kError, "exited", 8, "front.1", 9, 10});
  EXPECT_EQ(event.severity, Severity::kError);
  EXPECT_EQ(event.kind + "/" + event.text, "exited/front.1");
  EXPECT_EQ(event.actor, 8U);
  EXPECT_EQ(event.number, 9U);
  EXPECT_EQ(event.time_ns, 10U);
}

TEST(Messages, CarryCommands) {
  const Drain drain = round_trip(Drain{4, false});
  EXPECT_EQ(drain.actor, 4U);
  EXPECT_FALSE(drain.on);
  EXPECT_EQ(round_trip(FollowPlan{17}).revision, 17U);
  const ChangeRequest change = round_trip(ChangeRequest{
      {"route", "acl"}, {{"front", 3}, {"deep", 1}}, "/p", 60, "a b", true, true, "/new", true});
  EXPECT_THAT(change.reload, testing::ElementsAre("route", "acl"));
  ASSERT_EQ(change.scale.size(), 2U);
  EXPECT_EQ(change.scale[1].group, "deep");
  EXPECT_EQ(change.scale[0].count, 3U);
  EXPECT_EQ(change.plan + change.what + change.upgrade, "/pa b/new");
  EXPECT_EQ(change.confirm_seconds, 60U);
  EXPECT_TRUE(change.accept_refused && change.rollback && change.accept_shrunk);
  const ChangeReply changed = round_trip(ChangeReply{4, {"x", "y"}});
  EXPECT_EQ(changed.generation, 4U);
  EXPECT_THAT(changed.lines, testing::ElementsAre("x", "y"));
  EXPECT_EQ(round_trip(ErrorReply{"no group"}).text, "no group");
}

TEST(Messages, CarryAStatus) {
  const StatusReply sent{
      .topology = "branch",
      .phase = "running",
      .run_dir = "/run/millrace/branch",
      .up_ns = 5,
      .actors = {{3, "front.0", "alive", 42, 2, 1, 1000, 20, 12, "exited by signal 9"}},
      .events = {{Severity::kWarning, "restarted", 3, "front.0", 1, 2}},
      .skipped = {{"ids overload", 7}},
      .refused = {{"rest", 8}},
      .out = {"ids", "sip"},
      .taking_back = "the last change is being taken back",
      .drained = true,
      .offload = {{"gpu", 73}}};
  const StatusReply status = round_trip(sent);
  EXPECT_EQ(status.topology, "branch");
  EXPECT_EQ(status.phase, "running");
  EXPECT_EQ(status.run_dir, "/run/millrace/branch");
  EXPECT_EQ(status.up_ns, 5U);
  EXPECT_EQ(status.out, sent.out);
  EXPECT_EQ(status.taking_back, sent.taking_back);
  EXPECT_TRUE(status.drained);
  ASSERT_EQ(status.actors.size(), 1U);
  const ActorStatus& actor = status.actors[0];
  EXPECT_EQ(actor.actor, 3U);
  EXPECT_EQ(actor.name + "/" + actor.state + "/" + actor.note, "front.0/alive/exited by signal 9");
  EXPECT_EQ(actor.pid, 42);
  EXPECT_EQ(actor.incarnation, 2U);
  EXPECT_EQ(actor.restarts, 1U);
  EXPECT_EQ(actor.packets, 1000U);
  EXPECT_EQ(actor.batches, 20U);
  EXPECT_EQ(actor.heartbeat_age_ms, 12U);
  ASSERT_EQ(status.events.size(), 1U);
  EXPECT_EQ(status.events[0].kind, "restarted");
  ASSERT_EQ(status.skipped.size(), 1U);
  EXPECT_EQ(status.skipped[0].name, "ids overload");
  EXPECT_EQ(status.skipped[0].count, 7U);
  ASSERT_EQ(status.refused.size(), 1U);
  EXPECT_EQ(status.refused[0].name, "rest");
  EXPECT_EQ(status.refused[0].count, 8U);
  ASSERT_EQ(status.offload.size(), 1U);
  EXPECT_EQ(status.offload[0].name, "gpu");
  EXPECT_EQ(status.offload[0].count, 73U);
}

TEST(Messages, CarryAStatusOfAsManyProcessesAsAPlanMayHave) {
  StatusReply status;
  status.actors.resize(kActorCountMax + kObserverCount);
  EXPECT_EQ(round_trip(status).actors.size(), status.actors.size());
  status.actors.emplace_back();
  EXPECT_THROW(round_trip(status), Error);
}

TEST(Messages, CarryAnAudit) {
  const AuditReply audit = round_trip(filled_audit());
  EXPECT_EQ(audit.by, "standby");
  EXPECT_TRUE(audit.exact);
  EXPECT_TRUE(audit.quiet);
  EXPECT_EQ(audit.received, 100U);
  EXPECT_EQ(audit.transmitted, 80U);
  EXPECT_EQ(audit.in_flight, 3U);
  EXPECT_EQ(audit.unaccounted, 4U);
  ASSERT_EQ(audit.dropped.size(), 2U);
  EXPECT_EQ(audit.dropped[1].name, "rule");
  EXPECT_EQ(audit.dropped[1].count, 8U);
  EXPECT_EQ(audit.generated.at(0).name, "copy");
  EXPECT_EQ(audit.consumed.at(0).count, 6U);
  EXPECT_EQ(audit.slots.at(1).name, "held");
  EXPECT_EQ(audit.buffers.at(0).count, 1000U);
  ASSERT_EQ(audit.lanes.size(), 2U);
  const AuditLane& lane = audit.lanes[1];
  EXPECT_THAT((std::vector<std::uint64_t>{lane.stream, lane.lane, lane.received, lane.transmitted,
                                          lane.dropped, lane.in_flight}),
              testing::ElementsAre(7, 8, 9, 10, 11, 12));
  EXPECT_THAT(audit.problems, testing::ElementsAre("stream 0 lane 1: 4 packets are missing"));
}

TEST(Messages, KeepTheirKindAndHaveANameEach) {
  const std::vector<ControlBody> bodies = {
      OkReply{},       ErrorReply{},    Ready{},       Event{},        Drain{},
      FollowPlan{},    StatusRequest{}, StatusReply{}, AuditRequest{}, AuditReply{},
      ChangeRequest{}, ChangeReply{},   DownRequest{}, SetService{},   ConfirmRequest{}};
  ASSERT_EQ(bodies.size(), std::variant_size_v<ControlBody>);
  std::set<std::string> names;
  for (const ControlBody& body : bodies) {
    EXPECT_EQ(decode_message(encode_message({.id = 1, .body = body})).body.index(), body.index());
    names.insert(message_name(body));
  }
  EXPECT_EQ(names.size(), bodies.size());
}

TEST(Messages, RefuseWhatIsNone) {
  EXPECT_THROW(decode_message({}), Error);
  const std::string text = "GET / HTTP/1.1\r\n\r\n";
  EXPECT_THROW(decode_message(std::as_bytes(std::span(text))), Error);
  EXPECT_THROW(decode_message(std::vector<std::byte>(kMessageBytesMax + 8)), Error);
}

/// Where a message says its kind: behind eight bytes of segment table, eight of the root pointer,
/// and the id.
constexpr std::size_t kKindAt = 24;

TEST(Messages, KeepTheNumbersThatOtherBuildsKnow) {
  const auto kind = [](ControlBody body) {
    return static_cast<int>(encode_message({.id = 1, .body = std::move(body)}).at(kKindAt));
  };
  EXPECT_EQ(kind(OkReply{}), 0);
  EXPECT_EQ(kind(Ready{}), 3);
  EXPECT_EQ(kind(Event{}), 5);
  EXPECT_EQ(kind(Drain{}), 6);
  EXPECT_EQ(kind(FollowPlan{}), 8);
  EXPECT_EQ(kind(ConfirmRequest{}), 17);
}

TEST(Messages, RefuseAKindThatThisBuildDoesNotKnowAnyMoreOrNotYet) {
  for (const int kind : {2, 4, 7, 200}) {
    std::vector<std::byte> bytes = encode_message({.id = 1, .body = FollowPlan{}});
    bytes.at(kKindAt) = static_cast<std::byte>(kind);
    try {
      decode_message(bytes);
      ADD_FAILURE() << "kind " << kind << ": no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("kind " + std::to_string(kind) + " is unknown"));
    }
  }
}

TEST(Messages, SurviveSeededMutations) {
  const std::vector<std::byte> good = encode_message({.id = 9, .body = filled_audit()});
  std::mt19937_64 random(1);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes = good;
    for (int change = 0; change < 3; ++change) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    try {
      decode_message(bytes);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 20000);
}

}  // namespace
}  // namespace millrace
