// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "services/functions/route/route_image.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// At which ports, and for which hosts behind other ports, the router answers ARP requests with its
/// own MAC address (RFC 1027): the hosts at those ports believe themselves on one network with
/// them. Private memory of a worker.
class ProxyArp {
 public:
  ProxyArp() = default;  ///< at none
  /// `names`: of the ports. Borrows the table. Throws Error for a name that is no port.
  ProxyArp(const RouteTable& table, std::span<const PlanPort> ports,
           std::span<const std::string> names);

  /// `port`: the one that the request came in by. True: it is one of those, and packets to
  /// `target` (host byte order), an address of ours or another one, leave by other ports alone.
  bool answers_for(std::uint8_t port, std::uint32_t target) const noexcept;

 private:
  static constexpr std::uint32_t kOff = UINT32_MAX;

  const RouteTable* table_ = nullptr;
  std::vector<std::uint32_t> port_in_image_;  ///< by number of the port; kOff: not one of those
};

}  // namespace millrace
