// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/ingress/ingress_actor.hpp"

#include <algorithm>

#include "shared/base/clock.hpp"
#include "shared/base/turn_clock.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kPollIntervalNs = 200'000;

std::uint32_t burst_of(const ActorContext& context, const PathLanes& paths) {
  return std::min(kBurstMax,
                  std::max(context.segment.capacity(), kBurstPerLane * paths.open_max()));
}

}  // namespace

IngressActor::IngressActor(const ActorContext& context, std::uint32_t stream, BufferPool& pool,
                           RxQueue& queue)
    : context_(context),
      stream_(stream),
      pool_(pool),
      queue_(queue),
      outbox_(context),
      paths_(*context.plan, stream),
      // One lane fills a slot before it opens the next, of several one may open a slot right behind
      // another.
      slots_(context, stream, paths_.open_max() == 1 ? 1 : 2),
      burst_(burst_of(context, paths_)),
      batches_(context, stream, {paths_, slots_, polled_, pool, outbox_}, burst_),
      counts_(context, stream, queue),
      shares_(context, stream, queue.shares()),
      keepers_(context, queue),
      told_position_(context.my_entry().resume_position.load(std::memory_order_relaxed)),
      scale_(context.status.header().tsc_hz),
      rate_(context.status.stream_peaks(stream).rate),
      slots_used_(context.status.stream_peaks(stream).slots_used) {
  polled_.begin_at(told_position_);
  queue_.resume(told_position_);
  shares_.tell_joined();
}

std::uint32_t IngressActor::do_work() noexcept {
  outbox_.wake_consumers();
  batches_.begin_round();
  const bool drained = context_.status.header().drained.load(std::memory_order_acquire) != 0;
  resting_ = drained && !queue_.reads_when_drained();
  if (drained) [[unlikely]]
    queue_.rest();
  std::uint32_t done = place();
  if (!leaves_all() && polled_.waiting() == 0) {
    done += poll();
    done += place();
  }
  done += batches_.leave_due(leaves_all(), polled_.all().size() == burst_);
  // Packets polled of shares that go to another queue are sealed as soon as they lie in batches.
  if (shares_.wait_for_seal() && polled_.waiting() == 0) [[unlikely]]
    batches_.seal_all(shares_);
  if (outbox_.pending() != 0) done += outbox_.flush();
  tell_progress();
  if (done == 0) slots_.collect();
  return done;
}

std::uint32_t IngressActor::poll() noexcept {
  if (slots_.count() == 0) {
    ++context_.counter(Counter::kSlotsExhausted);
    return 0;
  }
  if (!polled_.all().empty()) pool_.collect_newest();
  const std::uint32_t count = polled_.poll(queue_, pool_, burst_);
  polled_total_ += count;
  ++context_.counter(Counter::kRxPolls);
  if (count == 0) ++context_.counter(Counter::kRxEmptyPolls);
  if (context_.watched()) [[unlikely]]
    show_polled();
  return count;
}

std::uint32_t IngressActor::place() noexcept {
  const std::uint32_t before = polled_.waiting();
  if (before == 0) return 0;
  const std::uint64_t now = turn_clock::last();  // the packets were there when the turn began
  if (paths_.open_max() == 1 && paths_.take_all()) {
    place_in_one(now);
  } else {
    if (!polled_.is_sorted()) polled_.sort(pool_.area(), paths_);
    polled_.place_runs([&](std::uint32_t number, const PickedPackets& packets) {
      return batches_.place(number, packets, now);
    });
  }
  return before - polled_.waiting();
}

/// Puts all packets into one lane; without order, into that lane until its batch leaves.
void IngressActor::place_in_one(std::uint64_t now) noexcept {
  const LaneChoice& choice = paths_.choice_of(0);
  if (batches_.has_keys(0)) polled_.fetch_headers(pool_.area());
  while (polled_.waiting() != 0) {
    const std::uint32_t number = choice.of({});
    const std::uint32_t rest = polled_.waiting();
    const std::uint32_t these = choice.in_turn() ? std::min(batches_.room_in(number), rest) : rest;
    const std::uint32_t count = batches_.place(number, polled_.rest().first(these), now);
    polled_.note_placed(count);
    if (count == 0) break;
  }
}

void IngressActor::tell_progress() noexcept {
  const LaneBatches::Open open = batches_.tell();
  const std::uint64_t position = std::min(polled_.next_ordinal(), open.first_ordinal);
  const std::uint64_t in_hand = polled_.waiting() + open.packets;
  ActorEntry& entry = context_.my_entry();
  if (position != told_position_) {
    told_position_ = position;
    entry.resume_position.store(position, std::memory_order_relaxed);
    queue_.release_below(position);
  }
  entry.in_hand.store(in_hand, std::memory_order_relaxed);
  const bool done = in_hand == 0 && outbox_.pending() == 0 && (queue_.exhausted() || resting_);
  if (done) {  // the process may end now
    counts_.count();
    counts_.tell_trouble();
  }
  entry.exhausted.store(done ? 1 : 0, std::memory_order_release);
}

void IngressActor::take_stock(std::uint64_t now_tsc) noexcept {
  counts_.count();
  counts_.tell_trouble();
  shares_.look();  // no metric: others wait for it
  keepers_.look();
  if (!metrics_kept()) return;
  batches_.take_stock(now_tsc);
  const std::uint32_t free = slots_.count_with_returned();
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

/// Counts all packets that the port has given, also those that will be refused or that an earlier
/// process has sealed.
void IngressActor::show_polled() const noexcept {
  const std::uint64_t now = tsc_now();
  const std::uint32_t port = context_.plan->streams[stream_].port;
  for (const RxPacket& packet : polled_.all()) {
    const std::byte* const bytes = pool_.area().at(packet.buffer) + packet.offset;
    context_.watch->port_in(context_.me.actor, port,
                            {.bytes = {bytes, packet.length},
                             .wire_length = packet.wire_length,
                             .time_tsc = packet.time_tsc != 0 ? packet.time_tsc : now});
  }
}

bool IngressActor::has_work() noexcept {
  if (polled_.waiting() != 0) return slots_.count() != 0;
  if (batches_.has_due(leaves_all())) return true;
  if (slots_.count() != 0 && !stopping_ && queue_.has_waiting()) return true;
  return slots_.some_returned();
}

bool IngressActor::finished() noexcept {
  if (!stopping_ || polled_.waiting() != 0 || outbox_.pending() != 0) return false;
  if (!batches_.all_left()) return false;
  counts_.count();
  return true;
}

/// The queue's descriptor, if only a packet can end the wait there; -1 otherwise. Free slots,
/// batches that have left and workers that come back end the wait by a wake-up.
int IngressActor::wait_descriptor() noexcept {
  const bool waits_for_others = slots_.count() == 0 || stopping_ || outbox_.pending() != 0 ||
                                shares_.wait_for_others() || batches_.some_wait();
  return waits_for_others || resting_ || queue_.exhausted() ? -1 : queue_.wait_descriptor();
}

std::uint64_t IngressActor::idle_ns() const noexcept {
  if (queue_.exhausted() || stopping_ || resting_ || slots_.count() == 0) return 10'000'000;
  const std::uint64_t ready = queue_.next_ready_ns();
  return ready != 0 ? ready : kPollIntervalNs;
}

}  // namespace millrace
