// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "services/functions/function.hpp"
#include "services/functions/route/group_reports.hpp"
#include "services/functions/route/router_advertiser.hpp"
#include "services/functions/route/router_ports.hpp"
#include "shared/packet/tick.hpp"

namespace millrace {

/// What a router says unasked: that its addresses are at these MAC addresses, twice after the start
/// (RFC 5227 2.3, RFC 4861 7.2.6), so that neighbours which knew another router of the same
/// addresses turn to this one at once; and router advertisements from time to time (RFC 4861
/// 6.2.4); and which groups it is in (GroupReports). Ticks of a loop tell when: all of it follows
/// from their times, so no worker has to remember anything, and it matters not which one gets a
/// tick. One worker's; data thread.
class Announcer {
 public:
  /// `ports`: those of `plan`.
  Announcer(const RouterPorts& ports, std::span<const PlanPort> plan, RouterAdvertiser& advertiser);

  /// True: the packet is a tick that came by a loop, and is consumed. What is due leaves beside it,
  /// as generated{announce}. Without room for all of it in the side list, the tick is dropped for
  /// `side_full`, and what found none is not said.
  bool tick(const FinishContext& call, std::uint16_t packet) noexcept;

 private:
  /// An address of a port, which is told of all together with those before and after it.
  struct Own {
    std::uint8_t port = 0;
    bool is_ipv6 = false;
    std::uint32_t ipv4 = 0;
    Ipv6Bytes ipv6{};
  };
  bool announce(const FinishContext& call, std::uint16_t packet, const Own& own) const noexcept;

  const RouterPorts& ports_;
  RouterAdvertiser& advertiser_;
  GroupReports groups_;
  std::vector<bool> is_loop_;  ///< by port
  std::vector<Own> own_;
};

}  // namespace millrace
