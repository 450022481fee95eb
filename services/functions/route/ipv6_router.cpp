// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/ipv6_router.hpp"

#include <algorithm>
#include <optional>

#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/nat/revert_translation.hpp"
#include "services/functions/nat64/as_sent.hpp"
#include "services/functions/nat64/icmp_counterpart.hpp"
#include "services/functions/nat64/revert_version.hpp"
#include "services/functions/route/ipv4_datagram.hpp"
#include "services/functions/route/ipv4_router.hpp"
#include "services/functions/route/ipv6_plain.hpp"
#include "services/functions/route/route_finish.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/ipv6_extensions.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/tcp_reset.hpp"
#include "shared/packet/udp_checksum.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using ip_protocol::kHopByHop, ip_protocol::kIcmpv6, ip_protocol::kNoNextHeader;
using ip_protocol::kTcp, ip_protocol::kUdp;
using ipv6_wire::kFragmentBytes, ipv6_wire::kPayloadLengthAt;
using packet_walk::kEthernetBytes;
using packet_walk::kIpv6Bytes;
constexpr std::size_t kPayloadBytesMax = 65'535;
constexpr std::size_t kQuotedBytesMin = 8;  // ports, and the number of a segment of TCP

/// From the IPv6 header to the end by its payload length.
std::span<std::byte> packet_of(const Batch& batch, std::uint16_t packet) noexcept {
  const std::span<std::byte> ip = batch.bytes(packet).subspan(kEthernetBytes);
  return ip.first(std::min(ip.size(), kIpv6Bytes + wire_bytes::u16(ip, kPayloadLengthAt)));
}

Ipv6Bytes ipv6_source(std::span<const std::byte> ip) noexcept {
  return wire_bytes::array_at<Ipv6Bytes>(ip, ipv6_wire::kSourceAt);
}
Ipv6Bytes ipv6_destination(std::span<const std::byte> ip) noexcept {
  return wire_bytes::array_at<Ipv6Bytes>(ip, ipv6_wire::kDestinationAt);
}

/// One of several fragments; an atomic fragment (RFC 6946) is none.
bool is_part(std::span<const std::byte> ip, const Ipv6Extensions& chain) noexcept {
  return chain.fragment_at != 0 && (wire_bytes::u16(ip, chain.fragment_at + 2u) & 0xfff9) != 0;
}

/// Of a packet to us options on the way are looked at first, as they stand first.
const Ipv6Problem& problem_of(const Ipv6Extensions& chain) noexcept {
  return chain.router_problem.action == Ipv6Problem::Action::kNone ? chain.receiver_problem
                                                                   : chain.router_problem;
}

/// An echo request is the reply to it afterwards; behind extension headers only when `alone`, as
/// the host behind the port answers these. Another packet may have lost its extension headers.
bool becomes_reply(const Batch& batch, std::uint16_t packet, const Ipv6Extensions& chain,
                   bool alone) noexcept {
  if (echo_reply_in_place_ipv6(batch.bytes(packet), nullptr)) return true;
  return alone && take_extensions_out(batch, packet, chain) &&
         echo_reply_in_place_ipv6(batch.bytes(packet), nullptr);
}

}  // namespace

void Ipv6Router::forward(const FinishContext& call, std::uint16_t packet,
                         const RouteWay& way) noexcept {
  const Batch& batch = call.batch;
  const RouterPort* const port = ports_.at(way.port);
  const std::span<const std::byte> ip = packet_of(batch, packet);
  if (port == nullptr) {
    batch.drop(packet, Reason::kNoOutput);
    return;
  }
  if (wire_bytes::u8(ip, ipv6_wire::kNextHeaderAt) == kHopByHop && !pass_options(call, packet))
    return;
  const bool splits =
      call.flows != nullptr && call.flows->splits(packet) && ip.size() > ipv6_wire::kMtuMin;
  const std::uint32_t mtu = way.mtu_by(port->mtu);
  if (ip.size() > mtu && !splits) {
    report(call, packet, Icmpv6Error::packet_too_big(mtu), Reason::kOversize);
    return;
  }
  const Departure at{.packet = packet,
                     .port = way.port,
                     .neighbour = way.neighbour,
                     .fragment_to = splits ? std::uint32_t{ipv6_wire::kMtuMin} : 0};
  if (way.port == call.facts.port_in) redirect(call, at, way);
  decrement_hop_limit(batch.data(packet));
  switch (hops_.depart(call, at, way.mac)) {
    case NextHops::Found::kMac:
      return;
    case NextHops::Found::kWaits:
      hold_packet(call, at, hops_, ipv4_, this);
      return;
    case NextHops::Found::kFailed:
      report(call, packet, Icmpv6Error::address_unreachable(), Reason::kNoNeighbour);
      return;
  }
}

/// RFC 4861 8.2: the sender, a neighbour, has a better way on its own link: to the destination
/// itself, or to a router with a link-local address that is known here. The packet goes on. As for
/// IPv4, there is none about what is translated.
void Ipv6Router::redirect(const FinishContext& call, const Departure& at,
                          const RouteWay& way) noexcept {
  const Batch& batch = call.batch;
  const RouterPort* const in = ports_.at(call.facts.port_in);
  const std::span<const std::byte> ip = packet_of(batch, at.packet);
  const Ipv6Bytes sender = ipv6_source(ip), destination = ipv6_destination(ip);
  const bool is_given = way.neighbour.family != NeighbourFamily::kIpv6;
  NeighbourRedirect better{.target = is_given ? destination : way.neighbour.address,
                           .destination = destination};
  if (in == nullptr || !in->is_near(sender) || may_be_translated(call, at.packet)) return;
  if (better.target == destination ? is_given && !in->is_near(destination)
                                   : !is_link_local(better.target)) {
    return;
  }
  MacAddress mac = way.mac;
  const NextHops::Found found = is_given ? NextHops::Found::kMac : hops_.find(call, at, mac);
  if (found == NextHops::Found::kFailed) return;
  if (found == NextHops::Found::kMac) better.target_mac = &mac;
  const std::size_t front = redirect_front_bytes(better);
  const std::size_t quoted = redirect_quote_bytes(better, ip.size());
  if (!batch.side.has_room(front + quoted)) return;
  // None about what no error is sent about either (RFC 4443 2.4 (e)); at a bounded rate.
  if (!may_report(call, at.packet, {}) || !limits_.redirects.take(call.facts.now_ns)) return;
  const std::span<std::byte> to =
      batch.side.add({.packet = at.packet,
                      .kind = static_cast<std::uint8_t>(SideKind::kSend),
                      .port = call.facts.port_in,
                      .why = static_cast<std::uint8_t>(Reason::kReport)},
                     front + quoted);
  std::ranges::copy(ip.first(quoted), to.begin() + static_cast<std::ptrdiff_t>(front));
  write_redirect(to.first(front), ip.first(quoted), in->mac, source_mac(batch, at.packet),
                 in->link_local, sender, better);
}

/// Hop-by-hop options are a router's to look at (RFC 8200 4.3).
bool Ipv6Router::pass_options(const FinishContext& call, std::uint16_t packet) noexcept {
  const Ipv6Problem problem = walk_extensions(packet_of(call.batch, packet)).router_problem;
  switch (problem.action) {
    case Ipv6Problem::Action::kNone:
      return true;
    case Ipv6Problem::Action::kDiscard:
      call.batch.drop(packet, call.reason(RouteReason::kNotForwarded));
      return false;
    case Ipv6Problem::Action::kAnswer:
      report(call, packet, {4, problem.code, problem.pointer},
             call.reason(RouteReason::kMalformed));
      return false;
  }
  return true;
}

void Ipv6Router::write_held(const FinishContext& call, std::uint16_t packet, Icmpv6Error error,
                            HeldDraft& draft) noexcept {
  if (!may_report(call, packet, error)) return;
  const std::span<const std::byte> ip = packet_of(call.batch, packet);
  const std::size_t quoted = draft.quote_bytes(kIcmpv6ErrorFrontBytes, kIpv6Bytes + kQuotedBytesMin,
                                               icmpv6_quote_bytes(ip.size()));
  if (quoted == 0) return;
  const Ipv6Bytes sender = ipv6_source(ip);
  MacAddress to = source_mac(call.batch, packet);
  const std::optional<RouteWay> way = answers_.way_to(call, packet, to, sender);
  if (!way || !answers_.knows(call, packet, *way, to)) return;
  if (!limits_.waiting.take(call.facts.now_ns)) return;
  write_icmpv6_error(draft.front(kIcmpv6ErrorFrontBytes), ip.first(quoted),
                     answers_.port_of(*way).mac, to, answers_.error_source(call, *way, sender),
                     sender, error);
  draft.finish(kIcmpv6ErrorFrontBytes, ip.first(quoted), way->port);
}

bool Ipv6Router::may_report(const FinishContext& call, std::uint16_t packet,
                            Icmpv6Error error) const noexcept {
  const RouterPort* const in = ports_.at(call.facts.port_in);
  if (in == nullptr || !in->speaks_ipv6) return false;
  if (destination_mac(call.batch, packet) != in->mac) return false;
  if (is_group(source_mac(call.batch, packet))) return false;
  const bool also_to_groups = error.type == 2 || (error.type == 4 && error.code == 2);
  return may_answer_ipv6(packet_of(call.batch, packet), also_to_groups);
}

bool Ipv6Router::report_as_ipv4(const FinishContext& call, std::uint16_t packet, Icmpv6Error error,
                                Reason otherwise) noexcept {
  const Reverted reverted = revert_version(call, packet);
  if (reverted == Reverted::kNothing) return false;
  const bool is_too_big = error == Icmpv6Error::packet_too_big(error.rest);
  if (is_too_big && parse_headers(call.batch.bytes(packet)).fragment) error.rest -= kFragmentBytes;
  const auto said = icmp_counterpart(error);
  if (reverted == Reverted::kVersion && said && ipv4_ != nullptr) {
    ipv4_->report(call, packet, *said, otherwise);
  } else {
    call.batch.drop(packet, otherwise);
  }
  return true;
}

void Ipv6Router::report(const FinishContext& call, std::uint16_t packet, Icmpv6Error error,
                        Reason otherwise, const Ipv6Bytes* from) noexcept {
  constexpr auto kGrowth = static_cast<std::int32_t>(kIcmpv6ErrorFrontBytes - kEthernetBytes);
  const Batch& batch = call.batch;
  if (report_as_ipv4(call, packet, error, otherwise)) return;
  if (!revert_translation(call, packet) || !may_report(call, packet, error) ||
      !limits_.of(error).take(call.facts.now_ns)) {
    batch.drop(packet, otherwise);
    return;
  }
  const MacAddress to = source_mac(batch, packet);
  const std::span<const std::byte> ip = packet_of(batch, packet);
  const Ipv6Bytes sender = ipv6_source(ip);
  const std::optional<RouteWay> way = answers_.way_to(call, packet, to, sender);
  const std::size_t quoted = icmpv6_quote_bytes(ip.size());
  const auto cut = static_cast<std::int32_t>(kEthernetBytes + quoted) -
                   static_cast<std::int32_t>(batch.length[packet]);
  if (!way || !batch.grow_back(packet, cut) || !batch.grow_front(packet, kGrowth)) {
    batch.drop(packet, otherwise);
    return;
  }
  const std::span<std::byte> frame = batch.bytes(packet);
  write_icmpv6_error(frame.first(kIcmpv6ErrorFrontBytes), frame.subspan(kIcmpv6ErrorFrontBytes),
                     answers_.port_of(*way).mac, to,
                     from != nullptr ? *from : answers_.error_source(call, *way, sender), sender,
                     error);
  answers_.send(call, packet, *way, Reason::kReport, otherwise);
}

void Ipv6Router::end(const FinishContext& call, std::uint16_t packet, RouteReason why) noexcept {
  const Batch& batch = call.batch;
  if (batch.length[packet] < kEthernetBytes + kIpv6Bytes) {
    batch.drop(packet, call.reason(why));
    return;
  }
  switch (why) {
    case RouteReason::kTtlExpired:
      report(call, packet, Icmpv6Error::hop_limit_exceeded(), call.reason(why));
      return;
    case RouteReason::kNoRoute:
    case RouteReason::kUnreachable:
      report(call, packet, Icmpv6Error::no_route(), call.reason(why));
      return;
    case RouteReason::kProhibited:
      report(call, packet, Icmpv6Error::admin_prohibited(), call.reason(why));
      return;
    case RouteReason::kOwnAddress:
      deliver(call, packet);
      return;
    case RouteReason::kNotUnicast:
      end_not_unicast(call, packet);
      return;
    default:
      batch.drop(packet, call.reason(why));
  }
}

/// Neighbour discovery, the link-local address of the port, groups that a router is in (RFC 4291
/// 2.8), and what may not leave its link (RFC 4443 3.1).
void Ipv6Router::end_not_unicast(const FinishContext& call, std::uint16_t packet) noexcept {
  const Batch& batch = call.batch;
  const RouterPort* const in = ports_.at(call.facts.port_in);
  const std::span<const std::byte> ip = packet_of(batch, packet);
  const Ipv6Bytes source = ipv6_source(ip), destination = ipv6_destination(ip);
  if (discovery_.take(call, packet)) return;
  if (in == nullptr || !in->speaks_ipv6) {
    batch.drop(packet, call.reason(RouteReason::kNotUnicast));
    return;
  }
  if (groups_.answer(call, packet)) return;
  if (in->has_ipv6(destination)) {
    deliver(call, packet);
  } else if ((destination == kIpv6AllNodes || destination == kIpv6AllRouters) &&
             echo_reply_in_place_ipv6(batch.bytes(packet), in->source_for(source), &in->mac)) {
    answers_.reply(call, packet, ipv6_destination(packet_of(call.batch, packet)));
  } else if (is_link_local(source) && !is_multicast(destination) && !is_link_local(destination)) {
    if (ports_.is_own(destination)) {  // at another port: it has come to its end here
      deliver(call, packet);
      return;
    }
    report(call, packet, Icmpv6Error::beyond_scope(), call.reason(RouteReason::kNotUnicast));
  } else if (!is_for_host(call, packet) || !punt_(call, packet, in)) {
    batch.drop(packet, call.reason(RouteReason::kNotUnicast));
  }
}

/// To groups of the link (RFC 4291 2.7): OSPF, RIP, router advertisements, DHCP.
bool Ipv6Router::is_for_host(const FinishContext& call, std::uint16_t packet) const noexcept {
  const std::span<const std::byte> ip = packet_of(call.batch, packet);
  const RouterPort* const in = ports_.at(call.facts.port_in);
  const Ipv6Bytes to = ipv6_destination(ip);
  if (in == nullptr || !is_group(destination_mac(call.batch, packet))) return false;
  return to[0] == 0xff && (to[1] & 15) == 2 && !in->has_ipv6(ipv6_source(ip));
}

/// To an address of ours, the link-local one among them.
void Ipv6Router::deliver(const FinishContext& call, std::uint16_t packet) noexcept {
  const Batch& batch = call.batch;
  const std::span<const std::byte> ip = packet_of(batch, packet);
  const RouterPort* const in = ports_.at(call.facts.port_in);
  if (in == nullptr || destination_mac(batch, packet) != in->mac) {
    batch.drop(packet, call.reason(RouteReason::kOwnAddress));
    return;
  }
  if (discovery_.take(call, packet)) return;
  const Ipv6Extensions chain = walk_extensions(ip);
  const Ipv6Bytes ours = ipv6_destination(ip);
  const bool is_icmp = chain.end == Ipv6ChainEnd::kUpper && chain.upper_protocol == kIcmpv6;
  const bool part = is_part(ip, chain);
  const Ipv6Problem& problem = problem_of(chain);
  if (problem.action == Ipv6Problem::Action::kAnswer) {
    report(call, packet, {4, problem.code, problem.pointer}, call.reason(RouteReason::kMalformed),
           &ours);
  } else if (is_icmp && !part && problem.action == Ipv6Problem::Action::kNone &&
             becomes_reply(batch, packet, chain, in->host < 0)) {
    answers_.reply(call, packet, ipv6_destination(packet_of(call.batch, packet)));
  } else if (punt_(call, packet, in)) {
    return;
  } else if (part) {
    put_together(call, packet, chain.fragment_at);
  } else if (is_icmp || problem.action != Ipv6Problem::Action::kNone ||
             chain.end != Ipv6ChainEnd::kUpper || chain.upper_protocol == kNoNextHeader ||
             (chain.upper_protocol == kUdp &&
              !is_good_udp(ip.subspan(chain.upper_offset), ipv6_source(ip), ours))) {
    batch.drop(packet, call.reason(RouteReason::kOwnAddress));
  } else if (chain.upper_protocol == kTcp) {
    reset(call, packet, chain.upper_offset);
  } else if (chain.upper_protocol == kUdp) {
    report(call, packet, Icmpv6Error::port_unreachable(), call.reason(RouteReason::kOwnAddress),
           &ours);
  } else {
    report(call, packet, Icmpv6Error::unknown_next_header(chain.upper_named_at),
           call.reason(RouteReason::kOwnAddress), &ours);
  }
}

/// RFC 8200 4.5: fragments that are wrong by themselves are reported. Of others those of echo
/// requests are put together.
void Ipv6Router::put_together(const FinishContext& call, std::uint16_t packet,
                              std::size_t fragment_at) noexcept {
  const std::span<const std::byte> ip = packet_of(call.batch, packet);
  const Ipv6Bytes ours = ipv6_destination(ip);
  const std::uint16_t field = wire_bytes::u16(ip, fragment_at + 2);
  const std::size_t bytes = ip.size() - fragment_at - kFragmentBytes;
  const bool uneven = (field & 1) != 0 && bytes % 8 != 0;
  if (uneven || (field & 0xfff8u) + bytes > kPayloadBytesMax) {
    const std::size_t wrong_at = uneven ? kPayloadLengthAt : fragment_at + 2;
    report(call, packet, Icmpv6Error::erroneous_field(static_cast<std::uint32_t>(wrong_at)),
           call.reason(RouteReason::kBadFragment), &ours);
    return;
  }
  if (wire_bytes::u8(ip, fragment_at) != kIcmpv6) {
    call.batch.drop(packet, call.reason(RouteReason::kOwnAddress));
    return;
  }
  fragments_.ipv6(call, packet, fragment_at);
}

void Ipv6Router::reset(const FinishContext& call, std::uint16_t packet,
                       std::size_t segment_at) noexcept {
  const Batch& batch = call.batch;
  const std::span<const std::byte> ip = packet_of(batch, packet);
  const std::span<const std::byte> segment = ip.subspan(segment_at);
  const Ipv6Bytes sender = ipv6_source(ip), ours = ipv6_destination(ip);
  const MacAddress to = source_mac(batch, packet);
  const std::uint16_t pseudo =
      pseudo_sum(std::as_bytes(std::span(sender)), std::as_bytes(std::span(ours)), kTcp,
                 static_cast<std::uint32_t>(segment.size()));
  const std::optional<TcpReset> reset = tcp_reset_for(segment, pseudo);
  const auto growth = static_cast<std::int32_t>(kTcpResetIpv6FrameBytes) -
                      static_cast<std::int32_t>(batch.length[packet]);
  const Reason otherwise = call.reason(RouteReason::kOwnAddress);
  if (!reset || !may_report(call, packet, Icmpv6Error::port_unreachable()) ||
      !limits_.others.take(call.facts.now_ns)) {
    batch.drop(packet, otherwise);
    return;
  }
  const std::optional<RouteWay> way = answers_.way_to(call, packet, to, sender);
  if (!way || !batch.grow_back(packet, growth)) {
    batch.drop(packet, otherwise);
    return;
  }
  const MacAddress& from = answers_.port_of(*way).mac;
  write_tcp_reset(batch.bytes(packet), from, to, ours, sender, *reset);
  answers_.send(call, packet, *way, Reason::kReply, otherwise);
}

}  // namespace millrace
