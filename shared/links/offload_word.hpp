// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "shared/base/check.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/status_layout.hpp"

/// ActorEntry::offload of a gpu group with `offload: auto`: how many of a hundred batches go to the
/// GPU. Written by the supervisor; read by each producer for each batch, by observers as they like.
/// It outlives every process, so with no supervisor the last share stays.

namespace millrace {

inline constexpr std::uint32_t kOffloadWhole = 100;  ///< percent

/// The word of a gpu group: that of its first actor.
inline std::atomic<std::uint32_t>& offload_of(const Plan& plan, const StatusView& status,
                                              std::uint32_t group) {
  const auto is_its = [&](const PlanActor& actor) {
    return actor.kind == ActorKind::kGpu && actor.group == group;
  };
  const auto first = std::find_if(plan.actors.begin(), plan.actors.end(), is_its);
  MILLRACE_CHECK(first != plan.actors.end());
  return status.actor(static_cast<std::uint32_t>(first - plan.actors.begin())).offload;
}

/// Percent, 0..100; 100 until the supervisor has written the word.
inline std::uint32_t measured_offload(const std::atomic<std::uint32_t>& word) noexcept {
  const std::uint32_t said = word.load(std::memory_order_relaxed);
  return said == 0 ? kOffloadWhole : std::min(said - 1, kOffloadWhole);
}

/// `percent`: 0..100.
inline void set_offload(std::atomic<std::uint32_t>& word, std::uint32_t percent) noexcept {
  MILLRACE_CHECK(percent <= kOffloadWhole);
  word.store(percent + 1, std::memory_order_relaxed);
}

}  // namespace millrace
