// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/answer_routes.hpp"

#include <array>

#include "services/functions/route/ipv4_datagram.hpp"
#include "services/functions/route/ipv6_address.hpp"
#include "services/functions/route/route_hops.hpp"
#include "services/functions/route/route_reason.hpp"
#include "services/functions/route/route_text.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

bool may_be_cut(std::span<const std::byte> frame) noexcept {
  constexpr std::size_t kAt = ipv4_wire::kEthernetBytes + ipv4_wire::kFragmentAt;
  return wire_bytes::u16(frame, ipv4_wire::kEtherTypeAt) == ipv4_wire::kTypeIpv4 &&
         (wire_bytes::u16(frame, kAt) & ipv4_wire::kDontFragment) == 0;
}

RouteWay back_to(std::uint8_t port, const MacAddress& station) noexcept {
  return {.port = port, .neighbour = {}, .mac = station};
}

/// Nothing asks for a neighbour of the port that the packet came in by: the station has brought the
/// packet from there, so it takes the answer, and forged sources cause no questions.
RouteWay known_or_back(const RouteWay& way, const FinishContext& call,
                       const MacAddress& station) noexcept {
  const bool is_asked = way.neighbour.family != NeighbourFamily::kNone;
  const bool is_new = is_asked && !call.facts.neighbours->find(way.neighbour).found();
  return is_new && way.port == call.facts.port_in ? back_to(way.port, station) : way;
}

}  // namespace

AnswerRoutes::AnswerRoutes(const RouteTable& table, std::span<const PlanPort> ports,
                           const RouterPorts& own, NextHops& hops)
    : table_(table),
      groups_(table, route_flow_seed(ports)),
      port_numbers_(topology_ports(table, ports)),
      own_(own),
      hops_(hops) {}

std::optional<RouteWay> AnswerRoutes::way_by(
    std::uint32_t number, const FinishContext& call, std::uint16_t packet,
    const MacAddress& station, std::span<const std::byte> destination) const noexcept {
  number = hops_now(table_).real(number);
  if (number >= table_.hops.size()) return std::nullopt;
  if (table_.hops[number].kind == static_cast<std::uint8_t>(RouteHopKind::kGroup)) {
    number = groups_.member_of(number, call.batch.bytes(packet));
    if (number >= table_.hops.size()) return std::nullopt;
  }
  const RouteHop& hop = table_.hops[number];
  if (hop.reason != static_cast<std::uint8_t>(RouteReason::kNone)) return std::nullopt;
  if (hop.port >= port_numbers_.size()) return std::nullopt;
  const auto port = static_cast<std::uint8_t>(port_numbers_[hop.port]);
  if (own_.at(port) == nullptr) return std::nullopt;
  return known_or_back(way_of(hop, port, destination), call, station);
}

template <typename Address>
std::optional<RouteWay> AnswerRoutes::way_past_table(const FinishContext& call,
                                                     const MacAddress& station,
                                                     const Address& address) const noexcept {
  const std::uint8_t in = call.facts.port_in;
  if (table_.table24 == nullptr || call.facts.neighbours == nullptr) return back_to(in, station);
  if (!is_link_local(address)) return std::nullopt;
  return known_or_back({in, neighbour_of(in, address), {}}, call, station);
}

std::optional<RouteWay> AnswerRoutes::way_to(const FinishContext& call, std::uint16_t packet,
                                             const MacAddress& station,
                                             std::uint32_t address) const noexcept {
  if (const auto way = way_past_table(call, station, address)) return way;
  std::array<std::byte, 4> destination{};
  wire_bytes::put32(destination, 0, address);
  return way_by(table_.look_up(address), call, packet, station, destination);
}

std::optional<RouteWay> AnswerRoutes::way_to(const FinishContext& call, std::uint16_t packet,
                                             const MacAddress& station,
                                             const Ipv6Bytes& address) const noexcept {
  if (const auto way = way_past_table(call, station, address)) return way;
  if (!table_.ipv6.present()) return std::nullopt;
  return way_by(table_.ipv6.look_up(ipv6_address(address)), call, packet, station,
                std::as_bytes(std::span(address)));
}

bool AnswerRoutes::knows(const FinishContext& call, std::uint16_t packet, const RouteWay& way,
                         MacAddress& mac) const noexcept {
  mac = way.mac;
  if (way.neighbour.family == NeighbourFamily::kNone) return true;
  return hops_.knows(call, {.packet = packet, .port = way.port, .neighbour = way.neighbour}, mac);
}

void AnswerRoutes::send(const FinishContext& call, std::uint16_t packet, const RouteWay& way,
                        Reason why, Reason otherwise) const noexcept {
  const Batch& batch = call.batch;
  const std::uint32_t mtu = way.mtu_by(port_of(way).mtu);
  const bool too_long = batch.length[packet] > mtu + packet_walk::kEthernetBytes;
  if (too_long && !may_be_cut(batch.bytes(packet))) {
    batch.drop(packet, Reason::kOversize);
    return;
  }
  const Departure at{.packet = packet,
                     .port = way.port,
                     .neighbour = way.neighbour,
                     .fragment_to = too_long ? mtu : 0};
  switch (hops_.depart(call, at, way.mac)) {
    case NextHops::Found::kMac:
      if (!too_long) batch.finish(packet, way.port, why);
      return;
    case NextHops::Found::kWaits:
      hops_.hold(call, at, {});
      return;
    case NextHops::Found::kFailed:
      batch.drop(packet, otherwise);
      return;
  }
}

template <typename Address>
void AnswerRoutes::reply_to(const FinishContext& call, std::uint16_t packet,
                            const Address& to) const noexcept {
  const MacAddress station = destination_mac(call.batch, packet);
  if (const auto way = way_to(call, packet, station, to)) {
    send(call, packet, *way, Reason::kReply, Reason::kNoNeighbour);
  } else {
    call.batch.drop(packet, call.reason(RouteReason::kNoRoute));
  }
}

void AnswerRoutes::reply(const FinishContext& call, std::uint16_t packet,
                         std::uint32_t to) const noexcept {
  reply_to(call, packet, to);
}

void AnswerRoutes::reply(const FinishContext& call, std::uint16_t packet,
                         const Ipv6Bytes& to) const noexcept {
  reply_to(call, packet, to);
}

}  // namespace millrace
