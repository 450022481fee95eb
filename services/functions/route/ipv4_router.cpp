// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/ipv4_router.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "services/functions/nat/revert_translation.hpp"
#include "services/functions/nat64/as_sent.hpp"
#include "services/functions/nat64/icmp_counterpart.hpp"
#include "services/functions/nat64/revert_version.hpp"
#include "services/functions/route/ipv4_datagram.hpp"
#include "services/functions/route/ipv6_router.hpp"
#include "services/functions/route/route_finish.hpp"
#include "services/functions/route/route_text.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/ipv4_options.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/tcp_reset.hpp"
#include "shared/packet/udp_checksum.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using ip_protocol::kIcmp, ip_protocol::kTcp, ip_protocol::kUdp;
using ipv4_datagram::datagram_of, ipv4_datagram::destination_of, ipv4_datagram::header_bytes;
using ipv4_datagram::is_fragment, ipv4_datagram::source_of;
using packet_walk::kEthernetBytes;
using packet_walk::kIpv4BytesMin;
constexpr std::uint64_t kDayMs = 86'400'000;
constexpr std::size_t kQuotedBytesMin = 8;  // behind the header (RFC 792)

}  // namespace

void Ipv4Router::forward(const FinishContext& call, std::uint16_t packet,
                         const RouteWay& way) noexcept {
  const Batch& batch = call.batch;
  const RouterPort* const port = ports_.at(way.port);
  const std::span<std::byte> ip = datagram_of(batch, packet);
  if (port == nullptr) {
    batch.drop(packet, Reason::kNoOutput);
    return;
  }
  const std::uint32_t mtu = way.mtu_by(port->mtu);
  const bool too_long = ip.size() > mtu;
  if (too_long && (wire_bytes::u16(ip, 6) & 0x4000) != 0) {
    report(call, packet, icmp_fragmentation_needed(static_cast<std::uint16_t>(mtu)),
           Reason::kOversize);
    return;
  }
  if (header_bytes(ip) != kIpv4BytesMin && !pass_options(call, packet, way.port)) return;
  decrement_ttl(batch.data(packet));
  Departure at{.packet = packet,
               .port = way.port,
               .neighbour = way.neighbour,
               .fragment_to = too_long ? mtu : 0};
  if (way.port == call.facts.port_in) {
    const bool is_ipv4 = way.neighbour.family == NeighbourFamily::kIpv4;
    redirect(call, packet, is_ipv4 ? ipv4_of(way.neighbour) : destination_of(ip));
  }
  switch (hops_.depart(call, at, way.mac)) {
    case NextHops::Found::kMac:
      return;
    case NextHops::Found::kWaits:
      hold_packet(call, at, hops_, this, ipv6_);
      return;
    case NextHops::Found::kFailed:
      report(call, packet, kIcmpHostUnreachable, Reason::kNoNeighbour);
      return;
  }
}

/// RFC 1812 5.2.7.1: host unreachable, when nothing has answered for long enough.
void Ipv4Router::write_held(const FinishContext& call, std::uint16_t packet,
                            HeldDraft& draft) noexcept {
  if (!may_report(call, packet)) return;
  const std::span<const std::byte> ip = datagram_of(call.batch, packet);
  const std::size_t quoted = draft.quote_bytes(
      kIcmpErrorFrontBytes, header_bytes(ip) + kQuotedBytesMin, icmp_quote_bytes(ip.size()));
  if (quoted == 0) return;
  const std::uint32_t sender = source_of(ip);
  MacAddress to = source_mac(call.batch, packet);
  const std::optional<RouteWay> way = answers_.way_to(call, packet, to, sender);
  if (!way || !answers_.knows(call, packet, *way, to)) return;
  if (!limits_.waiting.take(call.facts.now_ns)) return;
  write_icmp_error(draft.front(kIcmpErrorFrontBytes), ip.first(quoted), answers_.port_of(*way).mac,
                   to, answers_.error_source(call, *way, sender).address, sender,
                   kIcmpHostUnreachable);
  draft.finish(kIcmpErrorFrontBytes, ip.first(quoted), way->port);
}

bool Ipv4Router::pass_options(const FinishContext& call, std::uint16_t packet,
                              std::uint8_t port) noexcept {
  const std::span<std::byte> ip = datagram_of(call.batch, packet);
  const std::span<std::byte> header = ip.first(header_bytes(ip));
  Ipv4OptionsVerdict verdict = check_ipv4_options(header);
  if (verdict.result == Ipv4OptionsResult::kChanged) {
    const OwnAddress* const own = ports_.source_at(*ports_.at(port), destination_of(ip));
    const auto ms = static_cast<std::uint32_t>(system_clock_ns() / 1'000'000 % kDayMs);
    verdict = apply_ipv4_options(header, own == nullptr ? 0 : own->address, ms);
  }
  switch (verdict.result) {
    case Ipv4OptionsResult::kProblem:
      report(call, packet, icmp_parameter_problem(verdict.pointer),
             call.reason(RouteReason::kMalformed));
      return false;
    case Ipv4OptionsResult::kSourceRoute:
      report(call, packet, kIcmpSourceRouteFailed, call.reason(RouteReason::kNotForwarded));
      return false;
    case Ipv4OptionsResult::kNothing:
    case Ipv4OptionsResult::kChanged:
      break;
  }
  return true;
}

/// RFC 1812 5.2.7.2: the sender has a better way, on its own network. The packet goes on. What is
/// translated on the way has none: it would go past the translation.
void Ipv4Router::redirect(const FinishContext& call, std::uint16_t packet,
                          std::uint32_t gateway) noexcept {
  const Batch& batch = call.batch;
  const RouterPort* const in = ports_.at(call.facts.port_in);
  const std::span<const std::byte> ip = datagram_of(batch, packet);
  if (in == nullptr || !in->are_together(source_of(ip), gateway)) return;
  if (may_be_translated(call, packet)) return;
  const std::size_t quoted = icmp_quote_bytes(ip.size());
  if (!batch.side.has_room(kIcmpErrorFrontBytes + quoted)) return;
  if (!may_report(call, packet) || !limits_.redirects.take(call.facts.now_ns)) return;
  const std::span<std::byte> to =
      batch.side.add({.packet = packet,
                      .kind = static_cast<std::uint8_t>(SideKind::kSend),
                      .port = call.facts.port_in,
                      .why = static_cast<std::uint8_t>(Reason::kReport)},
                     kIcmpErrorFrontBytes + quoted);
  std::ranges::copy(ip.first(quoted), to.begin() + kIcmpErrorFrontBytes);
  write_icmp_error(to.first(kIcmpErrorFrontBytes), ip.first(quoted), in->mac,
                   source_mac(batch, packet), in->source_for(source_of(ip))->address, source_of(ip),
                   icmp_redirect_host(gateway));
}

/// But for the limit of their rate, which counts what is sent.
bool Ipv4Router::may_report(const FinishContext& call, std::uint16_t packet) const noexcept {
  const RouterPort* const in = ports_.at(call.facts.port_in);
  if (in == nullptr || !ports_.has_ipv4()) return false;
  if (destination_mac(call.batch, packet) != in->mac) return false;  // to a group, or not to us
  if (is_group(source_mac(call.batch, packet))) return false;
  const std::span<const std::byte> ip = datagram_of(call.batch, packet);
  return may_answer_ipv4(ip) && !in->is_broadcast(source_of(ip));
}

bool Ipv4Router::report_as_ipv6(const FinishContext& call, std::uint16_t packet, IcmpError error,
                                Reason otherwise) noexcept {
  const Reverted reverted = revert_version(call, packet);
  if (reverted == Reverted::kNothing) return false;
  const auto said = icmpv6_counterpart(error, 0);
  if (reverted == Reverted::kVersion && said && ipv6_ != nullptr) {
    ipv6_->report(call, packet, *said, otherwise);
  } else {
    call.batch.drop(packet, otherwise);
  }
  return true;
}

void Ipv4Router::report(const FinishContext& call, std::uint16_t packet, IcmpError error,
                        Reason otherwise, std::uint32_t from) noexcept {
  constexpr auto kGrowth = static_cast<std::int32_t>(kIcmpErrorFrontBytes - kEthernetBytes);
  const Batch& batch = call.batch;
  if (report_as_ipv6(call, packet, error, otherwise)) return;
  if (!revert_translation(call, packet) || !may_report(call, packet) ||
      !limits_.of(error).take(call.facts.now_ns)) {
    batch.drop(packet, otherwise);
    return;
  }
  const MacAddress to = source_mac(batch, packet);
  const std::span<const std::byte> ip = datagram_of(batch, packet);
  const std::uint32_t sender = source_of(ip);
  const std::optional<RouteWay> way = answers_.way_to(call, packet, to, sender);
  const std::size_t quoted = icmp_quote_bytes(ip.size());
  const auto cut = static_cast<std::int32_t>(kEthernetBytes + quoted) -
                   static_cast<std::int32_t>(batch.length[packet]);
  if (!way || !batch.grow_back(packet, cut) || !batch.grow_front(packet, kGrowth)) {
    batch.drop(packet, otherwise);
    return;
  }
  const std::span<std::byte> frame = batch.bytes(packet);
  write_icmp_error(frame.first(kIcmpErrorFrontBytes), frame.subspan(kIcmpErrorFrontBytes),
                   answers_.port_of(*way).mac, to,
                   from != 0 ? from : answers_.error_source(call, *way, sender).address, sender,
                   error);
  answers_.send(call, packet, *way, Reason::kReport, otherwise);
}

void Ipv4Router::end(const FinishContext& call, std::uint16_t packet, RouteReason why) noexcept {
  switch (why) {
    case RouteReason::kTtlExpired:
      report(call, packet, kIcmpTimeExceeded, call.reason(why));
      return;
    case RouteReason::kNoRoute:
      report(call, packet, kIcmpNetUnreachable, call.reason(why));
      return;
    case RouteReason::kUnreachable:
      report(call, packet, kIcmpHostUnreachable, call.reason(why));
      return;
    case RouteReason::kProhibited:
      report(call, packet, kIcmpAdminProhibited, call.reason(why));
      return;
    case RouteReason::kOwnAddress:
      deliver(call, packet);
      return;
    case RouteReason::kNotUnicast:
      if (is_of_the_link(call, packet)) {
        deliver(call, packet);
        return;
      }
      if (!is_for_host(call, packet) || !punt_(call, packet, ports_.at(call.facts.port_in))) {
        call.batch.drop(packet, call.reason(why));
      }
      return;
    default:
      call.batch.drop(packet, call.reason(why));
  }
}

/// With an address of RFC 3927, to one of ours on the link: nothing is routed for that.
bool Ipv4Router::is_of_the_link(const FinishContext& call, std::uint16_t packet) const noexcept {
  const RouterPort* const in = ports_.at(call.facts.port_in);
  const std::span<const std::byte> ip = datagram_of(call.batch, packet);
  const std::uint32_t from = source_of(ip), to = destination_of(ip);
  const bool other = never_routed(from) && !is_link_local(from);
  return in != nullptr && in->has_ipv4(to) && !in->has_ipv4(from) && !other &&
         (is_link_local(from) || is_link_local(to));
}

/// To groups of the link (RFC 5771 4) and to all hosts on it: OSPF, VRRP, RIP, DHCP.
bool Ipv4Router::is_for_host(const FinishContext& call, std::uint16_t packet) const noexcept {
  const RouterPort* const in = ports_.at(call.facts.port_in);
  if (call.batch.length[packet] < kEthernetBytes + kIpv4BytesMin) return false;
  const std::span<const std::byte> ip = datagram_of(call.batch, packet);
  const std::uint32_t to = destination_of(ip);
  if (in == nullptr || !is_group(destination_mac(call.batch, packet))) return false;
  if (in->has_ipv4(source_of(ip))) return false;
  return to >> 8 == 0xe00000 || in->is_broadcast(to);
}

/// To an address of ours. Of fragments those of echo requests are put together.
void Ipv4Router::deliver(const FinishContext& call, std::uint16_t packet) noexcept {
  const Batch& batch = call.batch;
  const std::span<const std::byte> ip = datagram_of(batch, packet);
  const RouterPort* const in = ports_.at(call.facts.port_in);
  const auto protocol = wire_bytes::u8(ip, ipv4_wire::kProtocolAt);
  if (in == nullptr || destination_mac(batch, packet) != in->mac) {
    batch.drop(packet, call.reason(RouteReason::kOwnAddress));
    return;
  }
  if (header_bytes(ip) != kIpv4BytesMin &&
      (punt_(call, packet, in) || !pass_options(call, packet, call.facts.port_in))) {
    return;
  }
  const bool fragment = is_fragment(ip);
  if (!fragment && protocol == kIcmp && echo_reply_in_place(batch.bytes(packet))) {
    answers_.reply(call, packet, destination_of(datagram_of(call.batch, packet)));
  } else if (punt_(call, packet, in)) {
    return;
  } else if (fragment && protocol == kIcmp) {
    fragments_.ipv4(call, packet);
  } else if (!fragment && protocol == kTcp) {
    reset(call, packet);
  } else if (fragment || protocol == kIcmp ||
             (protocol == kUdp &&
              !is_good_udp(ip.subspan(header_bytes(ip)), source_of(ip), destination_of(ip)))) {
    batch.drop(packet, call.reason(RouteReason::kOwnAddress));
  } else {  // a port of UDP is closed; other protocols are unknown here
    report(call, packet, protocol == kUdp ? kIcmpPortUnreachable : kIcmpProtocolUnreachable,
           call.reason(RouteReason::kOwnAddress), destination_of(ip));
  }
}

void Ipv4Router::reset(const FinishContext& call, std::uint16_t packet) noexcept {
  const Batch& batch = call.batch;
  const std::span<const std::byte> ip = datagram_of(batch, packet);
  const std::span<const std::byte> segment = ip.subspan(header_bytes(ip));
  const std::uint32_t sender = source_of(ip), ours = destination_of(ip);
  const MacAddress to = source_mac(batch, packet);
  const std::optional<TcpReset> reset = tcp_reset_for(
      segment, pseudo_sum(sender, ours, kTcp, static_cast<std::uint16_t>(segment.size())));
  const auto growth = static_cast<std::int32_t>(kTcpResetFrameBytes) -
                      static_cast<std::int32_t>(batch.length[packet]);
  const Reason otherwise = call.reason(RouteReason::kOwnAddress);
  if (!reset || !may_report(call, packet) || !limits_.others.take(call.facts.now_ns)) {
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

/// For its own MAC address: by an address of the port, or by one that it answers for.
bool Ipv4Router::is_asked(std::uint8_t port, const ArpPacket& arp) const noexcept {
  if (ports_.answers_for(*ports_.at(port), arp.target)) return true;
  // The answer to a question of a router without addresses, which has none to name.
  if (arp.operation == kArpReply && arp.target == 0) return !ports_.has_ipv4();
  // A host that looks for a duplicate of its address (RFC 5227) is none of those it could hide.
  return arp.operation == kArpRequest && arp.sender != 0 && arp.sender != arp.target &&
         proxy_arp_.answers_for(port, arp.target);
}

/// No host has such an address (RFC 1812 4.2.2.11, 5.3.7), or we have it at another port: it is not
/// answered, and nothing is learnt. One that looks for a duplicate has none yet.
bool Ipv4Router::is_no_host(const RouterPort& in, std::uint32_t sender) const noexcept {
  if (sender == 0) return false;
  const bool other_port = ports_.is_own(sender) && !ports_.answers_for(in, sender);
  return (never_routed(sender) && !is_link_local(sender)) || in.is_broadcast(sender) || other_port;
}

namespace {

void tell_conflict(const FinishContext& call, std::uint16_t packet, const ArpPacket& arp) noexcept {
  EventRecord* const record = call.events.emit(EventKind::kAnomaly, packet);
  if (record == nullptr) return;
  record->ip_version = 4;
  wire_bytes::put32(std::as_writable_bytes(std::span(record->source)), 0, arp.sender);
  wire_bytes::put32(std::as_writable_bytes(std::span(record->destination)), 0, arp.target);
  record->anomaly.type = AnomalyType::kAddressConflict;
  record->anomaly.mac = arp.sender_mac;
}

}  // namespace

void Ipv4Router::arp(const FinishContext& call, std::uint16_t packet) noexcept {
  const Batch& batch = call.batch;
  const RouterPort* const in = ports_.at(call.facts.port_in);
  ArpPacket arp{};
  const bool good =
      in != nullptr && parse_arp(batch.bytes(packet), arp) && !is_group(arp.sender_mac) &&
      arp.sender_mac != in->mac &&
      (is_group(destination_mac(batch, packet)) || destination_mac(batch, packet) == in->mac);
  if (!good || call.facts.neighbours == nullptr) {
    batch.drop(packet, call.reason(RouteReason::kNotForwarded));
    return;
  }
  if (is_no_host(*in, arp.sender)) {
    batch.consume(packet, Reason::kControl);
    return;
  }
  const bool for_us = is_asked(call.facts.port_in, arp);
  const bool conflict = ports_.answers_for(*in, arp.sender);
  const bool reply = arp.operation == kArpReply;
  // A gateway may lie outside the port's networks (`onlink`): its answer counts when it was asked.
  const bool may_be_near = in->is_near(arp.sender) || (reply && for_us);
  if (!conflict && arp.sender != 0 && may_be_near) {
    const NeighbourKey key = neighbour_of(call.facts.port_in, arp.sender);
    const bool learnt = call.facts.neighbours->learn(
        key, arp.sender_mac, neighbour_ms(call.facts.now_ns),
        {.only_update = reply || !for_us, .overrides = true, .confirms = reply && for_us});
    if (!learnt && call.events.on() && call.facts.neighbours->contradicts(key, arp.sender_mac) &&
        limits_.others.take(call.facts.now_ns)) {
      tell_conflict(call, packet, arp);
    }
  }
  const bool asks = arp.operation == kArpRequest && for_us && !conflict;
  // An address of ours that another claims is defended at once (RFC 5227 2.4), and told of, at
  // bounded rates.
  const bool told = conflict && limits_.others.take(call.facts.now_ns);
  if (told) tell_conflict(call, packet, arp);
  const bool defends = told && defences_.take(call.facts.port_in, arp.sender, call.facts.now_ns);
  if (!asks && !defends) {
    // The kernel of the host behind has asked as well, or knows the neighbour by another address.
    if (arp.operation == kArpReply && punt_(call, packet, in)) return;
    batch.consume(packet, Reason::kControl);
    return;
  }
  const std::uint32_t ours = asks ? arp.target : arp.sender;
  const ArpPacket answer{.operation = asks ? kArpReply : kArpRequest,
                         .sender_mac = in->mac,
                         .sender = ours,
                         .target_mac = asks ? arp.sender_mac : MacAddress{},
                         .target = asks ? arp.sender : ours};
  write_arp(batch.bytes(packet), in->mac, asks ? arp.sender_mac : kBroadcastMac, answer);
  batch.finish(packet, call.facts.port_in, Reason::kReply);
}

}  // namespace millrace
