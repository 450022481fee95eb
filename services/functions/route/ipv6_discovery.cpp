// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/ipv6_discovery.hpp"

#include "services/functions/route/ipv4_datagram.hpp"
#include "services/functions/route/next_hops.hpp"
#include "services/functions/route/route_reason.hpp"

namespace millrace {

/// Another host says that `claimed` is its address. At a bounded rate.
void Ipv6Discovery::tell_conflict(const FinishContext& call, std::uint16_t packet,
                                  const NeighbourMessage& message,
                                  const Ipv6Bytes& claimed) noexcept {
  const MacAddress from = message.has_mac ? message.mac : source_mac(call.batch, packet);
  const RouterPort& in = *ports_.at(call.facts.port_in);
  if (!call.events.on() || from == in.mac || !limit_.take(call.facts.now_ns)) return;
  EventRecord* const record = call.events.emit(EventKind::kAnomaly, packet);
  if (record == nullptr) return;
  record->source = claimed;
  record->anomaly.type = AnomalyType::kAddressConflict;
  record->anomaly.mac = from;
}

/// What `message` says of the neighbour `address`, which it names the MAC address of.
void Ipv6Discovery::learn(const FinishContext& call, std::uint16_t packet,
                          const NeighbourMessage& message, const Ipv6Bytes& address,
                          NeighbourNews news) noexcept {
  const NeighbourTableView& table = *call.facts.neighbours;
  const NeighbourKey key = neighbour_of(call.facts.port_in, address);
  if (table.learn(key, message.mac, neighbour_ms(call.facts.now_ns), news)) return;
  if (table.contradicts(key, message.mac)) tell_conflict(call, packet, message, address);
}

/// The neighbour has answered without its MAC address, which is known: it need not say it in an
/// answer to a unicast question (RFC 4861 4.4, 7.2.5). One that is not known stays so. The answer
/// to the last question counts however late it comes: at a time before all proofs no look-up gives
/// the neighbour up, or takes the turn to ask.
void Ipv6Discovery::confirm(const FinishContext& call, const Ipv6Bytes& address) noexcept {
  constexpr std::uint64_t kBeforeAllMs = 1;
  const NeighbourTableView& table = *call.facts.neighbours;
  const NeighbourKey key = neighbour_of(call.facts.port_in, address);
  const NeighbourHandle known = table.find(key);
  if (!known.found() || !table.is_ready(known)) return;
  const NeighbourAnswer answer = table.look_up(known, kBeforeAllMs);
  if (answer.has_mac()) {
    table.learn(key, answer.mac, neighbour_ms(call.facts.now_ns),
                {.only_update = true, .overrides = false, .confirms = true});
  }
}

bool Ipv6Discovery::take(const FinishContext& call, std::uint16_t packet) noexcept {
  const Batch& batch = call.batch;
  const RouterPort* const in = ports_.at(call.facts.port_in);
  NeighbourMessage message;
  if (advertiser_.answer(call, packet)) return true;
  if (in == nullptr || !in->speaks_ipv6 || call.facts.neighbours == nullptr) return false;
  if (!parse_neighbour(batch.bytes(packet), message) || is_loopback(message.source)) return false;
  const bool for_us = in->has_ipv6(message.target);
  if (message.advertisement) {
    if (!for_us && message.has_mac) {
      learn(call, packet, message, message.target,
            {.only_update = true, .overrides = message.override_, .confirms = message.solicited});
    }
    if (!for_us && !message.has_mac && message.solicited) confirm(call, message.target);
    if (for_us) tell_conflict(call, packet, message, message.target);
    // The kernel of the host behind asks as well.
    if (!punt_(call, packet, in)) batch.consume(packet, Reason::kControl);
    return true;
  }
  if (!for_us && !in->is_anycast(message.target)) {
    batch.consume(packet, Reason::kControl);
    return true;
  }
  const bool probe = is_unspecified(message.source);
  if (!probe && message.has_mac && in->is_near(message.source)) {
    learn(call, packet, message, message.source, {.only_update = false, .overrides = true});
  }
  const MacAddress to = probe             ? multicast_mac(kIpv6AllNodes)
                        : message.has_mac ? message.mac
                                          : source_mac(batch, packet);
  answer(call, packet, message.source, message.target, to);
  return true;
}

/// The answer to a probe (RFC 4862) goes to all nodes. Of an anycast address another router may
/// have answered, and its answer stays (RFC 4861 7.2.7).
void Ipv6Discovery::answer(const FinishContext& call, std::uint16_t packet, const Ipv6Bytes& asker,
                           const Ipv6Bytes& target, const MacAddress& to) noexcept {
  const Batch& batch = call.batch;
  const RouterPort& in = *ports_.at(call.facts.port_in);
  const auto growth =
      static_cast<std::int32_t>(kNeighbourFrameBytes) - std::int32_t{batch.length[packet]};
  if (!batch.grow_back(packet, growth)) {
    batch.drop(packet, call.reason(RouteReason::kNotUnicast));
    return;
  }
  const bool probe = is_unspecified(asker);
  const bool anycast = !in.has_ipv6(target);
  write_advertisement(batch.bytes(packet), in.mac, to, anycast ? *in.source_for(target) : target,
                      probe ? kIpv6AllNodes : asker, target, true, !probe, !anycast);
  batch.finish(packet, call.facts.port_in, Reason::kReply);
}

}  // namespace millrace
