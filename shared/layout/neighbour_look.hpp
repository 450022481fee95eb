// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shared/layout/neighbour_table.hpp"

/// What people are told of a neighbour: its state by the words of ip-neighbour(8). The table has no
/// timer, so an entry without a use stands as its last use has left it; these words go by the
/// time of looking.

namespace millrace {

enum class NeighbourLook : std::uint8_t {
  kReachable = 0,  ///< proven within NeighbourTimes::reachable_ms
  kStale,          ///< has a MAC address without such a proof; asked again when a packet goes to it
  kProbe,          ///< the same, and it has been asked again without an answer so far
  kIncomplete,     ///< no MAC address yet; it has been asked for, or will be by the first packet
  kFailed,         ///< asked for in vain
  kPermanent,      ///< by configuration (NeighbourState::kStatic); never asked for
  kCount
};
inline constexpr std::size_t kNeighbourLookCount = static_cast<std::size_t>(NeighbourLook::kCount);
inline constexpr std::array<std::string_view, kNeighbourLookCount> kNeighbourLookNames = {
    "reachable", "stale", "probe", "incomplete", "failed", "permanent"};

constexpr NeighbourLook neighbour_look(const NeighbourSnapshot& of, std::uint64_t now_ms,
                                       const NeighbourTimes& times = kNeighbourTimes) noexcept {
  const auto since = [&](std::uint64_t ms) { return now_ms > ms ? now_ms - ms : 0; };
  switch (of.state) {
    case NeighbourState::kStatic:
      return NeighbourLook::kPermanent;
    case NeighbourState::kKnown:
      if (of.confirmed_ms != 0 && since(of.confirmed_ms) < times.reachable_ms) {
        return NeighbourLook::kReachable;
      }
      return of.asks == 0 ? NeighbourLook::kStale : NeighbourLook::kProbe;
    case NeighbourState::kFailed:
      return NeighbourLook::kFailed;
    case NeighbourState::kNone:
    case NeighbourState::kIncomplete:
      break;
  }
  const bool in_vain = of.asks >= times.asks_max && since(of.asked_ms) >= times.retry_ms;
  return in_vain ? NeighbourLook::kFailed : NeighbourLook::kIncomplete;
}

/// Entries of a table by that.
using NeighbourCounts = std::array<std::uint32_t, kNeighbourLookCount>;
inline NeighbourCounts count_neighbours(const NeighbourTableView& table,
                                        std::uint64_t now_ms) noexcept {
  NeighbourCounts counts{};
  table.each([&](const NeighbourSnapshot& entry) {
    ++counts[static_cast<std::size_t>(neighbour_look(entry, now_ms))];
  });
  return counts;
}

}  // namespace millrace
