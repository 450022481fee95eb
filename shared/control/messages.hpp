// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

/// What the processes of a topology say to each other. Plain values; the wire format is `Message`
/// of control.capnp. No packet byte is ever in one.
///
/// | message       | from → to                             | answer                            |
/// |---------------|---------------------------------------|-----------------------------------|
/// | Ready         | actor → supervisor                    | none                              |
/// | Event         | actor → supervisor                    | none                              |
/// | Drain         | supervisor → hub or standby           | OkReply: the roster says draining |
/// | FollowPlan    | supervisor → actor                    | none; an Event if it cannot       |
/// | StatusRequest | CLI → supervisor                      | StatusReply                       |
/// | AuditRequest  | CLI → hub or standby                  | AuditReply                        |
/// | ChangeRequest | CLI → supervisor                      | ChangeReply                       |
/// | ConfirmRequest| CLI → supervisor                      | OkReply                           |
/// | DownRequest   | CLI → supervisor                      | OkReply, then all processes end   |
/// | SetService    | CLI → hub or standby                  | OkReply: it is so                 |
///
/// Any request may be answered by an ErrorReply. kName is what logs and errors call a message, and
/// the schema in camelCase; only one with kMayBeRemote is taken from another host (endpoint.hpp).
///
/// A new message is a struct here and its place in ControlBody, its rows in message_fields.hpp, its
/// struct and its line of `Message` in control.capnp, and what answers it.

namespace millrace {

inline constexpr std::size_t kMessageBytesMax = std::size_t{1} << 20;  ///< longer ones are refused
inline constexpr std::size_t kReplyLinesMax = 256;  ///< of a ChangeReply; problems of an audit
inline constexpr std::uint64_t kNoHeartbeat = UINT64_MAX;  ///< ActorStatus: none was seen
inline constexpr std::uint32_t kNoActor = UINT32_MAX;      ///< Event: the supervisor, not an actor

struct OkReply {
  static constexpr const char* kName = "ok";
};

/// The request was understood and could not be done; `text` says why.
struct ErrorReply {
  static constexpr const char* kName = "error";
  std::string text;
};

/// The actor's loop runs; it takes batches.
struct Ready {
  static constexpr const char* kName = "ready";
  std::uint32_t actor = 0;
};

enum class Severity : std::uint8_t { kInfo, kWarning, kError };

struct Event {
  static constexpr const char* kName = "event";
  Severity severity = Severity::kInfo;
  std::string kind;  ///< "worker_exited", "table_loaded", ...: a word to filter by
  std::uint32_t actor = kNoActor;
  std::string text;
  std::uint64_t number = 0;   ///< what the kind counts; 0 when nothing
  std::uint64_t time_ns = 0;  ///< system clock
};

/// Kind of the event by which an actor says that it stays as it is; the number is the revision.
inline constexpr const char* kPlanRefused = "plan_refused";

/// on: no producer chooses the actor any more, it works off what it has and exits.
struct Drain {
  static constexpr const char* kName = "drain";
  std::uint32_t actor = 0;
  bool on = true;
};

/// plan.bin has a new revision: make its tables ready, and go over to it. The actor's tally in the
/// status file says when that is done.
struct FollowPlan {
  static constexpr const char* kName = "follow plan";
  std::uint32_t revision = 0;
};

struct StatusRequest {
  static constexpr const char* kName = "status";
  static constexpr bool kMayBeRemote = true;
};

struct ActorStatus {
  std::uint32_t actor = 0;
  std::string name;
  std::string state;     ///< "vacant", "alive", ...; supervisor's: "waiting", "given up"
  std::int32_t pid = 0;  ///< 0: no process
  std::uint32_t incarnation = 0;
  std::uint32_t restarts = 0;
  std::uint64_t packets = 0;
  std::uint64_t batches = 0;
  std::uint64_t heartbeat_age_ms = kNoHeartbeat;
  std::string note;  ///< how the last process ended; empty: never
};

struct NamedCount {
  std::string name;
  std::uint64_t count = 0;
};

struct StatusReply {
  static constexpr const char* kName = "status reply";
  std::string topology;
  std::string phase;  ///< "starting", "running", "degraded", "stopping"
  std::string run_dir;
  std::uint64_t up_ns = 0;  ///< since the start
  std::vector<ActorStatus> actors;
  std::vector<Event> events;          ///< the latest, oldest first
  std::vector<NamedCount> skipped;    ///< packets, by "FUNCTION unavailable", "FUNCTION overload"
  std::vector<NamedCount> refused;    ///< packets, by path; of those that may refuse
  std::vector<std::string> out;       ///< functions that are out of service
  std::uint64_t generation = 0;       ///< of the configuration: counts changes, the start is 1
  std::string hash;                   ///< of the files that it was made from
  bool differs = false;               ///< these files say something else by now
  std::uint32_t confirm_seconds = 0;  ///< until the last change is taken back; 0: it stays
  std::string taking_back;            ///< of a change that is not taken back yet; empty: none is
  bool drained = false;               ///< ingresses read nothing until `millrace undrain`
  std::vector<NamedCount> offload;    ///< percent that go to the GPU, by group with `offload: auto`
};

struct AuditRequest {
  static constexpr const char* kName = "audit";
  static constexpr bool kMayBeRemote = true;
};

/// Totals of one lane of one stream, in packets.
struct AuditLane {
  std::uint32_t stream = 0;
  std::uint32_t lane = 0;
  std::uint64_t received = 0;
  std::uint64_t transmitted = 0;
  std::uint64_t dropped = 0;
  std::uint64_t in_flight = 0;
};

/// The accounting law, checked: received + generated = transmitted + dropped + consumed + in
/// flight.
struct AuditReply {
  static constexpr const char* kName = "audit reply";
  std::string by;      ///< "hub" or "standby"
  bool exact = false;  ///< the law holds and the census finds every slot and buffer once
  bool quiet = false;  ///< nothing was in flight: `exact` is about everything
  std::uint64_t received = 0;
  std::uint64_t transmitted = 0;
  std::uint64_t in_flight = 0;  ///< in batches and in loops
  std::uint64_t unaccounted = 0;
  std::vector<NamedCount> loops;      ///< of these in flight, those in a loop, by port
  std::vector<NamedCount> dropped;    ///< by reason, those above 0
  std::vector<NamedCount> generated;  ///< by reason
  std::vector<NamedCount> consumed;   ///< by reason
  std::vector<NamedCount> slots;      ///< census by state
  std::vector<NamedCount> buffers;    ///< census by owner
  std::vector<AuditLane> lanes;
  std::vector<std::string> problems;  ///< what is not exact, in words
};

/// How many workers a group is to have.
struct GroupCount {
  std::string group;
  std::uint32_t count = 0;
};

/// Changes a running topology. One of reload, scale and plan is given, or several; or upgrade
/// alone.
struct ChangeRequest {
  static constexpr const char* kName = "change";
  static constexpr bool kMayBeRemote = true;
  std::vector<std::string> reload;  ///< functions whose tables are to be built anew
  std::vector<GroupCount> scale;
  std::string plan;                   ///< path of a plan to go over to; empty: none
  std::uint32_t confirm_seconds = 0;  ///< taken back after so long unless confirmed; 0: it stays
  std::string what;                   ///< in words, for the history
  bool accept_refused = false;  ///< also tables of which more lines are refused than of the old
  bool rollback = false;        ///< also while another change waits to be confirmed
  std::string upgrade;          ///< folder of the executables to go over to; empty: as now
  bool accept_shrunk = false;   ///< also tables with under half of the entries of the old
};

struct ChangeReply {
  static constexpr const char* kName = "change reply";
  std::uint64_t generation = 0;    ///< of the topology, after the change
  std::vector<std::string> lines;  ///< what was done, for people
};

struct DownRequest {
  static constexpr const char* kName = "down";
  static constexpr bool kMayBeRemote = true;
};

/// Takes a function out of service (its packets go as its `unavailable` says), or puts it back.
struct SetService {
  static constexpr const char* kName = "function";
  std::uint32_t function = 0;
  bool out = false;
};

/// The last change stays.
struct ConfirmRequest {
  static constexpr const char* kName = "confirm";
  static constexpr bool kMayBeRemote = true;
};

using ControlBody =
    std::variant<OkReply, ErrorReply, Ready, Event, Drain, FollowPlan, StatusRequest, StatusReply,
                 AuditRequest, AuditReply, ChangeRequest, ChangeReply, DownRequest, SetService,
                 ConfirmRequest>;

/// `id`: chosen by the asker, repeated in the answer; 0: no answer is expected.
struct ControlMessage {
  std::uint64_t id = 0;
  ControlBody body;
};

std::vector<std::byte> encode_message(const ControlMessage& message);

/// Throws Error for bytes that are no message of ours, hold more than kMessageBytesMax, or are of a
/// kind that this build does not know.
ControlMessage decode_message(std::span<const std::byte> bytes);

/// Its kName.
inline const char* message_name(const ControlBody& body) {
  return std::visit([]<typename Kind>(const Kind&) { return Kind::kName; }, body);
}

}  // namespace millrace
