// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "services/functions/function.hpp"
#include "services/functions/route/next_hops.hpp"
#include "services/functions/route/route_group.hpp"
#include "services/functions/route/route_image.hpp"
#include "services/functions/route/route_way.hpp"
#include "services/functions/route/router_ports.hpp"
#include "shared/packet/ipv6_bytes.hpp"

namespace millrace {

/// Sends what the router itself answers (errors, echo replies, resets) by the routing table, to the
/// address that asked (RFC 1812 4.3.2.4, 5.2.1; RFC 4443 2.2). A link-local address is on the link
/// that the packet came in by. A neighbour at that link that is not in the table of neighbours is
/// not asked for: the answer goes back to the station that sent the frame. So does each answer
/// without a table of routes or of neighbours (BatchFacts). One worker's; data thread.
class AnswerRoutes {
 public:
  /// `ports`: all of the plan; `own`: the same. The memory that `table` is a view of, `own` and
  /// `hops` must outlive it. Throws Error for a port of the table that the plan does not have.
  AnswerRoutes(const RouteTable& table, std::span<const PlanPort> ports, const RouterPorts& own,
               NextHops& hops);

  /// The way to `address`, host byte order; nothing: there is none. `packet`: the one that is
  /// answered; its flow chooses among several next hops. `station`: that sent it.
  std::optional<RouteWay> way_to(const FinishContext& call, std::uint16_t packet,
                                 const MacAddress& station, std::uint32_t address) const noexcept;
  std::optional<RouteWay> way_to(const FinishContext& call, std::uint16_t packet,
                                 const MacAddress& station,
                                 const Ipv6Bytes& address) const noexcept;
  /// The port that the way leaves by.
  const RouterPort& port_of(const RouteWay& way) const noexcept { return *own_.at(way.port); }
  /// Where an error to `sender` that leaves by the way comes from: an address of that port, or of
  /// the one that the packet came in by where that has none of the version, or any of the router
  /// (RFC 1812 4.3.2.4, RFC 4443 2.2 (b)). There is one: route reports nothing else.
  template <typename Address>
  const auto& error_source(const FinishContext& call, const RouteWay& way,
                           const Address& sender) const noexcept {
    const auto* const own = port_of(way).source_for(sender);
    return *(RouterPorts::reaches(own, sender)
                 ? own
                 : own_.source_at(*own_.at(call.facts.port_in), sender));
  }
  /// `mac` becomes the MAC address that the way leads to. False: none is known, and it is asked
  /// for, once in a while.
  bool knows(const FinishContext& call, std::uint16_t packet, const RouteWay& way,
             MacAddress& mac) const noexcept;
  /// The packet, which is the answer but for its MAC addresses, leaves, with reason `why`, or waits
  /// at the egress for the neighbour (consumed{held}). It is dropped for `otherwise` when nothing
  /// has answered for the neighbour a moment ago, and as `oversize` when it is longer than the MTU
  /// of the port and may not be fragmented.
  void send(const FinishContext& call, std::uint16_t packet, const RouteWay& way, Reason why,
            Reason otherwise) const noexcept;
  /// The packet is an echo reply to `to`, so far with the station's MAC address as its destination.
  /// It leaves as send() says, with reason `reply`, or is dropped for `no_route` or `no_neighbour`.
  void reply(const FinishContext& call, std::uint16_t packet, std::uint32_t to) const noexcept;
  void reply(const FinishContext& call, std::uint16_t packet, const Ipv6Bytes& to) const noexcept;

 private:
  /// The way where there is no table, or on the link; nothing: the table says it.
  template <typename Address>
  std::optional<RouteWay> way_past_table(const FinishContext& call, const MacAddress& station,
                                         const Address& address) const noexcept;
  template <typename Address>
  void reply_to(const FinishContext& call, std::uint16_t packet, const Address& to) const noexcept;
  std::optional<RouteWay> way_by(std::uint32_t number, const FinishContext& call,
                                 std::uint16_t packet, const MacAddress& station,
                                 std::span<const std::byte> destination) const noexcept;

  RouteTable table_;
  RouteGroups groups_;
  std::vector<std::size_t> port_numbers_;  ///< in the topology, by the image's
  const RouterPorts& own_;
  NextHops& hops_;
};

}  // namespace millrace
