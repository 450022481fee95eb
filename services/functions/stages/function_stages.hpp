// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "services/functions/stages/function_tables.hpp"
#include "shared/actor/context.hpp"
#include "shared/actor/new_tables.hpp"
#include "shared/actor/stage_work.hpp"
#include "shared/base/clock.hpp"

namespace millrace {

/// The functions that one actor needs, made from the plan: those of the stages that its group runs
/// or stands in for, and those of GPU stages whose completions it accepts. Throws Error at
/// construction (a table that does not fit, a missing image); afterwards the data thread allocates
/// nothing.
///
/// A new revision of the plan is made ready by the control thread (PlanFollower) and taken by the
/// data thread between two batches (NewTables, or take_tables()): what follow() made stays the
/// control thread's to free, once the data thread works by a later one.
class FunctionStages : public StageWork, public PlanFollower, public NewTables {
 public:
  /// `context.me.actor` decides what is needed.
  explicit FunctionStages(const ActorContext& context);

  // Data thread.
  void run(std::uint8_t stage, const Batch& batch) noexcept override;
  void compute(std::uint8_t stage, const Batch& batch, std::uint32_t* results) noexcept override;
  std::uint32_t columns(std::uint8_t stage, std::uint32_t edition) const noexcept override;
  /// Results of an edition that is not known here (a GPU cannot have met it) drop the batch.
  void finish(std::uint8_t stage, const Batch& batch) noexcept override;
  void take_tables() noexcept override;
  const Plan* ready() noexcept override;
  void take() noexcept override;

  // Control thread.
  void follow(const Plan& plan) override;
  void tend() noexcept override;
  /// Whether follow() would do something: the plan is a later one, and the data thread has taken
  /// what was offered before.
  bool wants(const Plan& plan) const noexcept;

 private:
  class Follower;
  const FunctionTables& now() const noexcept { return *now_.load(std::memory_order_relaxed); }
  void tell_revision() noexcept;
  std::span<const LaneState> states_of(std::uint8_t stage, const Batch& batch) noexcept;
  BatchFacts facts_of(const Batch& batch, std::uint8_t stage) noexcept;
  std::span<std::uint32_t> words(const Batch& batch, std::uint32_t* results) const noexcept;

  ActorContext context_;
  TscScale scale_;
  NeighbourTableView neighbours_;
  EventLog events_;
  std::vector<std::unique_ptr<FunctionTables>> made_;  ///< control thread's
  std::atomic<const FunctionTables*> now_{nullptr};    ///< data thread's
  std::atomic<const FunctionTables*> ready_{nullptr};  ///< offered; null again when taken
  std::uint32_t told_revision_ = UINT32_MAX;
  std::vector<LaneState> states_;
  // Of the plan, side by side: read for each batch.
  struct Lanes {
    std::uint32_t first = 0, count = 0;
  };
  std::vector<Lanes> lanes_;         ///< by stage: those of its path
  std::vector<std::uint8_t> ports_;  ///< by stream
};

}  // namespace millrace
