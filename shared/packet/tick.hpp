// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "shared/base/mac.hpp"

/// Ticks: frames that the ingress of a port of device `loop` makes at even distances (its setting
/// `tick`), so that functions can do something when no packet comes. A function that acts upon one
/// consumes it (Reason::kControl); what no function consumes ends at the egress so. None comes from
/// a network: what looks like one there, and is sent to a loop, has ceased to when it comes in.
///
/// A tick speaks for all the time since the one before. A function that derives what is due from
/// these two times needs no state: whatever dies, at most the ticks that died with it are missed,
/// and none comes twice.

namespace millrace {

inline constexpr std::uint16_t kTickType = 0x88b5;  ///< local experimental (IEEE 802)
inline constexpr std::size_t kTickFrameBytes = 60;

struct Tick {
  std::uint64_t number = 0;    ///< of this loop's ticks, from 0, without gaps
  std::uint64_t time_ns = 0;   ///< since the topology started
  std::uint64_t since_ns = 0;  ///< time of the tick before; 0: it is the first

  /// `at_ns`, since the topology started, is a time that this tick speaks for.
  bool covers(std::uint64_t at_ns) const noexcept { return since_ns < at_ns && at_ns <= time_ns; }
  friend bool operator==(const Tick&, const Tick&) = default;
};

/// Behind MAC addresses and type: magic, number, time, time of the one before; little-endian, as
/// ticks do not leave the host.
inline constexpr std::size_t kTickMagicAt = 14;
inline constexpr std::uint64_t kTickMagic = 0x4b434954'4c52494dull;  ///< "MIRLTICK"

/// The frame, of kTickFrameBytes or more, is a tick.
inline bool is_tick(std::span<const std::byte> frame) noexcept {
  if (frame.size() < kTickFrameBytes) return false;
  std::uint16_t type;
  std::uint64_t magic;
  std::memcpy(&type, frame.data() + 12, sizeof type);
  std::memcpy(&magic, frame.data() + kTickMagicAt, sizeof magic);
  return type == __builtin_bswap16(kTickType) && magic == kTickMagic;
}

/// What a frame for which is_tick() holds says.
Tick read_tick(std::span<const std::byte> frame) noexcept;
/// Writes kTickFrameBytes of `frame`, from `mac` to itself.
void write_tick(std::span<std::byte> frame, MacAddress mac, const Tick& tick) noexcept;

}  // namespace millrace
