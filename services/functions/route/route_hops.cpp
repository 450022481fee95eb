// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_hops.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr auto kGroup = static_cast<std::uint8_t>(RouteHopKind::kGroup);

MacAddress mac_of(std::size_t number, std::span<const PlanPort> ports) {
  if (ports.empty()) return {2, 0, 0, 0, 0, static_cast<std::uint8_t>(number + 1)};
  MacAddress mac{};
  if (!parse_mac(ports[number].mac, mac)) {
    throw Error("port " + ports[number].name + ": '" + ports[number].mac + "' is no MAC address");
  }
  return mac;
}

}  // namespace

std::vector<std::size_t> topology_ports(const RouteTable& table, std::span<const PlanPort> ports) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < table.ports.size(); ++i) {
    const std::string_view name(table.ports[i].data());
    const auto at = std::ranges::find(ports, name, &PlanPort::name);
    if (!ports.empty() && at == ports.end()) {
      throw Error("the route image names port '" + std::string(name) +
                  "', which the topology does not have; build it again");
    }
    numbers.push_back(ports.empty() ? i : static_cast<std::size_t>(at - ports.begin()));
  }
  return numbers;
}

RouteHops::RouteHops(const RouteTable& table, std::span<const PlanPort> ports) : table_(table) {
  for (const std::size_t number : topology_ports(table, ports)) {
    ports_.push_back({static_cast<std::uint8_t>(number), mac_of(number, ports)});
  }
  RouteRewrite unused{};
  unused.reason = static_cast<std::uint8_t>(RouteReason::kUnavailable);
  rewrites_.assign(table.hops.size(), unused);
  update(hops_now(table));
}

RouteRewrite RouteHops::resolve(const RouteHop& hop) const noexcept {
  RouteRewrite rewrite{};
  rewrite.reason = hop.reason;
  rewrite.kind = hop.kind;
  if (hop.reason == static_cast<std::uint8_t>(RouteReason::kNone) && hop.kind != kGroup) {
    MILLRACE_CHECK(hop.port < ports_.size());
    const Port& port = ports_[hop.port];
    rewrite.output = port.number;
    rewrite.has_mtu = hop.mtu != 0 ? 1 : 0;
    std::ranges::copy(hop.mac, rewrite.macs.begin());
    std::ranges::copy(port.mac, rewrite.macs.begin() + 6);
  }
  return rewrite;
}

void RouteHops::update(const HopsNow& now) noexcept {
  for (std::uint32_t number = now_.used; number < now.used; ++number) {
    rewrites_[number] = resolve(table_.hops[number]);
  }
  rewrites_[kHopDefault] = resolve(table_.hops[now.default_hop]);
  rewrites_[kHopDefaultIpv6] = resolve(table_.hops[now.ipv6_default_hop]);
  now_ = now;
}

std::vector<RouteRewrite> resolve_hops(const RouteTable& table, std::span<const PlanPort> ports) {
  const RouteHops hops(table, ports);
  const std::span<const RouteRewrite> rewrites = hops.rewrites();
  return {rewrites.begin(), rewrites.end()};
}

}  // namespace millrace
