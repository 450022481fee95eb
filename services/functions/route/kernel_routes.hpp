// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "services/functions/route/route_text.hpp"
#include "shared/config/plan.hpp"

/// The routes of this host's kernel (rtnetlink(7), table main), where they leave by the host
/// interface of a port. Builder's thread.

namespace millrace {

/// The kernel's number of an interface -> the name of the port that it is behind.
using HostInterfaces = std::unordered_map<int, std::string_view>;

/// Of the ports with a `host_interface`, those with an interface in this network namespace; the
/// names are borrowed from `ports`.
HostInterfaces host_interfaces(std::span<const PlanPort> ports);

/// Throws Error unless a port has a `host_interface`: else neither a route of the kernel nor a
/// neighbour has a port. `setting`: "routes", "neighbours".
void check_host_interfaces(std::span<const PlanPort> ports, std::string_view setting = "routes");

struct KernelRoutes {
  /// As the kernel tells them: where a prefix stands twice, the first has the lower metric.
  std::vector<RouteLine> lines;
  std::uint64_t elsewhere = 0;        ///< that leave by other interfaces, which are the host's own
  std::vector<std::string> refusals;  ///< "kernel: 10.0.0.0/8: reason"
};

/// Adds what an RTM_NEWROUTE message says, its header included. Left out are routes of other tables
/// than main, of a type of service, to addresses of the host, to groups, and to what is never
/// routed, and next hops by other interfaces and those behind the first kRouteMembersMax.
/// `unreachable` and `prohibit` are routes that are answered with "no route". Reads nothing outside
/// the message, whatever it holds.
void add_kernel_route(std::span<const std::byte> message, const HostInterfaces& interfaces,
                      KernelRoutes& routes);

/// All of both families, as they are now. A change meanwhile may be in it or not. Throws Error.
KernelRoutes read_kernel_routes(const HostInterfaces& interfaces);

}  // namespace millrace
