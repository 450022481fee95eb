// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/router.hpp"

#include "services/functions/route/ipv4_datagram.hpp"
#include "services/functions/route/route_way.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kIcmpBurst = 50;  ///< as Linux's icmp_msgs_burst

}  // namespace

Router::Router(const RouteTable& table, std::span<const PlanPort> ports,
               const RouteSettings& settings)
    : hops_(table.hops),
      ports_(ports),
      vlans_(ports),
      hints_(table.hops.size()),
      limits_(settings.icmp_rate, kIcmpBurst),
      punt_(settings.punt_rate),
      next_hops_(ports_),
      answers_(table, ports, ports_, next_hops_),
      proxy_arp_(table, ports, settings.proxy_arp),
      advertiser_(ports_, ports, settings.advertise, limits_.others),
      announcer_(ports_, ports, advertiser_),
      ipv4_(ports_, next_hops_, limits_, punt_, answers_, proxy_arp_, fragments_),
      ipv6_(ports_, next_hops_, limits_, punt_, answers_, advertiser_, fragments_) {
  ipv4_.report_ipv6_by(ipv6_);
  ipv6_.report_ipv4_by(ipv4_);
  for (const PlanPort& port : ports) {
    frame_bytes_max_.push_back(port.mtu + static_cast<std::uint32_t>(packet_walk::kEthernetBytes));
  }
}

const MacAddress* Router::ready_gateway(const FinishContext& call, std::uint32_t number,
                                        const RouteRewrite& hop) noexcept {
  const bool on_link = hop.kind == static_cast<std::uint8_t>(RouteHopKind::kOnLink);
  if (on_link || call.facts.neighbours == nullptr) return nullptr;  // on a link are many
  const NeighbourTableView& table = *call.facts.neighbours;
  const std::uint64_t now_ms = neighbour_ms(call.facts.now_ns);
  NeighbourHint& hint = hints_[number];
  if (table.is_fresh(hint, now_ms)) [[likely]]
    return &hint.mac;
  const NeighbourHandle handle = table.find(way_of(hops_[number], hop.output, {}).neighbour);
  return table.keep(handle, now_ms, hint) ? &hint.mac : nullptr;
}

void Router::forward(const FinishContext& call, std::uint16_t packet, std::uint32_t number,
                     const RouteRewrite& hop, bool is_ipv6) noexcept {
  const auto ip = call.batch.bytes(packet).subspan(packet_walk::kEthernetBytes);
  const auto destination = is_ipv6 ? ip.subspan(ipv6_wire::kDestinationAt, sizeof(Ipv6Bytes))
                                   : ip.subspan(ipv4_wire::kDestinationAt, 4);
  const RouteWay way = way_of(hops_[number], hop.output, destination);
  if (is_ipv6) {
    ipv6_.forward(call, packet, way);
  } else {
    ipv4_.forward(call, packet, way);
  }
}

void Router::end(const FinishContext& call, std::uint16_t packet, RouteReason why) noexcept {
  const std::span<const std::byte> frame = call.batch.bytes(packet);
  const std::uint16_t type = frame.size() < packet_walk::kEthernetBytes
                                 ? std::uint16_t{0}
                                 : FrameBytes{frame.data(), frame.size()}.u16(12);
  if (type == ipv4_wire::kTypeArp) {
    ipv4_.arp(call, packet);
  } else if (type == packet_walk::kTypeIpv6) {
    ipv6_.end(call, packet, why);
  } else if (type == packet_walk::kTypeIpv4) {
    ipv4_.end(call, packet, why);
  } else {
    link_layer(call, packet, type, why);
  }
}

/// To a group, without VLAN tag: LLDP, IS-IS and others that routing daemons speak.
void Router::link_layer(const FinishContext& call, std::uint16_t packet, std::uint16_t type,
                        RouteReason why) noexcept {
  if (type == kTickType && announcer_.tick(call, packet)) return;
  const bool whole = call.batch.length[packet] >= packet_walk::kEthernetBytes;
  const bool to_group = whole && is_group(destination_mac(call.batch, packet));
  const bool tagged = type == 0x8100 || type == 0x88a8 || type == 0x9100;
  if (tagged && vlans_.strip(call.batch, packet, call.facts.port_in)) return;
  if (to_group && !tagged && punt_(call, packet, ports_.at(call.facts.port_in))) return;
  call.batch.drop(packet, call.reason(why));
}

}  // namespace millrace
