// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

/// Of the ports with a `host_interface`, those with an interface in this network namespace, also
/// one of the topology in `run_dir` that has got another name; the names are borrowed from `ports`.
/// Throws Error.
HostInterfaces host_interfaces(std::span<const PlanPort> ports, const std::string& run_dir);

/// Throws Error unless a port has a `host_interface`: else neither a route of the kernel nor a
/// neighbour has a port. `setting`: "routes", "neighbours".
void check_host_interfaces(std::span<const PlanPort> ports, std::string_view setting = "routes");

/// What the kernel says of one route of table main.
struct KernelRoute {
  /// Of the next hops those by `interfaces` that are not dead, at most kRouteMembersMax.
  RouteLine line;
  std::uint32_t metric = 0;
  std::uint16_t flags = 0;  ///< of the message: NLM_F_REPLACE, NLM_F_APPEND, ...
  bool gone = false;        ///< RTM_DELROUTE
  /// It has no next hop by one of `interfaces`, which means that it is the host's own.
  bool elsewhere = false;
  std::string refused;  ///< why the router cannot have it; empty: it can
};

/// Of an RTM_NEWROUTE or RTM_DELROUTE message, its header included. Nothing for other messages, and
/// for routes of other tables than main, of a type of service, to addresses of the host, to groups,
/// and to what is never routed. Reads nothing outside the message, whatever it holds.
std::optional<KernelRoute> parse_kernel_route(std::span<const std::byte> message,
                                              const HostInterfaces& interfaces);

/// Calls `visit` with the message of each route of both families, as they are now: where a prefix
/// stands twice, the first has the lower metric. A change meanwhile may be in it or not. Throws
/// Error. False: a change made the kernel leave some out, or say them twice (read_kernel_table()).
bool for_each_kernel_route(const std::function<void(std::span<const std::byte> message)>& visit);

struct KernelRoutes {
  std::vector<RouteLine> lines;       ///< in the order of for_each_kernel_route()
  std::uint64_t elsewhere = 0;        ///< routes that are the host's own
  std::vector<std::string> refusals;  ///< "kernel: 10.0.0.0/8: reason"
};

/// Adds what an RTM_NEWROUTE message says.
void add_kernel_route(std::span<const std::byte> message, const HostInterfaces& interfaces,
                      KernelRoutes& routes);

/// All of both families. When changes come between, they are read again, a few times. Throws Error.
KernelRoutes read_kernel_routes(const HostInterfaces& interfaces);

}  // namespace millrace
