// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ingress/polled_packets.hpp"

#include "shared/base/check.hpp"

namespace millrace {
namespace {

/// A core has 10 to 16 lines under way at a time, and looking up a lane takes about 5 ns.
constexpr std::uint32_t kHeadersAhead = 16;

void fetch_header(BufferArea area, const RxPacket& packet) noexcept {
  __builtin_prefetch(area.at(packet.buffer) + packet.offset);
}

}  // namespace

std::uint32_t PolledPackets::poll(RxQueue& queue, BufferPool& pool, std::uint32_t burst) noexcept {
  MILLRACE_CHECK(placed_ == count_);
  placed_ = 0;
  sorted_ = false;
  count_ = queue.poll(pool, {packets_.data(), burst});
  MILLRACE_CHECK(count_ <= burst);
  return count_;
}

void PolledPackets::note_placed(std::uint32_t count) noexcept {
  placed_ += count;
  MILLRACE_CHECK(placed_ <= count_);
  next_ordinal_ = placed_ == count_ ? packets_[count_ - 1].ordinal + 1 : packets_[placed_].ordinal;
}

void PolledPackets::fetch_headers(BufferArea area) const noexcept {
  for (const RxPacket& packet : rest()) fetch_header(area, packet);
}

void PolledPackets::sort(BufferArea area, const PathLanes& paths) noexcept {
  sorted_ = true;
  some_without_path_ = false;
  if (paths.take_all()) {
    const LaneChoice& lanes = paths.choice_of(0);
    sort_by(area, paths.lane_count(),
            [&](std::uint32_t, std::span<const std::byte> bytes) { return lanes.of(bytes); });
    return;
  }
  sort_by(area, paths.lane_count(), [&](std::uint32_t number, std::span<const std::byte> bytes) {
    const PathLanes::Chosen chosen = paths.choose(packets_[number], bytes);
    without_path_[number] = chosen.without_path;
    some_without_path_ |= chosen.without_path;
    return chosen.lane;
  });
}

/// A counting sort: how many packets each lane has says where in numbers_ its own begin.
template <typename LaneOf>
void PolledPackets::sort_by(BufferArea area, std::uint32_t lane_count, LaneOf&& lane_of) noexcept {
  // Local, and not of bytes: the compiler would read members again after each store.
  std::array<std::uint16_t, kBurstMax> lane;
  std::array<std::uint16_t, kLaneCountMax> packets{};
  const RxPacket* const polled = packets_.data();
  const std::uint32_t count = count_;
  for (std::uint32_t i = 0; i < std::min(count, kHeadersAhead); ++i) fetch_header(area, polled[i]);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i + kHeadersAhead < count) fetch_header(area, polled[i + kHeadersAhead]);
    const std::uint32_t at = lane_of(i, bytes_in(area, polled[i]));
    lane[i] = static_cast<std::uint16_t>(at);
    ++packets[at];
  }
  std::uint16_t at = 0;
  for (std::uint32_t number = 0; number < lane_count; ++number) {
    if (packets[number] != 0) to_place_.add(number);
    runs_[number] = {at, at};
    at = static_cast<std::uint16_t>(at + packets[number]);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    numbers_[runs_[lane[i]].end++] = static_cast<std::uint8_t>(i);
  }
}

std::uint64_t PolledPackets::lowest_waiting() const noexcept {
  std::uint64_t lowest = UINT64_MAX;
  to_place_.each([&](std::uint32_t lane) {
    lowest = std::min(lowest, packets_[numbers_[runs_[lane].begin]].ordinal);
    return true;
  });
  return lowest;
}

}  // namespace millrace
