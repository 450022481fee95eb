// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/actor/context.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/mac.hpp"
#include "shared/layout/loop_ring.hpp"

namespace millrace {

/// Makes the ticks of a loop (shared/packet/tick.hpp): puts them into a ring of which its ingress
/// is the producer too, and from which it reads them as others. The ring says how many there have
/// been and when the last one was, so a next life goes on. One that finds no room is not made; the
/// next one speaks for its time. Data thread of that ingress.
class LoopTicker {
 public:
  LoopTicker() = default;  ///< makes none
  /// `ring`: layout().loops number, that of the ticks of `port`.
  LoopTicker(const ActorContext& context, std::size_t ring, const PlanPort& port);

  /// A next life goes on; before the first call of make_due().
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
