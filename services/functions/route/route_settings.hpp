// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// Settings of the function route, checked. Throws Error that names the key.
struct RouteSettings {
  bool answers = true;                 ///< ARP, neighbour discovery, ICMP
  std::uint32_t icmp_rate = 1000;      ///< error reports a second, of a worker; 0: any number
  std::uint32_t punt_rate = 0;         ///< packets a second to hosts behind ports, likewise
  bool follows_kernel = false;         ///< `routes: kernel`
  bool follows_neighbours = false;     ///< `neighbours: kernel`
  std::vector<std::string> proxy_arp;  ///< ports; none without answers
  std::vector<std::string> advertise;  ///< likewise
};
RouteSettings route_settings(const PlanFunction& function);
std::span<const KnownSetting> known_route_settings();

}  // namespace millrace
