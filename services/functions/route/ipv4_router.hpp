// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"
#include "services/functions/route/answer_routes.hpp"
#include "services/functions/route/defences.hpp"
#include "services/functions/route/fragmented_echo.hpp"
#include "services/functions/route/held_draft.hpp"
#include "services/functions/route/next_hops.hpp"
#include "services/functions/route/proxy_arp.hpp"
#include "services/functions/route/punt.hpp"
#include "services/functions/route/report_limits.hpp"
#include "services/functions/route/route_reason.hpp"
#include "services/functions/route/route_way.hpp"
#include "services/functions/route/router_ports.hpp"
#include "shared/packet/arp.hpp"
#include "shared/packet/icmp.hpp"

namespace millrace {

class Ipv6Router;

/// What a router of IPv4 does with packets that are not just passed on (RFC 1812): neighbours,
/// options, fragments, redirects; and with those that end here: ARP, echo, error reports. Packets
/// have passed route_check(), so headers are whole and their checksums right, unless said. One
/// worker's; data thread.
class Ipv4Router {
 public:
  Ipv4Router(const RouterPorts& ports, NextHops& hops, ReportLimits& limits, Punt& punt,
             const AnswerRoutes& answers, const ProxyArp& proxy_arp, FragmentedEcho& fragments)
      : ports_(ports),
        hops_(hops),
        limits_(limits),
        punt_(punt),
        answers_(answers),
        proxy_arp_(proxy_arp),
        fragments_(fragments) {}

  /// A packet with a TTL above 1 that the table sends this way. Its fate is decided afterwards.
  void forward(const FinishContext& call, std::uint16_t packet, const RouteWay& way) noexcept;
  /// A packet that is not forwarded, and why: it is answered where an answer is due, and dropped
  /// for that reason else.
  void end(const FinishContext& call, std::uint16_t packet, RouteReason why) noexcept;
  /// An ARP frame, or what says so.
  void arp(const FinishContext& call, std::uint16_t packet) noexcept;
  /// The error replaces the packet and goes to its sender; without leave to send one the packet is
  /// dropped for the reason. `from`: an address of ours; 0: one of the port that it leaves by.
  void report(const FinishContext& call, std::uint16_t packet, IcmpError error, Reason otherwise,
              std::uint32_t from = 0) noexcept;
  /// What the sender of a packet that waits is told when its neighbour does not answer, where it
  /// may be told. The packet is as it has been sent.
  void write_held(const FinishContext& call, std::uint16_t packet, HeldDraft& draft) noexcept;
  /// Reports of packets that have come as IPv6 ones are its: `nat64` stands in front.
  void report_ipv6_by(Ipv6Router& router) noexcept { ipv6_ = &router; }

 private:
  /// True: the packet has come as one of IPv6, and its report is made or cannot be.
  bool report_as_ipv6(const FinishContext& call, std::uint16_t packet, IcmpError error,
                      Reason otherwise) noexcept;
  bool may_report(const FinishContext& call, std::uint16_t packet) const noexcept;
  bool pass_options(const FinishContext& call, std::uint16_t packet, std::uint8_t port) noexcept;
  void redirect(const FinishContext& call, std::uint16_t packet, std::uint32_t gateway) noexcept;
  bool is_of_the_link(const FinishContext& call, std::uint16_t packet) const noexcept;
  bool is_for_host(const FinishContext& call, std::uint16_t packet) const noexcept;
  /// Nothing of ours listens there: the connection is refused (RFC 9293 3.10.7.1).
  void reset(const FinishContext& call, std::uint16_t packet) noexcept;
  void deliver(const FinishContext& call, std::uint16_t packet) noexcept;
  bool is_asked(std::uint8_t port, const ArpPacket& arp) const noexcept;
  bool is_no_host(const RouterPort& in, std::uint32_t sender) const noexcept;

  const RouterPorts& ports_;
  NextHops& hops_;
  ReportLimits& limits_;
  Punt& punt_;
  const AnswerRoutes& answers_;
  const ProxyArp& proxy_arp_;
  FragmentedEcho& fragments_;
  Defences defences_;
  Ipv6Router* ipv6_ = nullptr;
};

}  // namespace millrace
