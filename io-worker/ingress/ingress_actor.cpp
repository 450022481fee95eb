// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/ingress/ingress_actor.hpp"

#include <algorithm>

#include "shared/base/clock.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kPollIntervalNs = 200'000;

/// Lanes of a stream that can have an open slot at the same time.
std::uint32_t open_lanes_max(const Plan& plan, std::uint32_t stream) {
  std::uint32_t count = 0;
  for (const PlanStreamPath& at : plan.streams[stream].paths) {
    const PlanPath& path = plan.paths[at.path];
    count += path.ordered ? path.lane_count : 1;
  }
  return count;
}

}  // namespace

IngressActor::IngressActor(const ActorContext& context, std::uint32_t stream, BufferPool& pool,
                           RxQueue& queue)
    : context_(context),
      stream_(stream),
      pool_(pool),
      queue_(queue),
      outbox_(context),
      open_max_(open_lanes_max(*context.plan, stream)),
      // One lane fills a slot before it opens the next, of several one may open a slot right behind
      // another.
      slots_(context, stream, open_max_ == 1 ? 1 : 2),
      counts_(context, stream, queue),
      scale_(context.status.header().tsc_hz),
      steps_(context),
      rate_(context.status.stream_peaks(stream).rate),
      slots_used_(context.status.stream_peaks(stream).slots_used),
      shares_(context, stream, queue.shares()),
      keepers_(context, queue) {
  find_lanes();
  burst_ = std::min(kBurstMax, std::max(context_.segment.capacity(), kBurstPerLane * open_max_));
  has_classes_ = !context_.plan->classes.empty();
  rounds_max_ = std::max(kRoundsMin, (context_.segment.capacity() * open_max_ - 1) / burst_ + 1);
  find_sequences();
  shares_.tell_joined();
  for (std::uint32_t number = 0; number < lane_count_; ++number) touched_.add(number);
}

std::uint32_t IngressActor::do_work() noexcept {
  outbox_.wake_consumers();
  // Each look costs lines of other cores, so many come back at once.
  if (slots_.count() <= open_max_ || refusing_) slots_.collect();
  refusing_ = false;
  const bool drained = context_.status.header().drained.load(std::memory_order_acquire) != 0;
  resting_ = drained && !queue_.reads_when_drained();
  if (drained) [[unlikely]]
    queue_.rest();
  std::uint32_t done = place();
  if (!resting_ && placed_ == polled_count_ && !stopping_) {
    done += poll();
    done += place();
  }
  done += leave_due();
  if (shares_.wait_for_seal()) [[unlikely]]
    seal_all();
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
  if (polled_count_ != 0) pool_.collect_newest();
  placed_ = 0;
  sorted_ = false;
  polled_count_ = queue_.poll(pool_, {polled_.data(), burst_});
  polled_total_ += polled_count_;
  ++context_.counter(Counter::kRxPolls);
  if (polled_count_ == 0) ++context_.counter(Counter::kRxEmptyPolls);
  if (context_.watched()) [[unlikely]]
    show_polled();
  return polled_count_;
}

bool IngressActor::open(std::uint32_t number, const RxPacket& first, std::uint64_t now) noexcept {
  if (slots_.count() == 0) return false;
  Lane& lane = lanes_[number];
  lane.slot = slots_.take(lane.feed);
  lane.count = lane.dropped = 0;
  lane.rounds = 0;
  lane.open_bytes = 0;
  lane.batch = &slots_.view(lane.slot);
  open_.add(number);
  SlotHeader& header = *lane.batch->header;
  hook(HookPoint::kOpenHeader);
  header.generation = (header.generation + 1) & kGenerationMask;
  header.gpu_holder.store(0, std::memory_order_relaxed);
  header.stream = static_cast<std::uint16_t>(stream_);
  header.lane = lane.number;
  header.flags = 0;
  header.side_count = header.side_bytes = 0;
  header.time_first_tsc = first.time_tsc != 0 ? first.time_tsc : now;
  // What is the same for every packet is written here, a line at a time.
  std::ranges::fill(lane.batch->verdict, static_cast<std::uint8_t>(Verdict::kPass));
  std::ranges::fill(lane.batch->output, kOutputDefault);
  if (has_classes_) std::ranges::fill(lane.batch->classes, 0);
  slots_.fetch();
  hook(HookPoint::kOpenState);
  context_.set_state(lane.slot, SlotKind::kFilling, 0);
  return true;
}

void IngressActor::seal(std::uint32_t number) noexcept {
  Lane& lane = lanes_[number];
  SlotHeader& header = *lane.batch->header;
  hook(HookPoint::kSealHeader);
  lane.received += lane.count;
  lane.received_bytes += lane.open_bytes;
  header.count = static_cast<std::uint16_t>(lane.count);
  header.sequence = ++lane.sequence;
  header.received_total = lane.received;
  header.received_bytes_total = lane.received_bytes;
  header.position = lane.last_ordinal + 1;
  steps_.note_seal(header, lane.path);
  hook(HookPoint::kSealState);
  context_.set_state(lane.slot, SlotKind::kHeld, lane.first_stage);
  const std::uint32_t slot = lane.slot;
  if (context_.watched()) [[unlikely]] {
    context_.watch->sealed(context_.me.actor, context_.plan->streams[stream_].port, slot,
                           context_.segment.batch(slot));
  }
  ++context_.counter(Counter::kBatches);
  context_.counter(Counter::kPackets) += lane.count;
  context_.counter(Counter::kPacketsOut) += lane.count - lane.dropped;
  context_.counter(Counter::kBytes) += lane.open_bytes;
  lane.slot = kNoSlot;
  lane.count = 0;
  if (LaneChoice& lanes = feeds_[lane.feed].lanes; lanes.in_turn()) lanes.next_turn();
  open_.remove(number);
  touched_.add(number);
  outbox_.send(slot, lane.first_stage);
}

void IngressActor::tell_progress() noexcept {
  touched_.each([&](std::uint32_t number) {
    const Lane& lane = lanes_[number];
    IngressLane& told = context_.status.ingress_lane(stream_, lane.number);
    told.sealed_sequence.store(lane.sequence, std::memory_order_relaxed);
    told.received.store(lane.received + lane.count, std::memory_order_relaxed);
    return true;
  });
  touched_.clear();
  std::uint64_t position = next_ordinal_;
  std::uint64_t in_hand = polled_count_ - placed_;
  open_.each([&](std::uint32_t number) {
    position = std::min(position, lanes_[number].first_ordinal);
    in_hand += lanes_[number].count;
    return true;
  });
  ActorEntry& entry = context_.my_entry();
  if (position != told_position_) {
    told_position_ = position;
    entry.resume_position.store(position, std::memory_order_relaxed);
    queue_.release_below(position);
  }
  entry.in_hand.store(in_hand, std::memory_order_relaxed);
  const bool done = in_hand == 0 && outbox_.pending() == 0 && (queue_.exhausted() || resting_);
  if (done) {  // it may end now
    counts_.count();
    counts_.tell_trouble();
  }
  entry.exhausted.store(done ? 1 : 0, std::memory_order_release);
}

/// What was polled of shares that go leaves as soon as it lies in batches.
void IngressActor::seal_all() noexcept {
  if (placed_ != polled_count_) return;
  for (std::uint32_t number = 0; number < lane_count_; ++number) {
    if (lanes_[number].slot != kNoSlot) seal(number);
    shares_.note_sealed(lanes_[number].number, lanes_[number].sequence);
  }
  shares_.end_seal();
}

void IngressActor::take_stock(std::uint64_t now_tsc) noexcept {
  counts_.count();
  counts_.tell_trouble();
  shares_.look();  // no metric: others wait for it
  keepers_.look();
  if (!metrics_kept()) return;
  steps_.take_stock(now_tsc);
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

bool IngressActor::has_work() noexcept {
  if (placed_ != polled_count_) return slots_.count() != 0;
  if (!open_.each([&](std::uint32_t number) { return waits_for_lane(number); })) return true;
  if (slots_.count() != 0 && !stopping_ && queue_.has_waiting()) return true;
  return slots_.some_returned();
}

bool IngressActor::finished() noexcept {
  if (!stopping_ || placed_ != polled_count_ || outbox_.pending() != 0) return false;
  for (std::uint32_t number = 0; number < lane_count_; ++number) {
    if (lanes_[number].slot != kNoSlot || ahead_of(number) != 0) return false;
  }
  counts_.count();
  return true;
}

/// The queue's, when a packet from there is all that is waited for: slots, batches that have left
/// and workers that come back are told by a wake-up.
int IngressActor::wait_descriptor() noexcept {
  const bool waits_for_others = slots_.count() == 0 || stopping_ || outbox_.pending() != 0 ||
                                shares_.wait_for_others() || lanes_waiting_ != 0;
  return waits_for_others || resting_ || queue_.exhausted() ? -1 : queue_.wait_descriptor();
}

std::uint64_t IngressActor::idle_ns() const noexcept {
  if (queue_.exhausted() || stopping_ || resting_ || slots_.count() == 0) return 10'000'000;
  const std::uint64_t ready = queue_.next_ready_ns();
  return ready != 0 ? ready : kPollIntervalNs;
}

}  // namespace millrace
