// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "shared/config/plan.hpp"
#include "shared/config/plan_settings.hpp"

namespace millrace {

inline constexpr std::string_view kLoopDevice = "loop";
inline constexpr std::uint32_t kLoopDepthDefault = 1024;  ///< packets
inline constexpr std::uint32_t kLoopDepthMin = 64, kLoopDepthMax = 65536;

/// A port of device `loop`: what is sent there comes in there, by rings in the segment
/// (shared/layout/loop_ring.hpp).
inline bool is_loop(const PlanPort& port) { return port.device == kLoopDevice; }

inline bool has_loop(const Plan& plan) { return std::ranges::any_of(plan.ports, is_loop); }

/// Packets that each of the port's rings holds: its setting `depth`, rounded up to a power of two.
/// The plan has been checked.
inline std::uint32_t loop_depth(const PlanPort& port) {
  const std::string text = setting_of(port.settings, "depth", std::to_string(kLoopDepthDefault));
  return std::bit_ceil(static_cast<std::uint32_t>(std::stoul(text)));
}

}  // namespace millrace
