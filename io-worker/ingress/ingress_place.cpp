// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What was polled goes into batches. With several lanes there are two passes: the first looks up
// every packet's lane and sorts the packets by it, the second puts each lane's packets into its
// batch, all of them together. So a header is asked for long before it is read, what belongs to a
// lane is read once for its packets, and a slot's columns are written side by side. Packets of one
// lane stay in their order; between lanes there is none.

#include <algorithm>

#include "io-worker/ingress/ingress_actor.hpp"
#include "io-worker/ingress/odd_packets.hpp"
#include "shared/base/flow_key.hpp"
#include "shared/base/packet_filter.hpp"
#include "shared/base/turn_clock.hpp"

namespace millrace {
namespace {

/// A core has 10 to 16 lines under way at a time, and looking up a lane takes about 5 ns.
constexpr std::uint32_t kHeadersAhead = 16;

void fetch_header(BufferArea area, const RxPacket& packet) noexcept {
  __builtin_prefetch(area.at(packet.buffer) + packet.offset);
}

std::span<const std::byte> bytes_in(BufferArea area, const RxPacket& packet) noexcept {
  return {area.at(packet.buffer) + packet.offset, packet.length};
}

}  // namespace

/// Some of the polled packets, in the order of their numbers: one lane's.
struct IngressActor::Picked {
  const RxPacket* polled;
  std::span<const std::uint8_t> numbers;

  const RxPacket& operator[](std::size_t i) const noexcept { return polled[numbers[i]]; }
  const RxPacket& back() const noexcept { return polled[numbers.back()]; }
  std::size_t size() const noexcept { return numbers.size(); }
  Picked subspan(std::size_t from) const noexcept { return {polled, numbers.subspan(from)}; }
  Picked subspan(std::size_t from, std::size_t count) const noexcept {
    return {polled, numbers.subspan(from, count)};
  }
};

std::uint32_t IngressActor::place() noexcept {
  if (placed_ == polled_count_) return 0;
  const std::uint32_t before = placed_;
  const std::uint64_t now = turn_clock::last();  // they were there when the turn began
  if (open_max_ == 1 && takes_all_) {
    place_in_one(now);
    return placed_ - before;
  }
  if (!sorted_) sort_polled();
  place_sorted(now);
  return placed_ - before;
}

/// One lane has all packets; without order, until its batch leaves.
void IngressActor::place_in_one(std::uint64_t now) noexcept {
  const std::span<const RxPacket> packets(polled_.data(), polled_count_);
  const LaneChoice& lanes = feeds_.front().lanes;
  if (lanes_[0].has_keys) {
    std::ranges::for_each(packets.subspan(placed_),
                          [&](const auto& each) { fetch_header(pool_.area(), each); });
  }
  while (placed_ < polled_count_) {
    const std::uint32_t number = lanes.of({});
    const std::uint32_t rest = polled_count_ - placed_;
    const std::uint32_t room = context_.segment.capacity() - lanes_[number].count;
    const std::uint32_t these = lanes.in_turn() ? std::min(room, rest) : rest;
    const std::uint32_t count = place_in(number, packets.subspan(placed_, these), now);
    if (count == 0) break;
    placed_ += count;
  }
  next_ordinal_ = placed_ == polled_count_ ? packets.back().ordinal + 1 : packets[placed_].ordinal;
}

void IngressActor::sort_polled() noexcept {
  sorted_ = true;
  some_without_path_ = false;
  if (takes_all_) {
    const LaneChoice& lanes = feeds_.front().lanes;
    sort_polled_by([&](const RxPacket&, std::span<const std::byte> bytes, std::uint32_t) {
      return lanes.of(bytes);
    });
  } else {
    sort_polled_by([this](const RxPacket& packet, std::span<const std::byte> bytes,
                          std::uint32_t number) { return choose(packet, bytes, number); });
  }
}

/// A counting sort: how many packets each lane has says where in numbers_ its own begin.
template <typename LaneOf>
void IngressActor::sort_polled_by(LaneOf&& lane_of) noexcept {
  // Of our own, and no bytes: members would be read again after each store.
  std::array<std::uint16_t, kBurstMax> lane;
  std::array<std::uint16_t, kLaneCountMax> packets{};
  const BufferArea area = pool_.area();
  const RxPacket* const polled = polled_.data();
  const std::uint32_t count = polled_count_;
  for (std::uint32_t i = 0; i < std::min(count, kHeadersAhead); ++i) fetch_header(area, polled[i]);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i + kHeadersAhead < count) fetch_header(area, polled[i + kHeadersAhead]);
    const std::uint32_t at = lane_of(polled[i], bytes_in(area, polled[i]), i);
    lane[i] = static_cast<std::uint16_t>(at);
    ++packets[at];
  }
  std::uint16_t at = 0;
  for (std::uint32_t number = 0; number < lane_count_; ++number) {
    if (packets[number] != 0) to_place_.add(number);
    runs_[number] = {at, at};
    at = static_cast<std::uint16_t>(at + packets[number]);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    numbers_[runs_[lane[i]].end++] = static_cast<std::uint8_t>(i);
  }
}

/// The first path whose filter takes the packet. One that none takes stays in the first path, which
/// counts it. Returns the lane.
std::uint32_t IngressActor::choose(const RxPacket& packet, std::span<const std::byte> bytes,
                                   std::uint32_t number) noexcept {
  for (const Feed& feed : feeds_) {
    if (!filter_takes(feed.filter, bytes, packet.wire_length)) continue;
    without_path_[number] = false;
    return feed.lane_first + feed.lanes.of(bytes);
  }
  without_path_[number] = some_without_path_ = true;
  return feeds_.front().lanes.of(bytes);
}

void IngressActor::place_sorted(std::uint64_t now) noexcept {
  const bool all = to_place_.each([&](std::uint32_t number) {
    Run& run = runs_[number];
    const std::span<const std::uint8_t> numbers(&numbers_[run.begin], run.end - run.begin);
    const std::uint32_t count = place_in(number, Picked{polled_.data(), numbers}, now);
    placed_ += count;
    run.begin = static_cast<std::uint16_t>(run.begin + count);
    if (run.begin != run.end) return false;
    to_place_.remove(number);
    return true;
  });
  if (all) {
    next_ordinal_ = polled_[polled_count_ - 1].ordinal + 1;
    return;
  }
  std::uint64_t lowest = UINT64_MAX;
  to_place_.each([&](std::uint32_t number) {
    lowest = std::min(lowest, polled_[numbers_[runs_[number].begin]].ordinal);
    return true;
  });
  next_ordinal_ = lowest;
}

bool IngressActor::is_old(const Lane& lane, const RxPacket& packet) const noexcept {
  return packet.ordinal < resumed_at_ && packet.ordinal < lane.wanted;
}

/// The path has no slots for the lane's next batch. The lane has no open slot, so all that it
/// received before is sealed.
bool IngressActor::refuses(const Lane& lane) noexcept {
  if (!slots_.is_used_up(lane.feed)) return false;
  if (!refusing_) {  // once a round: slots may be back, and looking costs lines of other cores
    refusing_ = true;
    slots_.collect();
  }
  return slots_.is_used_up(lane.feed);
}

/// Packets of one lane, in ascending order of their ordinals. Returns how many it has dealt with:
/// fewer than all when there is no free slot for the rest.
template <typename Packets>
std::uint32_t IngressActor::place_in(std::uint32_t number, const Packets& packets,
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
    fill(lane, packets.subspan(at, count));  // what comes behind is not old either
    at += count;
    if (lane.count == context_.segment.capacity()) seal(number);
  }
  return static_cast<std::uint32_t>(at);
}

template <typename Packets>
void IngressActor::fill(Lane& lane, const Packets& packets) noexcept {
  // Pointers of our own: members would be read again after each store to a column.
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
  if (bytes != held || oversize || some_without_path_ || batch.has_cut()) [[unlikely]]
    fill_odd(lane, packets, bytes != held);
  if (lane.count == 0) lane.first_ordinal = packets[0].ordinal;
  lane.last_ordinal = packets.back().ordinal;
  lane.open_bytes += bytes;
  lane.count += static_cast<std::uint32_t>(count);
}

/// Some of these packets need more than their columns, or some before them did.
template <typename Packets>
void IngressActor::fill_odd(Lane& lane, const Packets& packets, bool cut) noexcept {
  const Batch& batch = *lane.batch;
  std::array<RxPacket, kBatchCapacityMax> copies;
  for (std::size_t i = 0; i < packets.size(); ++i) copies[i] = packets[i];
  const std::span<const RxPacket> these(copies.data(), packets.size());
  if (cut || batch.has_cut()) fill_wire_lengths(batch, lane.count, these);
  lane.dropped += drop_oversize(batch, lane.count, these);
  if (!some_without_path_) return;
  for (std::uint32_t i = 0; i < these.size(); ++i) {
    const auto number = static_cast<std::size_t>(&packets[i] - polled_.data());
    if (!without_path_[number] || these[i].oversize) continue;
    batch.drop(lane.count + i, Reason::kNoPath);
    ++lane.dropped;
  }
}

/// Buffers first: what is counted is never read again.
template <typename Packets>
void IngressActor::refuse(const Lane& lane, const Packets& packets) noexcept {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    bytes += packets[i].wire_length;
    pool_.give_back({&packets[i].buffer, 1});
  }
  context_.status.ingress_lane(stream_, lane.number)
      .refused.add(packets.size(), bytes, packets.back().ordinal + 1);
}

}  // namespace millrace
