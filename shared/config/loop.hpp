// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "shared/config/known_devices.hpp"
#include "shared/config/plan.hpp"
#include "shared/config/plan_settings.hpp"

namespace millrace {

inline constexpr std::string_view kLoopDevice = "loop";
inline constexpr std::uint32_t kLoopTickMinMs = 100, kLoopTickMaxMs = 3'600'000;
inline constexpr std::string_view kLoopTicksAllowed =
    "a time from 100ms to 3600s, like 500ms or 1s";

/// A port of device `loop`: what is sent there comes in there, by rings in the segment
/// (shared/layout/loop_ring.hpp).
inline bool is_loop(const PlanPort& port) { return port.device == kLoopDevice; }

inline bool has_loop(const Plan& plan) { return std::ranges::any_of(plan.ports, is_loop); }

/// Packets that each of the port's rings holds: its setting `depth`, rounded up to a power of two.
/// The plan has been checked.
inline std::uint32_t loop_depth(const PlanPort& port) {
  return std::bit_ceil(port_number(port, "depth"));
}

/// Milliseconds of a setting `tick`; nothing when it is none.
inline std::optional<std::uint32_t> parse_loop_tick(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, text.data() + text.size());
  if (error != std::errc{} || number > kLoopTickMaxMs || (unit != "s" && unit != "ms")) return {};
  const std::uint64_t total = unit == "s" ? std::uint64_t{number} * 1000 : number;
  if (total < kLoopTickMinMs || total > kLoopTickMaxMs) return {};
  return static_cast<std::uint32_t>(total);
}

/// Milliseconds between two ticks of the port; 0: it makes none.
inline std::uint32_t loop_tick_ms(const PlanPort& port) {
  return is_loop(port) ? parse_loop_tick(setting_of(port.settings, "tick")).value_or(0) : 0;
}

}  // namespace millrace
