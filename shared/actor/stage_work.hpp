// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "shared/layout/batch.hpp"

namespace millrace {

/// The functions of the stages, as an actor sees them: it hands them a batch and knows no more.
/// Implemented over the functions table (services/functions/stages/function_stages.hpp); tests put
/// their own in.
class StageWork {
 public:
  virtual ~StageWork() = default;
  /// All functions of `stage`, one after the other: compute, finish.
  virtual void run(std::uint8_t stage, const Batch& batch) noexcept = 0;
  /// The part that may run on a device: writes only `results`, laid out like a slot's result
  /// column.
  virtual void compute(std::uint8_t stage, const Batch& batch, std::uint32_t* results) noexcept = 0;
  /// The number of result columns of `stage` with an edition of its functions (Batch::edition), one
  /// for each function.
  virtual std::uint32_t columns(std::uint8_t stage, std::uint32_t edition) const noexcept = 0;
  /// The rest of the work, called by the actor that accepted the completion; batch.result holds the
  /// results.
  virtual void finish(std::uint8_t stage, const Batch& batch) noexcept = 0;
  /// Called between two batches, every 10 ms or so: goes over to tables that were made ready.
  virtual void take_tables() noexcept {}
};

}  // namespace millrace
