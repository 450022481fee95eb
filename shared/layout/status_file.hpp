// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shared/base/limits.hpp"
#include "shared/base/reason.hpp"
#include "shared/layout/peak.hpp"

/// The status file: a POSIX shared-memory object of its own, apart from packets. Observers
/// (telemetry, CLI) map it read-only; of packets it has what functions tell in events. Made by the
/// hub. Regions, each starting on a cache line:
///
///     StatusHeader | ActorEntry[actor_count] | counters: uint64[actor_count][kActorCounterCount]
///     | LaneLedger[stream_count * lane_count] | IngressLane[stream_count * lane_count]
///     | LaneMap[group_count] | LatencyHistogram[stream_count] | function counters:
///     uint64[actor_count][function_counters] | skipped packets:
///     uint64[actor_count][function_count][kSkipReasonCount] | stage latency:
///     LatencyHistogram[actor_count][stage_count + path_count] | FunctionTally[actor_count]
///     [function_count] | DropTally[actor_count][path_count][function_count] | ActorTally
///     [actor_count] | StreamPeaks[stream_count] | LinkTally[link_count] | PortTally[port_count]
///     | rings of events (event_rings.hpp)
///
/// Sizes and offsets: status_layout() in status_layout.hpp. One writer for every word, named at the
/// field.

namespace millrace {

inline constexpr std::uint64_t kStatusMagic = 0x315441545352494dull;  ///< "MIRSTAT1"
inline constexpr std::uint32_t kStatusAbi = 17;
inline constexpr std::uint32_t kActorCounterCount =
    64;  ///< room for Counter (shared/metrics/metrics.yaml)

/// Life of an actor's entry. Transitions: actor_states.hpp.
enum class ActorState : std::uint32_t {
  kVacant = 0,    ///< none; everything recovered; a process may start
  kStarting = 1,  ///< a process wants in (set by it); touches no ring yet
  kAlive = 2,     ///< granted by the leader
  kDraining = 3,  ///< not chosen any more; it works off what it has, then exits
  kFenced =
      4,  ///< its exit is certain (a GPU's: quarantined); producers stop choosing it and say so
  kReclaiming = 5,   ///< its rings are repaired, its slots taken over; producers take back what it
                     ///< had not read
  kQuarantined = 6,  ///< could not be killed; its slots have stand-ins; its rings are never touched
};

/// One actor. 256 bytes: a line for the roster, one for the actor's data thread, one for sleeping,
/// one spare.
struct alignas(kCacheLine) ActorEntry {
  // Written by the leader, and by the starting process where said.
  std::atomic<std::uint32_t> state;        ///< ActorState; kVacant -> kStarting by the process
  std::atomic<std::uint32_t> incarnation;  ///< 1.. ; the process adds one when it starts
  std::atomic<std::int32_t> pid;           ///< by the process, before kStarting
  std::atomic<std::uint32_t> crashes;  ///< leader: lives that ended by themselves; see also below
  /// Of the pid, ticks since boot (/proc/PID/stat 22): with pid, unique.
  std::atomic<std::uint64_t> start_time;
  std::atomic<std::uint64_t> fence_epoch;     ///< leader: roster epoch when state was published
  std::atomic<std::uint64_t> state_since_ns;  ///< leader: system clock
  // Leader: lives that others followed on, by what ended them; with `crashes` all but the last.
  std::atomic<std::uint32_t> hangs;      ///< killed, as its heartbeat was too old
  std::atomic<std::uint32_t> was_asked;  ///< drained or told to end: scaled, replaced
  std::uint64_t padding_0[2];
  // Written by the actor's data thread.
  alignas(kCacheLine) std::atomic<std::uint64_t> heartbeat_tsc;  ///< last turn of the run loop
  std::atomic<std::uint64_t> acked_epoch;  ///< newest roster epoch it has acted upon
  std::atomic<std::uint64_t> in_hand;      ///< packets in open slots (ingress), in windows (egress)
  /// ingress: has nothing in hand, and nothing will come: the source has ended, or it is drained
  std::atomic<std::uint32_t> exhausted;
  /// Whose code runs: the function's number and one; 0: none. Recovery clears it.
  std::atomic<std::uint32_t> in_function;
  std::atomic<std::uint64_t>
      resume_position;  ///< ingress: every source ordinal below it is sealed; only grows
  std::atomic<std::uint32_t> ended;  ///< the incarnation that ended as it was told to
  std::atomic<std::uint32_t> fault;  ///< the incarnation that ended by a signal of its own doing
  std::atomic<std::uint64_t> made;   ///< ingress: packets that were born here (ticks of a loop)
  std::uint64_t padding_2[1];
  // The futex word: set by the sleeper, cleared by what wakes it.
  alignas(kCacheLine) std::atomic<std::uint32_t> sleeping;
  std::uint32_t padding_3[15];
  // Of an ingress: the share of its port's flows that has its queue's number (ingress_shares.cpp).
  // Actor that reads it; written by the one that gives it away.
  alignas(kCacheLine) std::atomic<std::uint32_t> share_reader;
  // Actor that shall read it; written by the supervisor. 0: as it is.
  std::atomic<std::uint32_t> share_wanted;
  std::atomic<std::uint32_t>
      share_joined;  ///< 1: the kernel has it among the port's; by its reader
  // Of the first actor of a gpu group with `offload: auto`: one and the percent of the batches that
  // go to the GPU; by the supervisor. 0: not said yet.
  std::atomic<std::uint32_t> offload;
  std::uint32_t padding_4[12];
};
static_assert(sizeof(ActorEntry) == 256 && alignof(ActorEntry) == 64);
static_assert(offsetof(ActorEntry, state) == 0 && offsetof(ActorEntry, incarnation) == 4);
static_assert(offsetof(ActorEntry, pid) == 8 && offsetof(ActorEntry, crashes) == 12);
static_assert(offsetof(ActorEntry, start_time) == 16 && offsetof(ActorEntry, fence_epoch) == 24);
static_assert(offsetof(ActorEntry, state_since_ns) == 32);
static_assert(offsetof(ActorEntry, hangs) == 40 && offsetof(ActorEntry, was_asked) == 44);
static_assert(offsetof(ActorEntry, heartbeat_tsc) == 64 && offsetof(ActorEntry, acked_epoch) == 72);
static_assert(offsetof(ActorEntry, in_hand) == 80 && offsetof(ActorEntry, exhausted) == 88);
static_assert(offsetof(ActorEntry, in_function) == 92);
static_assert(offsetof(ActorEntry, resume_position) == 96 && offsetof(ActorEntry, ended) == 104);
static_assert(offsetof(ActorEntry, fault) == 108 && offsetof(ActorEntry, made) == 112);
static_assert(offsetof(ActorEntry, sleeping) == 128);
static_assert(offsetof(ActorEntry, share_reader) == 192 &&
              offsetof(ActorEntry, share_wanted) == 196);
static_assert(offsetof(ActorEntry, share_joined) == 200 && offsetof(ActorEntry, offload) == 204);

/// Running totals of one (stream, lane), all as of `released_sequence`. Written by the stream's
/// egress, or by recovery while that egress is dead.
struct LaneRecord {
  std::uint64_t released_sequence;  ///< last batch that left, in order; 0: none
  std::uint64_t received;           ///< packets, from the batches' running count
  std::uint64_t received_bytes;
  std::uint64_t position;  ///< source ordinal after the last released packet of the lane
  std::uint64_t
      unaccounted;  ///< packets that the running counts say are missing; 0 unless we have a bug
  std::uint64_t batches;
  std::uint64_t ends_version;  ///< another one with each change of what stands by reason
  std::uint64_t padding_0;
  std::uint64_t transmitted[kPortCountMax];        ///< packets, by port
  std::uint64_t transmitted_bytes[kPortCountMax];  ///< by port
  std::uint64_t dropped[kReasonCount];             ///< packets, by Reason
  std::uint64_t consumed[kReasonCount];            ///< likewise
  std::uint64_t generated[kReasonCount];           ///< likewise; no ingress has received them

  /// Packets that wait at the egress (SideKind::kHold): in flight, though their batch has left.
  std::uint64_t held() const noexcept {
    constexpr auto kAt = static_cast<std::size_t>(Reason::kHeld);
    return consumed[kAt] - generated[kAt];
  }
};
static_assert(sizeof(LaneRecord) == 1856);
static_assert(offsetof(LaneRecord, ends_version) == 48);
static_assert(offsetof(LaneRecord, released_sequence) == 0 && offsetof(LaneRecord, received) == 8);
static_assert(offsetof(LaneRecord, received_bytes) == 16 && offsetof(LaneRecord, position) == 24);
static_assert(offsetof(LaneRecord, unaccounted) == 32 && offsetof(LaneRecord, batches) == 40);
static_assert(offsetof(LaneRecord, transmitted) == 64);
static_assert(offsetof(LaneRecord, transmitted_bytes) == 192);
static_assert(offsetof(LaneRecord, dropped) == 320 && offsetof(LaneRecord, consumed) == 832);
static_assert(offsetof(LaneRecord, generated) == 1344);

/// Two records that alternate: record[flips & 1] is complete at any moment, also when the writer is
/// killed. A reader copies it and repeats when flips has changed meanwhile.
struct alignas(kCacheLine) LaneLedger {
  std::atomic<std::uint64_t> flips;
  std::atomic<std::uint64_t>
      released;  ///< released_sequence of the complete record, for the ingress to poll
  std::uint64_t padding[6];
  LaneRecord record[2];
};
static_assert(sizeof(LaneLedger) == 3776);
static_assert(offsetof(LaneLedger, flips) == 0 && offsetof(LaneLedger, released) == 8);
static_assert(offsetof(LaneLedger, record) == 64);

/// What an ingress refused in one lane since the topology started: Reason::kOverload. Those packets
/// have been in no batch, so they count here alone, as received and as dropped.
struct RefusedRecord {
  std::atomic<std::uint64_t> packets, bytes;
  std::atomic<std::uint64_t> position;  ///< source ordinal after the last one refused
};

/// Two records that alternate, as in LaneLedger: packets are counted and are never read again from
/// one moment on, also when the writer is killed. Each word only grows, so that a reader that is
/// slower than two writes sees nothing worse than newer words.
struct alignas(kCacheLine) RefusedLedger {
  std::atomic<std::uint64_t> flips;
  std::uint64_t padding;
  RefusedRecord record[2];

  const RefusedRecord& complete() const noexcept {
    return record[flips.load(std::memory_order_acquire) & 1];
  }
  /// By the ingress alone.
  void add(std::uint64_t packets, std::uint64_t bytes, std::uint64_t position) noexcept;
};
static_assert(sizeof(RefusedLedger) == 64 && offsetof(RefusedLedger, flips) == 0);
static_assert(sizeof(RefusedRecord) == 24 && offsetof(RefusedLedger, record) == 16);
static_assert(offsetof(RefusedRecord, packets) == 0 && offsetof(RefusedRecord, bytes) == 8);
static_assert(offsetof(RefusedRecord, position) == 16);

/// What an ingress has received into one lane. Informs observers; after a restart it is derived
/// anew from slots, but for what it refused.
struct alignas(kCacheLine) IngressLane {
  std::atomic<std::uint64_t> received;  ///< packets; with the open slot's while the ingress lives
  std::atomic<std::uint64_t> sealed_sequence;
  std::atomic<std::uint64_t> offered;  ///< last batch that went on before the lane was held back
  std::uint64_t padding[5];
  RefusedLedger refused;  ///< not in `received`
};
static_assert(sizeof(IngressLane) == 128);
static_assert(offsetof(IngressLane, received) == 0 && offsetof(IngressLane, sealed_sequence) == 8);
static_assert(offsetof(IngressLane, offered) == 16);
static_assert(offsetof(IngressLane, refused) == 64);

/// Lane to worker of a group with `dispatch: flow`. Written by the leader, read when the epoch has
/// moved.
struct alignas(kCacheLine) LaneMap {
  std::atomic<std::uint16_t> worker[kLaneCountMax];  ///< index in the group; kNoWorker: none yet
};
inline constexpr std::uint16_t kNoWorker = 0xffff;
static_assert(sizeof(LaneMap) == 256);

/// Why a batch did not visit a stage.
enum class SkipReason : std::uint8_t { kUnavailable = 0, kOverload = 1 };
inline constexpr std::uint32_t kSkipReasonCount = 2;

/// Log-linear histogram of nanoseconds: bucket widths are 1/16 of a power of two, so a quantile is
/// within 6.25 %. One writer: the stream's egress. Covers 0 ns to 2^36 ns (68 s).
inline constexpr std::uint32_t kLatencyBucketCount = 33 * 16;
struct alignas(kCacheLine) LatencyHistogram {
  std::atomic<std::uint64_t> count[kLatencyBucketCount];
  std::atomic<std::uint64_t> sum_ns;
  std::uint64_t padding[7];
};
static_assert(sizeof(LatencyHistogram) == 4288 && offsetof(LatencyHistogram, sum_ns) == 4224);

/// What one actor did with one function's packets; its data thread writes it.
struct alignas(kCacheLine) FunctionTally {
  std::uint64_t packets;        ///< that the function looked at and let pass
  std::uint64_t dropped;        ///< that it dropped
  std::uint64_t alerts;         ///< a rule said alert
  std::uint64_t timed_packets;  ///< of the batches that were timed
  std::uint64_t timed_ticks;    ///< spent with them
  std::uint64_t padding[3];
  std::uint64_t classed[kClassCountMax];  ///< packets that it gave the class
};
static_assert(sizeof(FunctionTally) == 320 && offsetof(FunctionTally, classed) == 64);

/// Packets that one actor dropped for one function of one path, by Reason; by its data thread. They
/// have not left yet: the ledgers count them when they do.
struct alignas(kCacheLine) DropTally {
  std::uint64_t dropped[kReasonCount];
};
static_assert(sizeof(DropTally) == 512);

/// What a GPU worker computes with.
enum class Backend : std::uint64_t { kUnknown = 0, kSoftware = 1, kCuda = 2 };

/// By the actor's own process.
struct ActorTally {
  Peak turn_ns;                         ///< longest turn of the loop
  Peak window;                          ///< batches that waited in its order windows
  std::atomic<std::uint64_t> backend;   ///< Backend; of a GPU worker, written when it starts
  std::atomic<std::uint64_t> revision;  ///< Plan::revision by which its data thread works
  std::atomic<std::uint64_t> build;     ///< of its executable (build_number()); 0: not known
  std::uint64_t padding[5];
};
static_assert(sizeof(ActorTally) == 320 && offsetof(ActorTally, window) == 128);
static_assert(offsetof(ActorTally, backend) == 256 && offsetof(ActorTally, revision) == 264);
static_assert(offsetof(ActorTally, build) == 272);

struct StreamPeaks {
  Peak latency_ns;  ///< egress: arrival to release
  Peak rate;        ///< ingress: packets a second, over some 10 ms
  Peak slots_used;  ///< ingress
};
static_assert(sizeof(StreamPeaks) == 384 && offsetof(StreamPeaks, slots_used) == 256);

/// By the link's consumer.
struct LinkTally {
  alignas(kCacheLine) std::atomic<std::uint64_t> depth;  ///< batches, when it looked last
  std::uint64_t padding[7];
  Peak high;
};
static_assert(sizeof(LinkTally) == 192 && offsetof(LinkTally, high) == 64);

/// Of a port whose driver runs in the hub, which writes it every second or so.
struct alignas(kCacheLine) PortTally {
  std::atomic<std::uint64_t> known;             ///< 1: the rest is true
  std::atomic<std::uint64_t> up;                ///< its link
  std::atomic<std::uint64_t> bytes_per_second;  ///< 0: not known
  std::uint64_t padding[5];
};
static_assert(sizeof(PortTally) == 64);

/// Values of StatusHeader::drained; 0: all ports are read.
inline constexpr std::uint64_t kPortsRest = 1, kLoopsCut = 2;

struct alignas(kCacheLine) StatusHeader {
  std::uint64_t magic;  ///< written last: the file is complete
  std::uint32_t abi;
  std::uint32_t actor_count;
  std::uint64_t layout_hash;  ///< of the plan's shape (status_layout.hpp)
  std::uint64_t bytes;
  std::uint32_t stream_count, lane_count, group_count, function_counters;
  std::uint64_t tsc_hz;           ///< time stamp counter ticks a second
  std::uint64_t tsc_origin;       ///< this tick was ...
  std::uint64_t clock_origin_ns;  ///< ... this system time
  char name[64];                  ///< of the topology, zero-terminated
  std::uint64_t created_ns;
  std::atomic<std::uint64_t> control_refused;  ///< leader: what it was sent and could not read
  // Leader, every second: the table of neighbours in the segment, which observers do not map.
  std::atomic<std::uint64_t> neighbours_evicted;  ///< gave way to others
  std::atomic<std::uint64_t> neighbours_refused;  ///< found no place
  std::atomic<std::uint32_t> neighbours[6];       ///< entries, by NeighbourLook
  // Moved by the leader; every actor compares it in every turn of its loop.
  alignas(kCacheLine) std::atomic<std::uint64_t> epoch;
  std::atomic<std::uint64_t> functions_out;  ///< leader: bit i: function i is not run
  /// kPortsRest: every ingress leaves its port alone, but of loops; kLoopsCut: what is sent to a
  /// loop is dropped, too. By `millrace drain` and `undrain` (drain_word.hpp).
  std::atomic<std::uint64_t> drained;
  std::uint64_t padding_1[5];
  // Recovery's lock word: (start_time << 24 | pid) of the leader; 0: none.
  alignas(kCacheLine) std::atomic<std::uint64_t> leader;
  std::atomic<std::uint64_t> recoveries;             ///< leader: actors recovered so far
  std::atomic<std::uint64_t> quarantined_slots;      ///< leader: slots lost for good
  std::atomic<std::uint64_t> lane_states_discarded;  ///< leader
  std::atomic<std::uint64_t>
      batches_worker_lost;  ///< leader: batches that a dead worker had in hand
  std::atomic<std::uint64_t>
      batches_handed_on;  ///< leader: untouched batches of dead actors passed on
  std::atomic<std::uint64_t>
      batches_redone;                    ///< leader: batches of a dead GPU given to the stand-in
  std::atomic<std::uint64_t> held_lane;  ///< leader: 1 + the lane that every ingress holds back; 0:
                                         ///< none
};
static_assert(sizeof(StatusHeader) == 320 && alignof(StatusHeader) == 64);
static_assert(offsetof(StatusHeader, magic) == 0 && offsetof(StatusHeader, abi) == 8);
static_assert(offsetof(StatusHeader, actor_count) == 12);
static_assert(offsetof(StatusHeader, layout_hash) == 16 && offsetof(StatusHeader, bytes) == 24);
static_assert(offsetof(StatusHeader, stream_count) == 32);
static_assert(offsetof(StatusHeader, lane_count) == 36);
static_assert(offsetof(StatusHeader, group_count) == 40);
static_assert(offsetof(StatusHeader, function_counters) == 44);
static_assert(offsetof(StatusHeader, tsc_hz) == 48 && offsetof(StatusHeader, tsc_origin) == 56);
static_assert(offsetof(StatusHeader, clock_origin_ns) == 64 && offsetof(StatusHeader, name) == 72);
static_assert(offsetof(StatusHeader, created_ns) == 136);
static_assert(offsetof(StatusHeader, control_refused) == 144);
static_assert(offsetof(StatusHeader, neighbours_evicted) == 152);
static_assert(offsetof(StatusHeader, neighbours_refused) == 160);
static_assert(offsetof(StatusHeader, neighbours) == 168);
static_assert(offsetof(StatusHeader, epoch) == 192);
static_assert(offsetof(StatusHeader, functions_out) == 200 && kFunctionPlaceMax <= 64);
static_assert(offsetof(StatusHeader, drained) == 208);
static_assert(offsetof(StatusHeader, leader) == 256 && offsetof(StatusHeader, recoveries) == 264);
static_assert(offsetof(StatusHeader, quarantined_slots) == 272);
static_assert(offsetof(StatusHeader, lane_states_discarded) == 280);
static_assert(offsetof(StatusHeader, batches_worker_lost) == 288);
static_assert(offsetof(StatusHeader, batches_handed_on) == 296);
static_assert(offsetof(StatusHeader, batches_redone) == 304);
static_assert(offsetof(StatusHeader, held_lane) == 312);

}  // namespace millrace
