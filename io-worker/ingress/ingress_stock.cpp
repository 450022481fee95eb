// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What an ingress tells observers of its pools and of its load, and shows of its packets.

#include "io-worker/ingress/ingress_actor.hpp"

namespace millrace {

void IngressActor::take_stock(std::uint64_t now_tsc) noexcept {
  if (!mates_.empty()) look_for_turns();  // no metric: others wait for the answer
  if (!metrics_kept()) return;
  std::uint32_t free = free_slot_count_;
  for (const auto& ring : returned_slots_) free += ring.size();
  context_.counter(Counter::kSlotsFree) = free;
  const std::uint32_t all = context_.plan->streams[stream_].slot_count;
  slots_used_.note(now_tsc, all > free ? all - free : 0);
  context_.counter(Counter::kBuffersFree) = pool_.free() + queue_.held();
  if (stock_tsc_ != 0 && now_tsc > stock_tsc_) {
    const std::uint64_t ns = scale_.to_ns(now_tsc - stock_tsc_);
    if (ns != 0) rate_.note(now_tsc, (polled_total_ - stock_polled_) * 1'000'000'000 / ns);
  }
  stock_tsc_ = now_tsc;
  stock_polled_ = polled_total_;
}

/// Also what will be refused, or is known from a life before: all that the port has given.
void IngressActor::show_polled() const noexcept {
  const std::uint64_t now = tsc_now();
  const std::uint32_t port = context_.plan->streams[stream_].port;
  for (std::uint32_t i = 0; i < polled_count_; ++i) {
    const RxPacket& packet = polled_[i];
    const std::byte* const bytes = pool_.area().at(packet.buffer) + packet.offset;
    context_.watch->port_in(context_.me.actor, port,
                            {.bytes = {bytes, packet.length},
                             .wire_length = packet.wire_length,
                             .time_tsc = packet.time_tsc != 0 ? packet.time_tsc : now});
  }
}

}  // namespace millrace
