// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/kernel_routes.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "shared/base/error.hpp"
#include "shared/base/kernel_table.hpp"
#include "shared/base/netlink.hpp"
#include "shared/base/tap_interface.hpp"

namespace millrace {
namespace {

constexpr std::size_t kRefusalsMax = 100;
constexpr int kReadsMax = 3;  // of a table that changes meanwhile

std::uint32_t host_order(std::uint32_t word) {
  static_assert(std::endian::native == std::endian::little);
  return __builtin_bswap32(word);
}

Ipv6Address host_order(const std::array<std::uint32_t, 4>& words) {
  return {std::uint64_t{host_order(words[0])} << 32 | host_order(words[1]),
          std::uint64_t{host_order(words[2])} << 32 | host_order(words[3])};
}

/// Where a route leads, as far as the kernel says it.
struct Way {
  int interface = 0;
  std::uint32_t flags = 0;
  std::uint32_t weight = 1;
  RouteHopKind kind = RouteHopKind::kOnLink;
  std::array<std::uint8_t, 16> gateway{};
  bool encapsulates = false;  ///< MPLS, SRv6 and others, which this router does not do
  bool strange = false;       ///< its gateway is no address

  void set_gateway(int family, std::span<const std::byte> address) {
    const std::size_t bytes = family == AF_INET ? 4 : 16;
    strange |= (family != AF_INET && family != AF_INET6) || address.size() < bytes;
    if (strange) return;
    kind = family == AF_INET ? RouteHopKind::kGateway4 : RouteHopKind::kGateway6;
    std::memcpy(gateway.data(), address.data(), bytes);
  }
  void add(int family, const NetlinkAttribute& attribute) {
    std::uint16_t other = 0;
    switch (attribute.type) {
      case RTA_OIF:
        attribute.read(interface);
        break;
      case RTA_GATEWAY:
        set_gateway(family, attribute.bytes);
        break;
      case RTA_VIA:  // a gateway of the other family (RFC 8950)
        if (attribute.read(other)) set_gateway(other, attribute.bytes.subspan(sizeof other));
        break;
      case RTA_ENCAP_TYPE:
        encapsulates = true;
        break;
      default:
        break;
    }
  }
};

/// The next hops of RTA_MULTIPATH.
std::vector<Way> ways_of(int family, std::span<const std::byte> bytes) {
  std::vector<Way> ways;
  while (bytes.size() >= sizeof(rtnexthop)) {
    rtnexthop header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.rtnh_len < sizeof header || header.rtnh_len > bytes.size()) break;
    Way way{.interface = header.rtnh_ifindex,
            .flags = header.rtnh_flags,
            .weight = header.rtnh_hops + 1u};
    for_each_attribute(bytes.subspan(sizeof header, header.rtnh_len - sizeof header),
                       [&](const NetlinkAttribute& attribute) { way.add(family, attribute); });
    ways.push_back(way);
    bytes = bytes.subspan(std::min<std::size_t>(RTNH_ALIGN(header.rtnh_len), bytes.size()));
  }
  return ways;
}

/// RTAX_MTU of RTA_METRICS; 0: none. Less than what each link of the family carries is that (RFC
/// 791 3.2, RFC 8200 5).
std::uint16_t mtu_of(std::span<const std::byte> metrics, bool is_ipv6) {
  std::uint32_t mtu = 0;
  for_each_attribute(metrics, [&](const NetlinkAttribute& metric) {
    if (metric.type == RTAX_MTU) metric.read(mtu);
  });
  if (mtu == 0) return 0;
  return static_cast<std::uint16_t>(std::clamp(mtu, is_ipv6 ? 1280u : 68u, 65'535u));
}

/// What of a message is neither prefix nor type.
struct Facts {
  std::uint32_t table = RT_TABLE_UNSPEC;
  std::uint32_t metric = 0;
  std::vector<Way> ways;
};

Facts facts_of(const rtmsg& route, std::span<const std::byte> attributes, RouteLine& line) {
  Facts facts{.table = route.rtm_table};
  Way single{.flags = route.rtm_flags};
  std::uint32_t ipv4 = 0;
  std::array<std::uint32_t, 4> ipv6{};
  for_each_attribute(attributes, [&](const NetlinkAttribute& attribute) {
    switch (attribute.type) {
      case RTA_DST:
        if (line.is_ipv6) {
          if (attribute.read(ipv6)) line.ipv6_prefix = host_order(ipv6);
        } else if (attribute.read(ipv4)) {
          line.prefix = host_order(ipv4);
        }
        break;
      case RTA_TABLE:
        attribute.read(facts.table);
        break;
      case RTA_PRIORITY:
        attribute.read(facts.metric);
        break;
      case RTA_METRICS:
        line.mtu = mtu_of(attribute.bytes, line.is_ipv6);
        break;
      case RTA_MULTIPATH:
        facts.ways = ways_of(route.rtm_family, attribute.bytes);
        break;
      default:
        single.add(route.rtm_family, attribute);
    }
  });
  if (facts.ways.empty()) facts.ways.push_back(single);
  return facts;
}

/// Loopback, groups and links: a packet with such an address is dropped before it is looked up.
bool is_never_routed(const RouteLine& line) {
  if (line.length == 0) return false;
  if (line.is_ipv6) return line.length >= 8 && never_routed(line.ipv6_prefix);
  return line.length >= 4 && never_routed(line.prefix) &&
         never_routed(line.prefix | ~ipv4_mask(line.length));
}

/// False when the router has nothing to do with a route of that type.
bool take_type(std::uint8_t type, std::uint32_t metric, RouteLine& line) {
  switch (type) {
    case RTN_PROHIBIT:
      line.refusal = RouteRefusal::kProhibited;
      return true;
    case RTN_UNREACHABLE:
      line.refusal = RouteRefusal::kUnreachable;
      return metric != UINT32_MAX;  // else the kernel's own: there is no default route
    case RTN_BLACKHOLE:
    case RTN_UNICAST:
      return true;
    default:
      return false;
  }
}

void take_ways(std::span<const Way> ways, const HostInterfaces& interfaces, KernelRoute& route) {
  for (const Way& way : ways) {
    if (!interfaces.contains(way.interface) || (way.flags & RTNH_F_DEAD) != 0) continue;
    if (way.encapsulates || way.strange) {
      route.refused = way.strange ? "a gateway that is no address"
                                  : "an encapsulation, which route does not do";
      return;
    }
    if (route.line.hops.size() == kRouteMembersMax) break;
    route.line.hops.push_back({.port = interfaces.at(way.interface),
                               .kind = way.kind,
                               .gateway = way.gateway,
                               .weight = way.weight});
  }
  route.elsewhere = route.line.hops.empty();
}

}  // namespace

HostInterfaces host_interfaces(std::span<const PlanPort> ports, const std::string& run_dir) {
  HostInterfaces interfaces;
  for (const PlanPort& port : ports) {
    if (port.host < 0) continue;
    for (const auto& [key, value] : ports[static_cast<std::size_t>(port.host)].settings) {
      if (key != "interface") continue;
      if (const std::uint32_t index = tap_interface_index(value, run_dir); index != 0) {
        interfaces.emplace(static_cast<int>(index), port.name);
      }
    }
  }
  return interfaces;
}

void check_host_interfaces(std::span<const PlanPort> ports, std::string_view setting) {
  if (std::ranges::any_of(ports, [](const PlanPort& port) { return port.host >= 0; })) return;
  const std::string name(setting);
  throw Error(name + " is 'kernel', but no port has a 'host_interface', by which the kernel has " +
              name);
}

std::optional<KernelRoute> parse_kernel_route(std::span<const std::byte> message,
                                              const HostInterfaces& interfaces) {
  nlmsghdr header{};
  rtmsg route{};
  if (!read_body(message, route)) return std::nullopt;
  std::memcpy(&header, message.data(), sizeof header);
  if (header.nlmsg_type != RTM_NEWROUTE && header.nlmsg_type != RTM_DELROUTE) return std::nullopt;
  if ((route.rtm_flags & RTM_F_CLONED) != 0) return std::nullopt;
  if (route.rtm_family != AF_INET && route.rtm_family != AF_INET6) return std::nullopt;
  KernelRoute found;
  found.flags = header.nlmsg_flags;
  found.gone = header.nlmsg_type == RTM_DELROUTE;
  found.line.is_ipv6 = route.rtm_family == AF_INET6;
  found.line.length = route.rtm_dst_len;
  if (found.line.length > (found.line.is_ipv6 ? 128 : 32)) return std::nullopt;
  const Facts facts = facts_of(route, attributes_behind<rtmsg>(message), found.line);
  found.metric = facts.metric;
  if (facts.table != RT_TABLE_MAIN || route.rtm_tos != 0 || is_never_routed(found.line) ||
      !take_type(route.rtm_type, facts.metric, found.line)) {
    return std::nullopt;
  }
  if (route.rtm_type == RTN_UNICAST) take_ways(facts.ways, interfaces, found);
  return found;
}

void add_kernel_route(std::span<const std::byte> message, const HostInterfaces& interfaces,
                      KernelRoutes& routes) {
  std::optional<KernelRoute> route = parse_kernel_route(message, interfaces);
  if (!route || route->gone) return;
  if (!route->refused.empty()) {
    if (routes.refusals.size() < kRefusalsMax) {
      routes.refusals.push_back("kernel: " + prefix_text(route->line) + ": " + route->refused);
    }
  } else if (route->elsewhere) {
    ++routes.elsewhere;
  } else {
    routes.lines.push_back(std::move(route->line));
  }
}

bool for_each_kernel_route(const std::function<void(std::span<const std::byte> message)>& visit) {
  return read_kernel_table(
      KernelTable::kRoutes,
      [&](const nlmsghdr&, std::span<const std::byte> message) { visit(message); });
}

KernelRoutes read_kernel_routes(const HostInterfaces& interfaces) {
  for (int tried = 1;; ++tried) {
    KernelRoutes routes;
    const bool whole = for_each_kernel_route(
        [&](std::span<const std::byte> message) { add_kernel_route(message, interfaces, routes); });
    // A process that follows them reads them anew, too.
    if (whole || tried == kReadsMax) return routes;
  }
}

}  // namespace millrace
