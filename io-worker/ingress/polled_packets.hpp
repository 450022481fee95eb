// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "io-worker/ingress/buffer_pool.hpp"
#include "io-worker/ingress/lane_set.hpp"
#include "io-worker/ingress/path_lanes.hpp"
#include "io-worker/ports/port.hpp"

/// Polled packets that wait for their batch. With several lanes there are two passes: sort() looks
/// up every packet's lane, place_runs() hands out the packets of each lane together. So a header is
/// fetched long before it is read, the data of a lane is read once for all its packets, and a
/// slot's columns are written side by side. Packets of one lane stay in their order; between lanes
/// there is none.

namespace millrace {

inline std::span<const std::byte> bytes_in(BufferArea area, const RxPacket& packet) noexcept {
  return {area.at(packet.buffer) + packet.offset, packet.length};
}

/// Some of the polled packets, in the order of their numbers: one lane's.
struct PickedPackets {
  const RxPacket* polled;
  std::span<const std::uint8_t> numbers;

  const RxPacket& operator[](std::size_t i) const noexcept { return polled[numbers[i]]; }
  const RxPacket& back() const noexcept { return polled[numbers.back()]; }
  std::size_t size() const noexcept { return numbers.size(); }
  PickedPackets subspan(std::size_t from) const noexcept { return {polled, numbers.subspan(from)}; }
  PickedPackets subspan(std::size_t from, std::size_t count) const noexcept {
    return {polled, numbers.subspan(from, count)};
  }
};

class PolledPackets {
 public:
  /// Called when no packet waits. `burst`: 1..kBurstMax. Returns the number of packets.
  std::uint32_t poll(RxQueue& queue, BufferPool& pool, std::uint32_t burst) noexcept;
  /// All packets of the last poll, placed ones too.
  std::span<const RxPacket> all() const noexcept { return {packets_.data(), count_}; }
  std::uint32_t waiting() const noexcept { return count_ - placed_; }
  /// With one lane: the packets that wait, in their order; note_placed() takes the first ones off.
  std::span<const RxPacket> rest() const noexcept { return all().subspan(placed_); }
  void note_placed(std::uint32_t count) noexcept;
  void fetch_headers(BufferArea area) const noexcept;

  /// True between sort() and the next poll.
  bool is_sorted() const noexcept { return sorted_; }
  /// Called after a poll, before the first place_runs().
  void sort(BufferArea area, const PathLanes& paths) noexcept;
  /// Calls place(lane, packets), which returns how many it has placed, lane after lane, until one
  /// call places fewer than all: then there are no slots.
  template <typename Place>
  void place_runs(Place&& place) noexcept {
    const bool all_placed = to_place_.each([&](std::uint32_t lane) {
      Run& run = runs_[lane];
      const std::span<const std::uint8_t> numbers(&numbers_[run.begin], run.end - run.begin);
      const std::uint32_t count = place(lane, PickedPackets{packets_.data(), numbers});
      placed_ += count;
      run.begin = static_cast<std::uint16_t>(run.begin + count);
      if (run.begin != run.end) return false;
      to_place_.remove(lane);
      return true;
    });
    next_ordinal_ = all_placed ? packets_[count_ - 1].ordinal + 1 : lowest_waiting();
  }

  /// No packet with an ordinal below this waits.
  std::uint64_t next_ordinal() const noexcept { return next_ordinal_; }
  void begin_at(std::uint64_t ordinal) noexcept { next_ordinal_ = ordinal; }
  /// Of the last sort(): some are in the first path because no path takes them.
  bool some_without_path() const noexcept { return some_without_path_; }
  /// `packet`: one of all(), by its place there.
  bool is_without_path(const RxPacket& packet) const noexcept {
    return without_path_[static_cast<std::size_t>(&packet - packets_.data())];
  }

 private:
  /// Of one lane: packets that wait for their batch, in numbers_.
  struct Run {
    std::uint16_t begin = 0, end = 0;
  };
  template <typename LaneOf>
  void sort_by(BufferArea area, std::uint32_t lane_count, LaneOf&& lane_of) noexcept;
  std::uint64_t lowest_waiting() const noexcept;

  std::array<RxPacket, kBurstMax> packets_;
  std::uint32_t placed_ = 0, count_ = 0;  ///< between the two: wait for a slot
  // Of several lanes: what was polled, by lane.
  bool sorted_ = false;                          ///< since the last poll
  std::array<std::uint8_t, kBurstMax> numbers_;  ///< in packets_, lane after lane
  std::array<Run, kLaneCountMax> runs_;          ///< by lane
  LaneSet to_place_;                             ///< with a run that is not empty
  std::array<bool, kBurstMax> without_path_{};   ///< by number in packets_
  bool some_without_path_ = false;
  std::uint64_t next_ordinal_ = 0;
};

}  // namespace millrace
