// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/ingress/ingress_actor.hpp"

#include <algorithm>

#include "io-worker/ingress/odd_packets.hpp"
#include "shared/base/flow_hash.hpp"
#include "shared/base/flow_key.hpp"
#include "shared/base/packet_filter.hpp"
#include "shared/base/prefetch.hpp"
#include "shared/links/completion.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kPollIntervalNs = 200'000;

}  // namespace

IngressActor::IngressActor(const ActorContext& context, std::uint32_t stream, BufferPool& pool,
                           RxQueue& queue)
    : context_(context),
      stream_(stream),
      pool_(pool),
      queue_(queue),
      outbox_(context),
      scale_(context.status.header().tsc_hz),
      rate_(context.status.stream_peaks(stream).rate),
      slots_used_(context.status.stream_peaks(stream).slots_used) {
  const PlanStream& plan = context_.plan->streams[stream_];
  find_lanes();
  burst_ = std::min(kBurstMax, std::max(context_.segment.capacity(), kBurstPerLane * open_max_));
  has_classes_ = !context_.plan->classes.empty();
  slot_bytes_written_ = written_bytes();
  free_slots_.resize(plan.slot_count);
  find_free_slots();
  find_sequences();
  find_shares();
}

void IngressActor::collect_slots() noexcept {
  std::array<std::uint64_t, 32> words;
  const auto stamp = [&](std::uint64_t word) {
    context_.segment.slot(Descriptor::from_word(word).slot)
        .owner.store(context_.me.word(), std::memory_order_release);
  };
  const std::uint32_t before = free_slot_count_;
  for (auto& ring : returned_slots_) {
    std::uint32_t count = 0;
    while ((count = ring.take(words, stamp)) != 0) {
      for (std::uint32_t i = 0; i < count; ++i) {
        MILLRACE_CHECK(free_slot_count_ < free_slots_.size());
        free_slots_[free_slot_count_++] = Descriptor::from_word(words[i]).slot;
        if (limited_) note_free(Descriptor::from_word(words[i]).slot);
      }
    }
  }
  if (free_slot_count_ != before) prefetch_next_slot();
}

std::uint32_t IngressActor::do_work() noexcept {
  outbox_.wake_consumers();
  // Each look costs lines of other cores, so many come back at once.
  if (free_slot_count_ <= open_max_ || refusing_) collect_slots();
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
  if (leaving_ != 0) [[unlikely]]
    drain_leaving();
  if (outbox_.pending() != 0) done += outbox_.flush();
  tell_progress();
  if (done == 0) collect_slots();
  return done;
}

std::uint32_t IngressActor::poll() noexcept {
  if (free_slot_count_ == 0) {
    ++context_.counter(Counter::kSlotsExhausted);
    return 0;
  }
  placed_ = 0;
  polled_count_ = queue_.poll(pool_, {polled_.data(), burst_});
  polled_total_ += polled_count_;
  ++context_.counter(Counter::kRxPolls);
  if (polled_count_ == 0) ++context_.counter(Counter::kRxEmptyPolls);
  if (context_.watched()) [[unlikely]]
    show_polled();
  count_growth(Counter::kRxMissed, queue_.missed(), missed_);
  count_growth(Counter::kRxErrors, queue_.errors(), errors_);
  return polled_count_;
}

void IngressActor::count_growth(Counter id, std::uint64_t now, std::uint64_t& seen) noexcept {
  if (now == seen) return;  // the queue counts from 0 in each life, the counter goes on
  context_.counter(id) += now - seen;
  seen = now;
}

std::uint32_t IngressActor::place() noexcept {
  const std::uint32_t before = placed_;
  if (before == polled_count_) return 0;
  const std::uint64_t now = turn_clock::last();  // they were there when the turn began
  const bool one_lane = open_max_ == 1 && takes_all_;
  if (!one_lane || lanes_[0].has_keys) prefetch_headers();
  if (one_lane) {
    while (placed_ < polled_count_ && place_many(lanes_[feeds_.front().lanes.of({})], now)) {
    }
  } else {
    while (placed_ < polled_count_ && place_one(now)) ++placed_;
  }
  return placed_ - before;
}

void IngressActor::prefetch_headers() const noexcept {
  for (std::uint32_t i = placed_; i < polled_count_; ++i) {
    __builtin_prefetch(pool_.area().at(polled_[i].buffer) + polled_[i].offset);
  }
}

std::span<const std::byte> IngressActor::bytes_of(const RxPacket& packet) const noexcept {
  return {pool_.area().at(packet.buffer) + packet.offset, packet.length};
}

bool IngressActor::is_old(const Lane& lane, const RxPacket& packet) const noexcept {
  return packet.ordinal < resumed_at_ && packet.ordinal < lane.wanted;
}

void IngressActor::skip(const RxPacket& packet) noexcept {
  pool_.give_back({&packet.buffer, 1});
  next_ordinal_ = packet.ordinal + 1;
}

bool IngressActor::place_many(Lane& lane, std::uint64_t now) noexcept {
  const RxPacket& first = polled_[placed_];
  if (is_old(lane, first)) [[unlikely]] {
    skip(first);
    ++placed_;
    return true;
  }
  if (lane.slot == kNoSlot) {
    if (limited_ && refuses(lane)) {
      refuse(lane, {&first, polled_count_ - placed_});
      placed_ = polled_count_;
      return true;
    }
    if (!open(lane, first, now)) return false;
  }
  const std::uint32_t count =
      std::min(polled_count_ - placed_, context_.segment.capacity() - lane.count);
  fill(lane, {&first, count});  // ordinals ascend: what comes behind is not old either
  placed_ += count;
  if (lane.count == context_.segment.capacity()) {
    seal(static_cast<std::uint32_t>(&lane - lanes_.data()));
  }
  return true;
}

bool IngressActor::place_one(std::uint64_t now) noexcept {
  const RxPacket& packet = polled_[placed_];
  const std::span<const std::byte> bytes = bytes_of(packet);
  const Place at = takes_all_ ? Place{feeds_.front().lanes.of(bytes)} : choose(packet, bytes);
  Lane& lane = lanes_[at.lane];
  if (is_old(lane, packet)) [[unlikely]] {
    skip(packet);
    return true;
  }
  if (lane.slot == kNoSlot) {
    if (limited_ && refuses(lane)) {
      refuse(lane, {&packet, 1});
      return true;
    }
    if (!open(lane, packet, now)) return false;
  }
  fill(lane, {&packet, 1});
  if (at.no_path && !packet.oversize) [[unlikely]] {
    lane.batch.drop(lane.count - 1, Reason::kNoPath);
    ++lane.dropped;
  }
  if (lane.count == context_.segment.capacity()) seal(at.lane);
  return true;
}

/// The first path whose filter takes the packet. One that none takes stays in the first path, which
/// counts it.
IngressActor::Place IngressActor::choose(const RxPacket& packet,
                                         std::span<const std::byte> bytes) const noexcept {
  for (const Feed& feed : feeds_) {
    if (!filter_takes(feed.filter, bytes, packet.wire_length)) continue;
    return {feed.lane_first + feed.lanes.of(bytes)};
  }
  return {feeds_.front().lanes.of(bytes), true};
}

inline void IngressActor::fill(Lane& lane, std::span<const RxPacket> packets) noexcept {
  // Pointers of our own: members would be read again after each store to a column.
  std::uint32_t* const marks = &context_.segment.mark(0);
  const Batch& batch = lane.batch;
  std::uint32_t* const buffer = batch.buffer.data() + lane.count;
  std::uint16_t* const length = batch.length.data() + lane.count;
  std::uint16_t* const offset = batch.offset.data() + lane.count;
  const std::uint32_t mark = Mark{MarkKind::kSlot, lane.slot}.word();
  std::uint64_t bytes = 0;
  std::uint64_t held = 0;  // of these bytes
  bool oversize = false;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const RxPacket& packet = packets[i];
    hook(HookPoint::kFillMark);
    marks[packet.buffer] = mark;
    hook(HookPoint::kFillColumn);
    buffer[i] = packet.buffer;
    length[i] = packet.length;
    offset[i] = packet.offset;
    bytes += packet.wire_length;
    held += packet.length;
    oversize |= packet.oversize;
  }
  if (bytes != held || batch.has_cut()) [[unlikely]]
    fill_wire_lengths(batch, lane.count, packets);
  if (lane.has_keys) {
    FlowKey* const key = batch.key.data() + lane.count;
    for (std::size_t i = 0; i < packets.size(); ++i) key[i] = flow_key_of(bytes_of(packets[i]));
  }
  if (oversize) [[unlikely]]
    lane.dropped += drop_oversize(batch, lane.count, packets);
  if (lane.count == 0) lane.first_ordinal = packets.front().ordinal;
  lane.last_ordinal = packets.back().ordinal;
  lane.open_bytes += bytes;
  next_ordinal_ = packets.back().ordinal + 1;
  lane.count += static_cast<std::uint32_t>(packets.size());
}

bool IngressActor::open(Lane& lane, const RxPacket& first, std::uint64_t now) noexcept {
  if (free_slot_count_ == 0) return false;
  lane.slot = free_slots_[--free_slot_count_];
  if (limited_) note_used(lane.slot, lane.feed);
  lane.count = lane.dropped = 0;
  lane.rounds = 0;
  lane.open_bytes = 0;
  lane.batch = context_.segment.batch(lane.slot, context_.segment.capacity());
  SlotHeader& header = *lane.batch.header;
  hook(HookPoint::kOpenHeader);
  header.generation = (header.generation + 1) & kGenerationMask;
  header.gpu_holder.store(0, std::memory_order_relaxed);
  header.stream = static_cast<std::uint16_t>(stream_);
  header.lane = lane.number;
  header.flags = 0;
  header.side_count = header.side_bytes = 0;
  header.time_first_tsc = first.time_tsc != 0 ? first.time_tsc : now;
  // What is the same for every packet is written here, a line at a time.
  std::ranges::fill(lane.batch.verdict, static_cast<std::uint8_t>(Verdict::kPass));
  std::ranges::fill(lane.batch.output, kOutputDefault);
  if (has_classes_) std::ranges::fill(lane.batch.classes, 0);
  prefetch_next_slot();
  hook(HookPoint::kOpenState);
  context_.set_state(lane.slot, SlotKind::kFilling, 0);
  return true;
}

void IngressActor::prefetch_next_slot() const noexcept {
  if (free_slot_count_ == 0) return;
  prefetch_lines_for_write(&context_.segment.slot(free_slots_[free_slot_count_ - 1]),
                           slot_bytes_written_);
}

void IngressActor::seal(std::uint32_t number) noexcept {
  Lane& lane = lanes_[number];
  SlotHeader& header = *lane.batch.header;
  hook(HookPoint::kSealHeader);
  lane.received += lane.count;
  lane.received_bytes += lane.open_bytes;
  header.count = static_cast<std::uint16_t>(lane.count);
  header.sequence = ++lane.sequence;
  header.received_total = lane.received;
  header.received_bytes_total = lane.received_bytes;
  header.position = lane.last_ordinal + 1;
  header.time_stage_tsc = header.time_first_tsc;
  note_step(header, *lane.latency, scale_);
  header.time_sealed_tsc = header.time_stage_tsc;
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
  outbox_.send(slot, lane.first_stage);
}

void IngressActor::tell_progress() noexcept {
  std::uint64_t position = next_ordinal_;
  std::uint64_t in_hand = polled_count_ - placed_;
  for (std::uint32_t number = 0; number < lane_count_; ++number) {
    const Lane& lane = lanes_[number];
    IngressLane& told = context_.status.ingress_lane(stream_, lane.number);
    told.sealed_sequence.store(lane.sequence, std::memory_order_relaxed);
    told.received.store(lane.received + lane.count, std::memory_order_relaxed);
    if (lane.slot != kNoSlot) position = std::min(position, lane.first_ordinal);
    in_hand += lane.count;
  }
  ActorEntry& entry = context_.my_entry();
  if (position != told_position_) {
    told_position_ = position;
    entry.resume_position.store(position, std::memory_order_relaxed);
    queue_.release_below(position);
  }
  entry.in_hand.store(in_hand, std::memory_order_relaxed);
  const bool done = in_hand == 0 && outbox_.pending() == 0 && (queue_.exhausted() || resting_);
  if (done && errors_ != errors_told_) tell_trouble();  // before it may end
  entry.exhausted.store(done ? 1 : 0, std::memory_order_release);
}

bool IngressActor::has_work() noexcept {
  if (placed_ != polled_count_) return free_slot_count_ != 0;
  for (std::uint32_t number = 0; number < lane_count_; ++number) {
    if (lanes_[number].slot != kNoSlot && !waits_for_lane(number)) return true;
  }
  if (free_slot_count_ != 0 && !stopping_ && queue_.has_waiting()) return true;
  return std::ranges::any_of(returned_slots_, [](const auto& ring) { return !ring.empty(); });
}

bool IngressActor::finished() noexcept {
  if (!stopping_ || placed_ != polled_count_ || outbox_.pending() != 0) return false;
  for (std::uint32_t number = 0; number < lane_count_; ++number) {
    if (lanes_[number].slot != kNoSlot || ahead_of(number) != 0) return false;
  }
  return true;
}

/// The queue's, when a packet from there is all that is waited for: slots, batches that have left
/// and workers that come back are told by a wake-up.
int IngressActor::wait_descriptor() noexcept {
  const bool others_to_join = shares_ != nullptr && !admitted_;
  const bool waits_for_others = free_slot_count_ == 0 || stopping_ || outbox_.pending() != 0 ||
                                leaving_ != 0 || others_to_join || lanes_waiting_ != 0;
  return waits_for_others || resting_ || queue_.exhausted() ? -1 : queue_.wait_descriptor();
}

std::uint64_t IngressActor::idle_ns() const noexcept {
  if (queue_.exhausted() || stopping_ || resting_ || free_slot_count_ == 0) return 10'000'000;
  const std::uint64_t ready = queue_.next_ready_ns();
  return ready != 0 ? ready : kPollIntervalNs;
}

}  // namespace millrace
