// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What an ingress does now and then: tells observers of its pools and of its load, shows its
// packets, and looks whether hub and standby are those that keep what outlives it.

#include "io-worker/ingress/ingress_actor.hpp"
#include "shared/base/clock.hpp"

namespace millrace {

void IngressActor::take_stock(std::uint64_t now_tsc) noexcept {
  count_growths();
  if (errors_ != errors_told_) tell_trouble();
  if (shares_ != nullptr) look_at_shares();  // no metric: others wait for it
  look_at_keepers();
  if (!metrics_kept()) return;
  steps_.take_stock(now_tsc);
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

void IngressActor::count_growths() noexcept {
  count_growth(Counter::kRxMissed, queue_.missed(), missed_);
  count_growth(Counter::kRxErrors, queue_.errors(), errors_);
}

void IngressActor::count_growth(Counter id, std::uint64_t now, std::uint64_t& seen) noexcept {
  if (now == seen) return;  // the queue counts from 0 in each life, the counter goes on
  context_.counter(id) += now - seen;
  seen = now;
}

/// At the first of it, and at the end of the source once more.
void IngressActor::tell_trouble() noexcept {
  if (errors_told_ != 0 && !queue_.exhausted()) return;
  errors_told_ = errors_;
  const TroubleText what = queue_.trouble();
  if (!tell_ || what.empty()) return;
  TroubleText text;
  const std::string& port = context_.plan->ports[context_.plan->streams[stream_].port].name;
  text.add("port '%s': %s", port.c_str(), what.c_str());
  tell_(text.view());
}

/// Another process has come in the place of the hub or of the standby: what the queue had left with
/// the one before may have gone with it.
void IngressActor::look_at_keepers() noexcept {
  constexpr std::uint64_t kAskAgainNs = 1'000'000'000;  // one that comes is not ready at once
  const std::uint64_t hub = context_.entry(0).incarnation.load(std::memory_order_acquire);
  const std::uint64_t now =
      hub << 32 | context_.entry(1).incarnation.load(std::memory_order_acquire);
  if (now == keepers_ || monotonic_ns() < ask_keepers_ns_) return;
  if (queue_.leave_with_keepers()) keepers_ = now;
  ask_keepers_ns_ = monotonic_ns() + kAskAgainNs;
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
