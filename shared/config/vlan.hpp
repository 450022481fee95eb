// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "shared/config/plan.hpp"

namespace millrace {

inline constexpr std::string_view kVlanDevice = "vlan";

/// A port of device `vlan`: what of another port's frames is its own (IEEE 802.1Q, 802.1ad).
struct VlanPort {
  std::uint8_t link = 0;    ///< number of the port that the tagged frames come by
  std::uint16_t outer = 0;  ///< of the service tag (0x88a8), 1..4094; 0: there is none
  std::uint16_t id = 0;     ///< of the VLAN tag (0x8100), 1..4094
};

/// Nothing when the port is none. `ports`: all of the plan, which has been checked.
inline std::optional<VlanPort> vlan_port(std::span<const PlanPort> ports, std::size_t number) {
  if (ports[number].device != kVlanDevice) return std::nullopt;
  VlanPort vlan;
  const auto read = [](std::string_view text, std::uint16_t& to) {
    std::from_chars(text.data(), text.data() + text.size(), to);
  };
  for (const auto& [key, value] : ports[number].settings) {
    if (key == "id") read(value, vlan.id);
    if (key == "outer") read(value, vlan.outer);
    if (key != "link") continue;
    const auto at = std::ranges::find(ports, value, &PlanPort::name);
    vlan.link = static_cast<std::uint8_t>(at - ports.begin());
  }
  return vlan;
}

}  // namespace millrace
