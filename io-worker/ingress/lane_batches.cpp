// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ingress/lane_batches.hpp"

#include <algorithm>
#include <array>

#include "io-worker/ingress/lane_backlog.hpp"
#include "io-worker/ingress/odd_packets.hpp"
#include "shared/base/flow_key.hpp"
#include "shared/links/sealed.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kRoundsMin = 4;

}  // namespace

LaneBatches::LaneBatches(const ActorContext& context, std::uint32_t stream, const Parts& parts,
                         std::uint32_t burst)
    : context_(context),
      stream_(stream),
      paths_(parts.paths),
      slots_(parts.slots),
      polled_(parts.polled),
      pool_(parts.pool),
      outbox_(parts.outbox),
      steps_(context),
      rounds_max_(std::max(kRoundsMin,
                           (context.segment.capacity() * parts.paths.open_max() - 1) / burst + 1)),
      has_classes_(!context.plan->classes.empty()) {
  make_lanes();
  find_sequences();
}

void LaneBatches::make_lanes() {
  const Plan& plan = *context_.plan;
  std::uint16_t feed = 0;
  for (const PlanStreamPath& at : plan.streams[stream_].paths) {
    const PlanPath& path = plan.paths[at.path];
    const std::uint32_t backlog = lane_backlog(plan, at.path);
    for (std::uint32_t i = 0; i < path.lane_count; ++i) {
      touched_.add(static_cast<std::uint32_t>(lanes_.size()));
      Lane& lane = lanes_.emplace_back();
      lane.number = static_cast<std::uint16_t>(path.lane_first + i);
      lane.first_stage = path.first_stage;
      lane.has_keys = path.has_keys;
      lane.backlog = backlog;
      lane.feed = feed;
      lane.path = static_cast<std::uint32_t>(at.path);
    }
    ++feed;
  }
  MILLRACE_CHECK(lanes_.size() == paths_.lane_count());
}

void LaneBatches::find_sequences() {
  const std::vector<SealedLane> sealed = find_sealed(context_, stream_);
  for (Lane& lane : lanes_) {
    const SealedLane& last = sealed[lane.number];
    lane.sequence = last.sequence;
    lane.received = last.received;
    lane.received_bytes = last.received_bytes;
    lane.wanted = last.position;
    outbox_.start_lane(lane.number, lane.sequence);
    // A packet is refused only when all packets of the lane before it are sealed.
    const IngressLane& told = context_.status.ingress_lane(stream_, lane.number);
    lane.wanted =
        std::max(lane.wanted, told.refused.complete().position.load(std::memory_order_relaxed));
    resumed_at_ = std::max(resumed_at_, lane.wanted);
  }
  share_positions();
}

/// Lanes in turn share one sequence of packets: every sealed packet comes before every packet that
/// is not sealed, and the lane in which an earlier process put it is not known any more.
void LaneBatches::share_positions() noexcept {
  for (std::uint32_t feed = 0; feed < paths_.feed_count(); ++feed) {
    if (!paths_.choice_of(feed).in_turn()) continue;
    std::uint64_t wanted = 0;
    for (const Lane& lane : lanes_)
      wanted = lane.feed == feed ? std::max(wanted, lane.wanted) : wanted;
    for (Lane& lane : lanes_) {
      if (lane.feed == feed) lane.wanted = wanted;
    }
  }
}

void LaneBatches::begin_round() noexcept {
  if (slots_.count() <= paths_.open_max() || refusing_) slots_.collect();
  refusing_ = false;
}

bool LaneBatches::open(std::uint32_t number, const RxPacket& first, std::uint64_t now) noexcept {
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
  // Columns with the same value for every packet are written here, a cache line at a time.
  std::ranges::fill(lane.batch->verdict, static_cast<std::uint8_t>(Verdict::kPass));
  std::ranges::fill(lane.batch->output, kOutputDefault);
  if (has_classes_) std::ranges::fill(lane.batch->classes, 0);
  slots_.fetch();
  hook(HookPoint::kOpenState);
  context_.set_state(lane.slot, SlotKind::kFilling, 0);
  return true;
}

void LaneBatches::seal(std::uint32_t number) noexcept {
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
  if (LaneChoice& choice = paths_.choice_of(lane.feed); choice.in_turn()) choice.next_turn();
  open_.remove(number);
  touched_.add(number);
  outbox_.send(slot, lane.first_stage);
}

/// The path has no slots for the lane's next batch. The lane has no open slot, so all that it
/// received before is sealed.
bool LaneBatches::refuses(const Lane& lane) noexcept {
  if (!slots_.is_used_up(lane.feed)) return false;
  if (!refusing_) {  // once a round: slots may be back, and looking costs lines of other cores
    refusing_ = true;
    slots_.collect();
  }
  return slots_.is_used_up(lane.feed);
}

template <typename Packets>
std::uint32_t LaneBatches::place_in(std::uint32_t number, const Packets& packets,
                                    std::uint64_t now) noexcept {
  Lane& lane = lanes_[number];
  touched_.add(number);
  std::size_t at = 0;
  while (at < packets.size()) {
    const RxPacket& first = packets[at];
    if (is_old(lane, first)) [[unlikely]] {
      pool_.give_back({&first.buffer, 1});
      ++at;
      continue;
    }
    if (lane.slot == kNoSlot) {
      if (refuses(lane)) {
        refuse(lane, packets.subspan(at));
        return static_cast<std::uint32_t>(packets.size());
      }
      if (!open(number, first, now)) break;
    }
    const std::size_t count =
        std::min<std::size_t>(packets.size() - at, context_.segment.capacity() - lane.count);
    fill(lane, packets.subspan(at, count));  // packets behind this one are not old either
    at += count;
    if (lane.count == context_.segment.capacity()) seal(number);
  }
  return static_cast<std::uint32_t>(at);
}

template <typename Packets>
void LaneBatches::fill(Lane& lane, const Packets& packets) noexcept {
  // Local pointers: the compiler would read members again after each store to a column.
  std::uint32_t* const marks = &context_.segment.mark(0);
  const Batch& batch = *lane.batch;
  std::uint32_t* const buffer = batch.buffer.data() + lane.count;
  std::uint16_t* const length = batch.length.data() + lane.count;
  std::uint16_t* const offset = batch.offset.data() + lane.count;
  const std::uint32_t mark = Mark{MarkKind::kSlot, lane.slot}.word();
  const std::size_t count = packets.size();
  std::uint64_t bytes = 0;
  std::uint64_t held = 0;  // of these bytes
  bool oversize = false;
  for (std::size_t i = 0; i < count; ++i) {
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
  if (lane.has_keys) {
    FlowKey* const key = batch.key.data() + lane.count;
    const BufferArea area = pool_.area();
    for (std::size_t i = 0; i < count; ++i) key[i] = flow_key_of(bytes_in(area, packets[i]));
  }
  if (bytes != held || oversize || polled_.some_without_path() || batch.has_cut()) [[unlikely]]
    fill_odd(lane, packets, bytes != held);
  if (lane.count == 0) lane.first_ordinal = packets[0].ordinal;
  lane.last_ordinal = packets.back().ordinal;
  lane.open_bytes += bytes;
  lane.count += static_cast<std::uint32_t>(count);
}

/// Some of these packets need more than their columns, or some before them did.
template <typename Packets>
void LaneBatches::fill_odd(Lane& lane, const Packets& packets, bool cut) noexcept {
  const Batch& batch = *lane.batch;
  std::array<RxPacket, kBatchCapacityMax> copies;
  for (std::size_t i = 0; i < packets.size(); ++i) copies[i] = packets[i];
  const std::span<const RxPacket> these(copies.data(), packets.size());
  if (cut || batch.has_cut()) fill_wire_lengths(batch, lane.count, these);
  lane.dropped += drop_oversize(batch, lane.count, these);
  if (!polled_.some_without_path()) return;
  for (std::uint32_t i = 0; i < these.size(); ++i) {
    if (!polled_.is_without_path(packets[i]) || these[i].oversize) continue;
    batch.drop(lane.count + i, Reason::kNoPath);
    ++lane.dropped;
  }
}

/// Takes the buffers first: a packet that is counted is never read again.
template <typename Packets>
void LaneBatches::refuse(const Lane& lane, const Packets& packets) noexcept {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    bytes += packets[i].wire_length;
    pool_.give_back({&packets[i].buffer, 1});
  }
  context_.status.ingress_lane(stream_, lane.number)
      .refused.add(packets.size(), bytes, packets.back().ordinal + 1);
}

std::uint32_t LaneBatches::place(std::uint32_t number, std::span<const RxPacket> packets,
                                 std::uint64_t now) noexcept {
  return place_in(number, packets, now);
}

std::uint32_t LaneBatches::place(std::uint32_t number, const PickedPackets& packets,
                                 std::uint64_t now) noexcept {
  return place_in(number, packets, now);
}

/// Batches of the lane that are sealed and have not left the egress. For lanes in turn, of all of
/// them; the count stops at the lane's backlog.
std::uint64_t LaneBatches::ahead_of(std::uint32_t number) const noexcept {
  const Lane& lane = lanes_[number];
  if (!paths_.choice_of(lane.feed).in_turn()) return in_flight_of(number);
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < lanes_.size() && sum < lane.backlog; ++i) {
    if (lanes_[i].feed == lane.feed) sum += in_flight_of(i);
  }
  return sum;
}

std::uint64_t LaneBatches::in_flight_of(std::uint32_t number) const noexcept {
  const LaneLedger& ledger = context_.status.ledger(stream_, lanes_[number].number);
  return lanes_[number].sequence - ledger.released.load(std::memory_order_acquire);
}

bool LaneBatches::is_due(std::uint32_t number, bool short_of_slots,
                         bool more_waits) const noexcept {
  const Lane& lane = lanes_[number];
  const bool half_full = lane.count >= context_.segment.capacity() / 2;
  if (lane.rounds >= rounds_max_ || (short_of_slots && half_full)) {
    return ahead_of(number) < lane.backlog;
  }
  return !more_waits && ahead_of(number) == 0;
}

std::uint32_t LaneBatches::leave_due(bool all, bool more_waits) noexcept {
  std::uint32_t left = 0;
  const bool short_of_slots = slots_.count() < paths_.open_max();
  waiting_ = 0;
  // The egress has just written these cache lines: they are fetched together, not one by one.
  if (lanes_.size() > 1 && !more_waits) {
    open_.each([&](std::uint32_t number) {
      __builtin_prefetch(&context_.status.ledger(stream_, lanes_[number].number));
      return true;
    });
  }
  open_.each([&](std::uint32_t number) {
    Lane& lane = lanes_[number];
    ++lane.rounds;
    if (all || is_due(number, short_of_slots, more_waits)) {
      seal(number);
      ++left;
    } else if (lane.rounds >= rounds_max_) {
      ++waiting_;
    }
    return true;
  });
  return left;
}

bool LaneBatches::waits_for_lane(std::uint32_t number) const noexcept {
  const Lane& lane = lanes_[number];
  return lane.rounds >= rounds_max_ && ahead_of(number) >= lane.backlog;
}

bool LaneBatches::has_due(bool all) const noexcept {
  return !open_.each([&](std::uint32_t number) { return !all && waits_for_lane(number); });
}

void LaneBatches::seal_all(IngressShares& shares) noexcept {
  for (std::uint32_t number = 0; number < lanes_.size(); ++number) {
    if (lanes_[number].slot != kNoSlot) seal(number);
    shares.note_sealed(lanes_[number].number, lanes_[number].sequence);
  }
  shares.end_seal();
}

bool LaneBatches::all_left() const noexcept {
  for (std::uint32_t number = 0; number < lanes_.size(); ++number) {
    if (lanes_[number].slot != kNoSlot || ahead_of(number) != 0) return false;
  }
  return true;
}

LaneBatches::Open LaneBatches::tell() noexcept {
  touched_.each([&](std::uint32_t number) {
    const Lane& lane = lanes_[number];
    IngressLane& told = context_.status.ingress_lane(stream_, lane.number);
    told.sealed_sequence.store(lane.sequence, std::memory_order_relaxed);
    told.received.store(lane.received + lane.count, std::memory_order_relaxed);
    return true;
  });
  touched_.clear();
  Open open{UINT64_MAX, 0};
  open_.each([&](std::uint32_t number) {
    open.first_ordinal = std::min(open.first_ordinal, lanes_[number].first_ordinal);
    open.packets += lanes_[number].count;
    return true;
  });
  return open;
}

}  // namespace millrace
