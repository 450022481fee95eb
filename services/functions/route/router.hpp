// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "services/functions/route/announcer.hpp"
#include "services/functions/route/answer_routes.hpp"
#include "services/functions/route/fragmented_echo.hpp"
#include "services/functions/route/ipv4_router.hpp"
#include "services/functions/route/ipv6_router.hpp"
#include "services/functions/route/next_hops.hpp"
#include "services/functions/route/proxy_arp.hpp"
#include "services/functions/route/punt.hpp"
#include "services/functions/route/report_limits.hpp"
#include "services/functions/route/route_finish.hpp"
#include "services/functions/route/route_image.hpp"
#include "services/functions/route/route_reason.hpp"
#include "services/functions/route/route_settings.hpp"
#include "services/functions/route/router_advertiser.hpp"
#include "services/functions/route/router_ports.hpp"
#include "services/functions/route/router_vlans.hpp"

namespace millrace {

/// Route's slow pass: what becomes of packets that need more than new MAC addresses and one hop
/// less. One worker's; data thread.
class Router {
 public:
  /// `table` must outlive it. Throws Error for addresses that are none, and for names in the
  /// settings that are no ports.
  Router(const RouteTable& table, std::span<const PlanPort> ports, const RouteSettings& settings);
  Router(const Router&) = delete;  // its parts refer to each other
  Router& operator=(const Router&) = delete;

  /// A packet that the table sends to next hop `number`, no group, which `hop` is.
  void forward(const FinishContext& call, std::uint16_t packet, std::uint32_t number,
               const RouteRewrite& hop, bool is_ipv6) noexcept;
  /// A packet that is not forwarded, and why.
  void end(const FinishContext& call, std::uint16_t packet, RouteReason why) noexcept;
  /// The MAC address of next hop `number`, a gateway that is known and need not be asked; null: not
  /// so. Valid until the next call.
  const MacAddress* ready_gateway(const FinishContext& call, std::uint32_t number,
                                  const RouteRewrite& hop) noexcept;
  /// Packets that came in with tags of VLANs, for a pass of their own.
  RouterVlans& vlans() noexcept { return vlans_; }
  /// Bytes of the longest frame that the port sends whole.
  std::uint32_t frame_bytes_max(std::uint8_t port) const noexcept {
    return port < frame_bytes_max_.size() ? frame_bytes_max_[port] : UINT32_MAX;
  }

 private:
  void link_layer(const FinishContext& call, std::uint16_t packet, std::uint16_t type,
                  RouteReason why) noexcept;

  std::span<const RouteHop> hops_;
  RouterPorts ports_;
  RouterVlans vlans_;
  std::vector<std::uint32_t> frame_bytes_max_;  ///< by port
  std::vector<NeighbourHint> hints_;            ///< by next hop: its gateway
  ReportLimits limits_;
  Punt punt_;
  NextHops next_hops_;
  AnswerRoutes answers_;
  ProxyArp proxy_arp_;
  RouterAdvertiser advertiser_;
  Announcer announcer_;
  FragmentedEcho fragments_{answers_};
  Ipv4Router ipv4_;
  Ipv6Router ipv6_;
};

}  // namespace millrace
