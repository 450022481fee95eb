// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/frames.hpp"
#include "services/functions/function.hpp"

namespace millrace {

/// A function that may be called for a part of a batch's packets after the other: on a CPU, finish
/// of some comes before compute of those behind them, and meanwhile lines of the latter are on
/// their way. So what finish does with a packet must not depend on how compute ends for another
/// one, and it does nothing that has to be done once a batch. Parts are in order. It gives no
/// flows.
class FunctionInParts : public Function {
 public:
  /// compute() of 1..kFramesMax packets, which lie at `frames`.
  virtual void compute_part(const Batch& batch, Selection part, const Frames& /*frames*/,
                            std::span<std::uint32_t> results) noexcept {
    compute(batch, part, results);
  }
  /// finish() of the same packets, which are `part.selected`.
  virtual void finish_part(const FinishContext& part, const Frames& /*frames*/) noexcept {
    finish(part);
  }
};

}  // namespace millrace
