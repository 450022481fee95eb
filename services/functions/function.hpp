// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "services/functions/device_function.hpp"
#include "services/functions/event_writer.hpp"
#include "shared/base/reason.hpp"
#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/batch.hpp"
#include "shared/layout/lane_undo_log.hpp"
#include "shared/layout/metrics_kept.hpp"
#include "shared/layout/neighbour_table.hpp"
#include "shared/layout/status_file.hpp"

/// What a network function is. One folder under services/functions/ holds all of one; a row of
/// table.hpp makes it known. A worker calls, for each batch, for each function of its stage in path
/// order:
///
///     select (the caller: which packets take part) -> compute -> finish
///
/// - finish runs on a CPU; compute runs on a CPU or, placed on a gpu group, on the device. Then
///   finish is called by the actor that accepts the completion, exactly once for each batch.
/// - compute reads packets and columns and writes only its result words. It never changes a packet,
///   a verdict, or anything that outlives the batch: it may be run again on the same batch (after a
///   worker died).
/// - finish turns results into fates, columns, changed bytes, counters and state, asks the egress
///   for more (the side list), and tells of packets (events).
///
/// Everything here but construction is noexcept, allocates nothing, and is called by one thread.

namespace millrace {

/// The part of each packet that compute reads: a CPU prefetches it; a GPU uses frame_bytes instead
/// (DeviceTable). Offsets are symbolic, because headers vary: `from` is the start of the range.
struct Region {
  enum class Start : std::uint8_t { kFrame, kNetwork, kTransport, kPayload } from = Start::kFrame;
  std::uint32_t bytes = 64;           ///< at most; kWholePacket: to the end
  std::uint32_t usual_bytes = bytes;  ///< of most packets: a CPU prefetches no more
};
inline constexpr std::uint32_t kWholePacket = UINT32_MAX;

/// What is known of a type of function before one is made: the planner lays out memory by it.
struct FunctionTraits {
  std::string_view type;                                  ///< as in the YAML
  std::string_view summary;                               ///< one line for --help
  std::span<const Region> regions;                        ///< a union; empty: columns only
  bool stateful = false;                                  ///< see PlanFunction::stateful
  LaneNeeds (*lane_needs)(const LaneRequest&) = nullptr;  ///< of a stateful one; null: none
  FlowUse flows = FlowUse::kNone;
  bool runs_on_gpu = false;         ///< its group may be a GPU's (or the software device's)
  bool keys_suffice = false;        ///< of a usual frame, FlowKey tells it all that it asks for
  bool has_image = false;           ///< its table is built by the builder process and mapped
  std::uint32_t counter_count = 0;  ///< entries of FunctionCounters when it has no image
  /// Of its own, beside those of the core: FinishContext::reason() gives their numbers.
  std::span<const DeclaredReason> reasons = {};
  bool drops_for_first = false;  ///< each of its drops is for the first of them
  Rewrites rewrites = Rewrites::kNone;
  std::uint32_t headroom = 0;  ///< bytes that it may add in front of a packet (grow_front)
  std::uint32_t tailroom = 0;  ///< bytes that it may add behind a packet (grow_back)
  std::uint32_t growth = 0;    ///< of these, bytes by which a packet that goes on may be longer
  std::span<const KnownSetting> settings;  ///< keys of its own in the YAML, beside type, on, ...
};

/// Which packets take part: those that go on, and have one of the classes of `when`. Indexes
/// ascend.
struct Selection {
  std::span<const std::uint16_t> packets;
};

/// Counters of a function, of one actor, in shared memory: `hits[i]` counts rule, next hop, or
/// whatever the function's README says number i is. Survives the actor. Size: what the function's
/// image asks for.
struct FunctionCounters {
  std::span<std::uint64_t> hits;
  FunctionTally* tally = nullptr;  ///< what every function counts alike; null: not counted

  /// `times` more of `number`; nothing when there is no such counter.
  void hit(std::size_t number, std::uint64_t times = 1) const noexcept {
    if (!metrics_kept()) return;
    if (number < hits.size()) hits[number] += times;
  }
  /// Counts an alert of a rule.
  void alert() const noexcept {
    if (!metrics_kept()) return;
    if (tally != nullptr) ++tally->alerts;
  }
  /// Counts a packet that got the classes of `mask`; 0: none.
  void classed(std::uint32_t mask) const noexcept {
    if (!metrics_kept()) return;
    if (tally == nullptr) return;
    for (; mask != 0; mask &= mask - 1) ++tally->classed[std::countr_zero(mask)];
  }
};

/// State of one lane for a stateful function. A worker that dies in finish loses its batch and what
/// that has changed of the state, no more, when each change goes through change().
struct LaneState {
  std::span<std::byte> bytes;  ///< LaneNeeds::state_bytes; empty without state
  LaneUndoLog undo{};

  /// Returns bytes [at, at + count) of the state, to be written now. If the worker dies before the
  /// batch is done, recovery restores their present value.
  std::span<std::byte> change(std::size_t at, std::size_t count) const noexcept {
    undo.keep(at, count);
    return bytes.subspan(at, count);
  }
  /// Likewise an object that lies in the state.
  template <typename Object>
  Object& change(Object& object) const noexcept {
    undo.keep(offset_of(&object), sizeof object);
    return object;
  }
  /// The same for one that lies in one line of it, in fewer steps.
  template <typename Object>
  Object& change_line(Object& object) const noexcept {
    undo.keep_line_of(offset_of(&object));
    return object;
  }
  /// The offset of a place in the state.
  std::size_t offset_of(const void* place) const noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(place) - bytes.data());
  }
};

class FlowBatch;
struct FlowEntry;
struct FlowOwn;
struct FlowTuple;
struct TcpSegment;

/// The facts about a batch that are the same for every function of a stage.
struct BatchFacts {
  std::uint8_t port_in = kOutputDefault;  ///< port that it came from; kOutputDefault: not known
  std::uint64_t now_ns = 0;               ///< since the topology started; read once a turn
  const NeighbourTableView* neighbours = nullptr;  ///< of the topology; null: there is none
  EventLog* events = nullptr;                      ///< of the actor; null: no process listens
  std::uint32_t lane = 0, lane_count = 1;          ///< of its path: 0..lane_count - 1
};

class Function;

/// A function of the stage, with what it works on at a batch.
struct StateOfFunction {
  Function* function = nullptr;
  LaneState state;       ///< of the batch's lane
  EventWriter events{};  ///< for what is of no packet
  FunctionCounters counters{};
};

/// An enum of a function whose values are places in its FunctionTraits::reasons.
template <typename Own>
concept OwnReason = std::is_enum_v<Own> && !std::same_as<Own, Reason>;

/// One call of finish. Borrowed: valid until it returns. `batch.side` is the side list.
struct FinishContext {
  const Batch& batch;
  Selection selected;
  std::span<const std::uint32_t> results;  ///< by packet, as compute wrote them
  FunctionCounters counters;
  LaneState state;
  const BatchFacts& facts;
  EventWriter events{};                               ///< for what is to be told of packets
  std::span<const std::uint8_t> reason_numbers = {};  ///< by place in FunctionTraits::reasons
  /// The flows of the packets, by the function in front that gives them; null: there is none, or it
  /// is out of service.
  FlowBatch* flows = nullptr;
  /// Of the function that gives flows: those behind it, which are to hear of a flow's end.
  std::span<const StateOfFunction> behind = {};

  /// What the plan calls a reason that the function declares; `unavailable` for a place that is
  /// none: results of a GPU may name any.
  template <OwnReason Own>
  Reason reason(Own own) const noexcept {
    const auto place = static_cast<std::size_t>(own);
    return place < reason_numbers.size() ? static_cast<Reason>(reason_numbers[place])
                                         : Reason::kUnavailable;
  }
};

/// Packets that were dropped at the end of a batch, by reason.
struct EndOfBatch {
  struct Drops {
    std::uint32_t packets = 0;
    Reason why = Reason::kNone;
  };
  std::array<Drops, 2> drops;
};

class Function {
 public:
  virtual ~Function() = default;
  /// Writes results[p] for each selected packet p. Const in spirit: see above.
  virtual void compute(const Batch& batch, Selection selected,
                       std::span<std::uint32_t> results) noexcept = 0;
  /// Decides each selected packet's fate. A packet that it leaves alone goes on.
  virtual void finish(const FinishContext& call) noexcept = 0;

  // What only functions with flows override.

  /// Of the one that gives flows: those of the batch that it has finished last.
  virtual FlowBatch* flows() noexcept { return nullptr; }
  /// Of the one that gives flows: all functions of the stage are through with the batch. Returns
  /// how many packets it has dropped now.
  virtual EndOfBatch end_batch(const FinishContext& /*no packet is selected*/) noexcept {
    return {};
  }
  /// A flow ends, by time, by room, or by forget(). `own`: of this function, in the flow's lane.
  virtual void flow_ended(const StateOfFunction& /*own*/, const FlowEntry& /*flow*/) noexcept {}
  /// A flow that began in the batch never gets a place in the table: its packets were dropped, or
  /// there was no room. `tuple`: of its first packet. `kept`: what functions have kept with it.
  virtual void flow_not_kept(const StateOfFunction& /*own*/, const FlowTuple& /*tuple*/,
                             const FlowOwn& /*kept*/) noexcept {}
  /// A segment in direction 1, as it has come in, of a flow for which the function changes numbers
  /// (FlowOwn::renumbered): its numbers become those that direction 0 is told. Called in front of
  /// finish; nothing else is changed. `tuple`: of direction 0.
  virtual void renumber(const StateOfFunction& /*own*/, const FlowTuple& /*tuple*/,
                        TcpSegment& /*segment*/) noexcept {}
  /// A packet of such a flow, behind the function, gets back the numbers with which it has come, so
  /// that its sender can be told of it. Addresses and ports may be any. `direction`: of the packet.
  virtual void revert_numbers(const StateOfFunction& /*own*/, const FlowTuple& /*tuple*/,
                              std::uint8_t /*direction*/, std::span<std::byte> /*frame*/) noexcept {
  }
};

/// What a function needs of the world, beside its image.
struct FunctionContext {
  const PlanFunction& function;
  std::span<const PlanPort> ports;  ///< MAC and own addresses of each port
  /// False where finish alone will be called (an egress behind a GPU): what only compute needs is
  /// not made then.
  bool computes = true;
  /// True of a gpu group, in its workers and its tables' builder: where compute is called at all,
  /// it stands for the device's.
  bool on_device = false;
  /// Of the topology, for what builds a table: the translations of all of them. Empty: none known.
  std::span<const PlanPath> paths = {};
  /// Likewise: where the topology runs, or will. Empty: it does not.
  std::string_view run_dir = {};
};

/// Makes a function for one worker: parses settings, maps `function.image` read-only when it has
/// one. Throws millrace::Error (shared/base/error.hpp) with what was expected.
using MakeFunction = std::unique_ptr<Function> (*)(const FunctionContext&);

/// One of the files that a table was built from.
struct TableFile {
  std::string path;
  std::uint64_t accepted = 0;  ///< entries of the table that came from it
  bool is_empty = false;       ///< it has no line but comments
};

/// Builds the table from the function's settings (rule or route files) and publishes it at
/// `function.image`. Runs in the builder process. Returns what it did, for the user: counts,
/// refused lines with their reasons.
struct BuildReport {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint32_t counter_count = 0;    ///< entries of FunctionCounters
  std::vector<std::string> refusals;  ///< "file:line: reason", at most 100
  std::vector<TableFile> files;       ///< all that were read, each once (report_files())
};
using BuildTable = BuildReport (*)(const FunctionContext&);

/// One row of the explicit table of functions (table.hpp).
struct FunctionType {
  FunctionTraits traits;
  MakeFunction make;
  BuildTable build;  ///< null when the function has no image
  /// Checks the settings without root, tables or shared memory (for `validate`): throws Error that
  /// names the key.
  void (*check)(const PlanFunction&);
  UploadTable upload = nullptr;  ///< null: compute has no GPU version
  /// What of the settings, or of the files that they name, asks to tell of packets; empty: nothing
  /// does. For `validate`; throws Error. Null: nothing ever does.
  std::string (*asks_for_events)(const PlanFunction&) = nullptr;
  /// See KnownFunction.
  PlanTranslation (*translation)(const Settings&, const std::vector<PlanPort>&) = nullptr;
};

}  // namespace millrace
