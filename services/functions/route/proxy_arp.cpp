// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/proxy_arp.hpp"

#include <algorithm>
#include <string_view>

#include "services/functions/route/route_text.hpp"
#include "services/functions/route/router_ports.hpp"

namespace millrace {

ProxyArp::ProxyArp(const RouteTable& table, std::span<const PlanPort> ports,
                   std::span<const std::string> names)
    : table_(&table), port_in_image_(ports.size(), kOff) {
  for (const std::string& name : names) {
    // Without a place in the image no way leads out by it.
    const auto at = std::ranges::find_if(
        table.ports, [&](const auto& there) { return std::string_view(there.data()) == name; });
    port_in_image_[number_of_port("proxy_arp", name, ports)] =
        static_cast<std::uint32_t>(at - table.ports.begin());
  }
}

bool ProxyArp::answers_for(std::uint8_t port, std::uint32_t target) const noexcept {
  if (port >= port_in_image_.size() || port_in_image_[port] == kOff || never_routed(target)) {
    return false;
  }
  const std::uint32_t number = table_->look_up(target);
  if (number == kHopOwn) return true;
  const RouteHop& hop = table_->hops[number];
  if (hop.reason != static_cast<std::uint8_t>(RouteReason::kNone)) return false;
  if (hop.kind != static_cast<std::uint8_t>(RouteHopKind::kGroup)) {
    return hop.port != port_in_image_[port];
  }
  return std::ranges::none_of(table_->members.subspan(hop.first_member, hop.member_count),
                              [&](const RouteMember& member) {
                                return table_->hops[member.hop].port == port_in_image_[port];
                              });
}

}  // namespace millrace
