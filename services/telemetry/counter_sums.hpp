// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "services/telemetry/status_metrics.hpp"

namespace millrace {

/// The first counters of a function, summed over actors. `Counter`: the enum of their numbers, up
/// to its kCount.
template <typename Counter>
class CounterSums {
 public:
  static constexpr std::uint32_t kCount = static_cast<std::uint32_t>(Counter::kCount);

  /// `id`: of a function that has at least these counters.
  CounterSums(const StatusSource& source, std::uint32_t id) {
    const std::uint32_t first = function_counter_first(source.plan, id);
    for (std::uint32_t actor = 0; actor < source.plan.actors.size(); ++actor) {
      const auto words = source.status.function_counters(actor, first, kCount);
      for (std::uint32_t i = 0; i < kCount; ++i) {
        sums_[i] += std::atomic_ref(words[i]).load(std::memory_order_relaxed);
      }
    }
  }
  double of(Counter counter) const {
    return static_cast<double>(sums_[static_cast<std::size_t>(counter)]);
  }
  /// Begun minus ended, but never below 0: a killed worker may have left a begin or an end
  /// uncounted.
  double left(Counter begun, Counter ended) const {
    return of(begun) > of(ended) ? of(begun) - of(ended) : 0;
  }

 private:
  std::array<std::uint64_t, kCount> sums_{};
};

}  // namespace millrace
