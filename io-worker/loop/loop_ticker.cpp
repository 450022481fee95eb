// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/loop/loop_ticker.hpp"

#include <array>

#include "shared/config/loop.hpp"
#include "shared/packet/tick.hpp"

namespace millrace {

LoopTicker::LoopTicker(const ActorContext& context, std::size_t ring, const PlanPort& port)
    : context_(context),
      ring_(context.segment.loop(ring)),
      scale_(context.status.header().tsc_hz),
      interval_ns_(std::uint64_t{loop_tick_ms(port)} * 1'000'000),
      origin_tsc_(context.status.header().tsc_origin) {
  MILLRACE_CHECK(parse_mac(port.mac, mac_) && interval_ns_ != 0);
}

void LoopTicker::resume() noexcept {
  if (interval_ns_ == 0) return;
  const std::uint64_t made = ring_.head();
  // The process before may have died between making a tick and counting it.
  context_.my_entry().made.store(made, std::memory_order_release);
  wait_for(made == 0 ? 0 : read_tick({ring_.bytes(made - 1), kTickFrameBytes}).time_ns);
}

/// Ticks are due at the multiples of the interval; a late tick does not delay the next one.
void LoopTicker::wait_for(std::uint64_t time_ns) noexcept {
  next_tsc_ = origin_tsc_ + scale_.to_ticks((time_ns / interval_ns_ + 1) * interval_ns_);
}

void LoopTicker::make(std::uint64_t now_tsc) noexcept {
  const std::uint64_t made = ring_.head();
  Tick tick{.number = made, .time_ns = scale_.ns_between(origin_tsc_, now_tsc)};
  wait_for(tick.time_ns);
  if (made - ring_.tail() == ring_.depth()) return;
  if (made != 0) tick.since_ns = read_tick({ring_.bytes(made - 1), kTickFrameBytes}).time_ns;
  std::array<std::byte, kTickFrameBytes> frame;
  write_tick(frame, mac_, tick);
  ring_.put(made, frame, kTickFrameBytes);
  ring_.commit(made + 1);
  context_.my_entry().made.store(made + 1, std::memory_order_release);
}

}  // namespace millrace
