// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "services/functions/stage_runner.hpp"
#include "shared/actor/context.hpp"
#include "shared/actor/stage_work.hpp"

namespace millrace {

/// The functions that one actor needs, made from the plan: those of the stages that its group runs
/// or stands in for, and those of GPU stages whose completions it accepts. Throws Error at
/// construction (a table that does not fit, a missing image); afterwards allocates nothing.
class FunctionStages : public StageWork {
 public:
  /// `context.me.actor` decides what is needed.
  explicit FunctionStages(const ActorContext& context);

  void run(std::uint8_t stage, const Batch& batch) noexcept override;
  void compute(std::uint8_t stage, const Batch& batch, std::uint32_t* results) noexcept override;
  void finish(std::uint8_t stage, const Batch& batch) noexcept override;

 private:
  bool needs(std::uint32_t stage) const;
  /// Whether compute runs here for functions of `group`, not only finish.
  bool computes(std::uint32_t group) const;
  Function& function(std::uint32_t number);
  std::span<const LaneState> states_of(std::uint8_t stage, const Batch& batch) noexcept;
  std::span<std::uint32_t> words(const Batch& batch, std::uint32_t* results) const noexcept;

  ActorContext context_;
  std::vector<std::unique_ptr<Function>> functions_;   ///< by plan function; null: not needed here
  std::vector<std::unique_ptr<StageRunner>> runners_;  ///< by stage; null: not needed here
  std::vector<LaneState> states_;
};

}  // namespace millrace
