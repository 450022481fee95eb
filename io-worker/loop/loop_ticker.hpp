// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/actor/context.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/mac.hpp"
#include "shared/layout/loop_ring.hpp"

namespace millrace {

/// Makes the ticks of a loop (shared/packet/tick.hpp): puts them into a ring that its ingress both
/// fills and reads, as it reads the others. The ring says how many ticks there were and when the
/// last one was, so the next process goes on. A tick without room is not made; the next one covers
/// its time. Data thread of that ingress.
class LoopTicker {
 public:
  LoopTicker() = default;  ///< makes none
  /// `ring`: layout().loops number, that of the ticks of `port`.
  LoopTicker(const ActorContext& context, std::size_t ring, const PlanPort& port);

  /// Goes on where the process before ended. Called before the first make_due().
  void resume() noexcept;
  /// Makes the tick that is due at `now_tsc`, if one is.
  void make_due(std::uint64_t now_tsc) noexcept {
    if (now_tsc >= next_tsc_) [[unlikely]]
      make(now_tsc);
  }

 private:
  void make(std::uint64_t now_tsc) noexcept;
  void wait_for(std::uint64_t time_ns) noexcept;

  ActorContext context_;
  LoopRing ring_;
  MacAddress mac_{};
  TscScale scale_;
  std::uint64_t interval_ns_ = 0;
  std::uint64_t origin_tsc_ = 0;         ///< when the topology started
  std::uint64_t next_tsc_ = UINT64_MAX;  ///< when the next one is due
};

}  // namespace millrace
