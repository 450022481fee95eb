// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"
#include "services/functions/route/answer_routes.hpp"
#include "services/functions/route/fragmented_echo.hpp"
#include "services/functions/route/group_reports.hpp"
#include "services/functions/route/held_draft.hpp"
#include "services/functions/route/ipv6_discovery.hpp"
#include "services/functions/route/next_hops.hpp"
#include "services/functions/route/punt.hpp"
#include "services/functions/route/report_limits.hpp"
#include "services/functions/route/route_reason.hpp"
#include "services/functions/route/route_way.hpp"
#include "services/functions/route/router_advertiser.hpp"
#include "services/functions/route/router_ports.hpp"
#include "shared/packet/icmpv6.hpp"

namespace millrace {

class Ipv4Router;

/// What a router of IPv6 does with packets that are not just passed on (RFC 8200), and with those
/// that end here: neighbour discovery (RFC 4861), echo and error reports (RFC 4443). As Ipv4Router.
class Ipv6Router {
 public:
  Ipv6Router(const RouterPorts& ports, NextHops& hops, ReportLimits& limits, Punt& punt,
             const AnswerRoutes& answers, RouterAdvertiser& advertiser, FragmentedEcho& fragments)
      : ports_(ports),
        hops_(hops),
        limits_(limits),
        punt_(punt),
        answers_(answers),
        discovery_(ports, limits.others, punt, advertiser),
        groups_(ports),
        fragments_(fragments) {}

  /// A packet with a hop limit above 1 that the table sends this way.
  void forward(const FinishContext& call, std::uint16_t packet, const RouteWay& way) noexcept;
  /// A packet with the EtherType of IPv6 that is not forwarded, and why. For kMalformed and
  /// kTruncated its header may not be whole.
  void end(const FinishContext& call, std::uint16_t packet, RouteReason why) noexcept;
  /// As Ipv4Router::report(); `from`: null: an address of the port that it leaves by.
  void report(const FinishContext& call, std::uint16_t packet, Icmpv6Error error, Reason otherwise,
              const Ipv6Bytes* from = nullptr) noexcept;
  /// As Ipv4Router::write_held().
  void write_held(const FinishContext& call, std::uint16_t packet, Icmpv6Error error,
                  HeldDraft& draft) noexcept;
  /// Reports of packets that have come as IPv4 ones are its: `nat64` stands in front.
  void report_ipv4_by(Ipv4Router& router) noexcept { ipv4_ = &router; }

 private:
  /// True: the packet has come as one of IPv4, and its report is made or cannot be.
  bool report_as_ipv4(const FinishContext& call, std::uint16_t packet, Icmpv6Error error,
                      Reason otherwise) noexcept;
  void end_not_unicast(const FinishContext& call, std::uint16_t packet) noexcept;
  bool may_report(const FinishContext& call, std::uint16_t packet,
                  Icmpv6Error error) const noexcept;
  void redirect(const FinishContext& call, const Departure& at, const RouteWay& way) noexcept;
  bool pass_options(const FinishContext& call, std::uint16_t packet) noexcept;
  bool is_for_host(const FinishContext& call, std::uint16_t packet) const noexcept;
  /// As Ipv4Router::reset(). `segment_at`: of the TCP header, from the IPv6 header.
  void reset(const FinishContext& call, std::uint16_t packet, std::size_t segment_at) noexcept;
  void deliver(const FinishContext& call, std::uint16_t packet) noexcept;
  void put_together(const FinishContext& call, std::uint16_t packet,
                    std::size_t fragment_at) noexcept;

  const RouterPorts& ports_;
  NextHops& hops_;
  ReportLimits& limits_;
  Punt& punt_;
  const AnswerRoutes& answers_;
  Ipv6Discovery discovery_;
  GroupReports groups_;
  FragmentedEcho& fragments_;
  Ipv4Router* ipv4_ = nullptr;
};

}  // namespace millrace
