// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/route/kernel_routes.hpp"
#include "services/functions/route/live/live_pool.hpp"
#include "tests/unit/services/functions/route/route_fixture.hpp"

namespace millrace::test {

/// No reader is there.
struct NoReader final : ReaderGrace {
  std::uint64_t now() override { return 0; }
  bool passed(std::uint64_t) override { return true; }
};

/// A live image of a router with ports "lan" and "wan", before any route of the kernel.
class LiveWorld {
 public:
  /// `on_device`: a copy of it on a device can follow.
  explicit LiveWorld(const std::string& text = "198.51.100.0/24 drop\n", bool on_device = false)
      : routes_(text, host_ports(), "true", true, on_device) {}
  const std::string& path() const { return routes_.path(); }
  const PlanFunction& function() const { return routes_.function(); }
  const RouteTable& table() const { return routes_.table(); }
  std::span<const PlanPort> ports() const { return ports_; }

  /// The next hop that a packet to the address takes.
  const RouteHop& hop_to(const char* text) const {
    std::uint32_t ipv4 = 0;
    const std::uint32_t number =
        parse_ipv4(text, ipv4) ? table().look_up(ipv4) : table().ipv6.look_up(ipv6(text));
    return table().hops[hops_now(table()).real(number)];
  }
  /// Last byte of the gateway that it takes; 0: it takes none.
  int gateway_to(const char* text) const {
    const RouteHop& hop = hop_to(text);
    if (hop.kind == static_cast<std::uint8_t>(RouteHopKind::kGateway4)) return hop.gateway[3];
    if (hop.kind == static_cast<std::uint8_t>(RouteHopKind::kGateway6)) return hop.gateway[15];
    return 0;
  }

 private:
  static std::vector<PlanPort> host_ports() {
    std::vector<PlanPort> ports = two_ports();
    ports[0].host = 2;
    ports[1].host = 3;
    for (const char* const name : {"lan", "wan"}) {
      PlanPort host{
          .name = std::string(name) + ".host", .device = "null", .mac = two_ports()[0].mac};
      host.settings = {{"interface", std::string("mr-absent-") + name}};
      ports.push_back(std::move(host));
    }
    return ports;
  }

  std::vector<PlanPort> ports_ = host_ports();
  BuiltRoutes routes_;
};

/// A route of the kernel by `port` to a gateway whose address ends with `last`.
inline KernelRoute kernel_route(const std::string& prefix, std::string_view port, int last,
                                std::uint32_t metric = 0, std::uint16_t flags = 0) {
  KernelRoute route{.metric = metric, .flags = flags};
  const std::size_t slash = prefix.find('/');
  const std::string address = prefix.substr(0, slash);
  route.line.is_ipv6 = address.find(':') != std::string::npos;
  route.line.length = static_cast<std::uint8_t>(std::stoi(prefix.substr(slash + 1)));
  if (route.line.is_ipv6) {
    route.line.ipv6_prefix = ipv6(address.c_str());
  } else if (!parse_ipv4(address, route.line.prefix)) {
    throw std::invalid_argument(prefix);
  }
  RouteLineHop hop{.port = port};
  hop.kind = route.line.is_ipv6 ? RouteHopKind::kGateway6 : RouteHopKind::kGateway4;
  hop.gateway[route.line.is_ipv6 ? 15 : 3] = static_cast<std::uint8_t>(last);
  route.line.hops = {hop};
  return route;
}

}  // namespace millrace::test
