// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "services/functions/function.hpp"
#include "services/functions/function_in_parts.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/sampler.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/batch.hpp"

/// Runs the functions of one stage over a batch: all at once on a CPU, or in two halves when
/// compute happens on a device. Both ways end with the same verdicts, columns and counters.

namespace millrace {

/// A function at its place in a stage.
struct StageFunction {
  Function* function = nullptr;         ///< borrowed; outlives the runner
  std::uint32_t when_class = 0;         ///< as in PlanFunction
  std::uint32_t class_mask = 0;         ///< as in PlanFunction: classes that it can set
  std::span<const Region> regions;      ///< of its traits: what is prefetched
  FunctionCounters counters;            ///< of this actor and function
  std::uint32_t number = 0;             ///< of the function in the plan
  Fallback when_out = Fallback::kDrop;  ///< what becomes of its packets while it is out of service
  std::uint64_t* skipped = nullptr;     ///< counts them; null: not counted
  Reason drops_for = Reason::kNone;     ///< all of its drops; kNone: each for its own
  DropTally* drops = nullptr;           ///< of this actor, path and function; null: not counted
  std::vector<std::uint8_t> reason_numbers = {};  ///< FinishContext::reason_numbers
  Rewrites rewrites = Rewrites::kNone;  ///< of its traits: kAll ends a hint (payload_hint.hpp)
};

/// What a runner shares with recovery: which function runs, and which must not.
struct StageWatch {
  std::atomic<std::uint32_t>* running = nullptr;    ///< ActorEntry::in_function
  const std::atomic<std::uint64_t>* out = nullptr;  ///< StatusHeader::functions_out
};

/// Told of each function of a batch, after it has finished.
class StageListener {
 public:
  virtual ~StageListener() = default;
  /// `function`: its number in the plan. Times: time stamp counter.
  virtual void ran(std::uint32_t function, Selection selected,
                   std::span<const std::uint32_t> results, std::uint64_t since_tsc) noexcept = 0;
};

/// One for each stage and thread. Allocates at construction only; every call from one thread.
class StageRunner {
 public:
  /// `functions`: 1..kStageFunctionCountMax, in the order of the path.
  /// `watch`: without it every function runs, and none is named as the one that runs.
  explicit StageRunner(const std::vector<StageFunction>& functions, StageWatch watch = {});

  /// For each function that is not out: select, prefetch, compute, finish (FunctionInParts: by
  /// parts). Results of a CPU's stage
  /// stay here; the batch's own column is a GPU's. `states`: of the batch's lane, one for each
  /// function, or empty when none has any. `listener`: null: there is none.
  void run(const Batch& batch, std::span<const LaneState> states, const BatchFacts& facts = {},
           StageListener* listener = nullptr) noexcept;

  /// First half: compute alone. Writes results[f * batch.capacity + packet] and nothing else, so
  /// it may run again and beside another incarnation. A packet that an earlier function is going
  /// to drop, or may yet give the class that a later one waits for, is computed too. No function
  /// sees what an earlier one of the stage writes in finish: one that needs it cannot share a stage
  /// on a device.
  void run_compute(const Batch& batch, std::span<std::uint32_t> results) noexcept;

  /// Second half: select and finish, in order; what a function that is out computed is left alone.
  /// `results`: as run_compute wrote them.
  void run_finish(const Batch& batch, std::span<const std::uint32_t> results,
                  std::span<const LaneState> states, const BatchFacts& facts = {},
                  StageListener* listener = nullptr) noexcept;

 private:
  struct Member {
    StageFunction at;
    std::uint32_t when_at_entry;   ///< when_class, or 0 if an earlier function may set one of them
    std::uint32_t prefetch_bytes;  ///< from the frame's start; 0: an earlier function fetched them
    FunctionInParts* in_parts;     ///< the function, when it is one; else null
  };
  static constexpr std::uint32_t kTimedEach = 16;  ///< one batch of so many is timed

  static constexpr std::size_t kNoGiver = SIZE_MAX;

  /// What every call of one batch is told alike.
  struct Visit {
    const Batch& batch;
    std::span<const LaneState> states;
    const BatchFacts& facts;
    FlowBatch* flows = nullptr;  ///< from the giver on
  };

  FinishContext call_of(std::size_t member, const Visit& visit,
                        std::span<const std::uint32_t> results) noexcept;
  void finish(std::size_t member, Visit& visit, Selection selected,
              std::span<const std::uint32_t> results) noexcept;
  void compute_and_finish(std::size_t member, Visit& visit, Selection selected,
                          std::span<std::uint32_t> results) noexcept;
  void end_batch(const Visit& visit) noexcept;
  bool is_out(const StageFunction& at) const noexcept;
  void enter(const StageFunction& at) const noexcept;
  void leave() const noexcept;

  std::vector<Member> members_;
  StageWatch watch_;
  Sampler sampler_;  ///< of the batches that are timed
  std::array<std::uint16_t, kBatchCapacityMax> selected_{};
  std::array<std::uint32_t, kBatchCapacityMax> results_{};        ///< of the function that runs
  std::size_t giver_ = kNoGiver;                                  ///< of flows, in members_
  std::array<StateOfFunction, kStageFunctionCountMax> behind_{};  ///< it
};

}  // namespace millrace
