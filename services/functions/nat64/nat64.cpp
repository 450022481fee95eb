// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/nat64.hpp"

#include <memory>
#include <optional>

#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/flow/flow_entry.hpp"
#include "services/functions/function_rows.hpp"
#include "services/functions/nat/lane_pool.hpp"
#include "services/functions/nat/nat_address.hpp"
#include "services/functions/nat/nat_sides.hpp"
#include "services/functions/nat64/nat64_settings.hpp"
#include "services/functions/nat64/put_front.hpp"
#include "services/functions/nat64/version_change.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/random_secret.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using ip_protocol::kIcmp, ip_protocol::kIcmpv6, ip_protocol::kTcp, ip_protocol::kUdp;
constexpr std::uint16_t kEcho = 8, kEcho6 = 128;

constexpr DeclaredReason kNat64Reasons[] = {
    {"nat64_no_mapping", ReasonCause::kPolicy,
     "to a pool address that stands for no host there, or of no connection that can be translated"},
    {"nat64_address", ReasonCause::kPolicy,
     "between hosts of which one has an IPv4 address that the prefix does not stand for"},
    {"nat64_untranslatable", ReasonCause::kPacket,
     "that the other IP version has no packet for: source routes, fragments of ICMP"},
    {"nat64_ports_exhausted", ReasonCause::kLoss,
     "of a connection that began: no outside port, or no room for it"},
    {"nat64_host_limit", ReasonCause::kPolicy,
     "of a connection that began: the host has `host_limit` mappings"}};

/// The other end of a flow: a host of IPv4.
std::uint32_t remote_of(const FlowTuple& tuple, const FlowTuple& answer) noexcept {
  return nat_address(tuple.version == 4 ? tuple.source : answer.source);
}

class Nat64 final : public Function {
 public:
  explicit Nat64(const FunctionContext& context)
      : settings_(nat64_settings(context.function.settings)),
        sides_(settings_.nat, context.ports),
        lanes_(settings_.nat),
        identification_(static_cast<std::uint16_t>(random_secret()[0])) {}

  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}

  void finish(const FinishContext& call) noexcept override {
    std::optional<PortPool> pool = lanes_.pool_of(call.state, call.facts);
    for (const std::uint16_t packet : call.selected.packets) {
      const PacketHeaders headers = parse_headers(call.batch.bytes(packet));
      if (!is_for_us(call, packet, headers)) continue;
      const PacketFlow at = call.flows == nullptr ? PacketFlow{} : call.flows->of(packet);
      if (at.flow == kNoFlow) {
        drop(call, packet, Nat64Reason::kNoMapping);
        continue;
      }
      const bool begins = at.direction == 0 && call.flows->is_new(at.flow);
      if (begins && !begin(call, pool, packet, at.flow)) continue;
      translate(call, packet, headers, at);
    }
  }

  void flow_ended(const StateOfFunction& own, const FlowEntry& flow) noexcept override {
    if (flow.own.nat == 0 || flow.tuple.version == flow.answer.version) return;
    if (std::optional<PortPool> pool = lanes_.laid_out(own.state)) {
      notes_of(own.events, own.counters)
          .unmap(*pool, flow.own.nat - 1, remote_of(flow.tuple, flow.answer));
    }
  }

 private:
  /// From inside to an address that stands for one of IPv4; from outside to the pool.
  bool is_for_us(const FinishContext& call, std::uint16_t packet,
                 const PacketHeaders& headers) const noexcept {
    const auto ip = call.batch.bytes(packet).subspan(headers.network_offset);
    if (sides_.is_inside(call.facts.port_in)) {
      return headers.ip_version == 6 && settings_.prefix.has_prefix(wire_bytes::array_at<Ipv6Bytes>(
                                            ip, ipv6_wire::kDestinationAt));
    }
    return headers.ip_version == 4 &&
           sides_.in_pool(wire_bytes::u32(ip, ipv4_wire::kDestinationAt));
  }

  PoolNotes notes_of(const EventWriter& events, const FunctionCounters& counters) const noexcept {
    return {settings_.nat.log, events, counters, 6};
  }

  static bool drop(const FinishContext& call, std::uint16_t packet, Nat64Reason why) noexcept {
    call.batch.drop(packet, call.reason(why));
    return false;
  }
  static void hit(const FinishContext& call, Nat64Counter counter) noexcept {
    call.counters.hit(static_cast<std::size_t>(counter));
  }

  /// A host of IPv4 that the prefix may stand for (RFC 6052 3.1). An address of the pool stands for
  /// hosts inside, and packets between these are not translated.
  bool may_stand_for(std::uint32_t address) const noexcept {
    if (is_no_host_ipv4(address) || sides_.is_own(address) || sides_.in_pool(address)) return false;
    return settings_.has_private || !is_private_ipv4(address);
  }

  /// What becomes of a new flow. False: its packet is dropped.
  bool begin(const FinishContext& call, std::optional<PortPool>& pool, std::uint16_t packet,
             std::uint32_t flow) noexcept {
    if (!pool) return drop(call, packet, Nat64Reason::kNoMapping);
    if (sides_.is_inside(call.facts.port_in)) return begin_inside(call, *pool, packet, flow);
    return begin_outside(call, *pool, packet, flow);
  }

  bool begin_inside(const FinishContext& call, PortPool& pool, std::uint16_t packet,
                    std::uint32_t flow) noexcept {
    const FlowTuple tuple = call.flows->tuple(flow, 0);
    const std::optional<std::uint32_t> to = settings_.prefix.ipv4_of(tuple.destination);
    if (!to || !may_stand_for(*to)) return drop(call, packet, Nat64Reason::kAddress);
    // No host has an address of the prefix: such a packet has been translated (RFC 6146 3.5).
    if (settings_.prefix.has_prefix(tuple.source)) return drop(call, packet, Nat64Reason::kAddress);
    const bool echo = tuple.protocol == kIcmpv6 && tuple.destination_port == kEcho6;
    if (!echo && tuple.protocol != kTcp && tuple.protocol != kUdp) {
      return drop(call, packet, Nat64Reason::kNoMapping);
    }
    FlowTuple sent{.source = tuple.source,
                   .destination = nat_bytes(*to),
                   .source_port = tuple.source_port,
                   .destination_port = echo ? kEcho : tuple.destination_port,
                   .protocol = echo ? kIcmp : tuple.protocol,
                   .version = 4};
    const PortPool::Opening opened = pool.map(sent);
    if (opened.what == PortPool::Opened::kHostLimit) {
      return drop(call, packet, Nat64Reason::kHostLimit);
    }
    if (opened.what != PortPool::Opened::kDone) {
      return drop(call, packet, Nat64Reason::kPortsExhausted);
    }
    notes_of(call.events, call.counters).opened(tuple, opened);
    sent.source = nat_bytes(opened.address);
    sent.source_port = opened.port;
    return keep(call, pool, packet, flow, reversed(sent), opened.mapping);
  }

  bool begin_outside(const FinishContext& call, PortPool& pool, std::uint16_t packet,
                     std::uint32_t flow) noexcept {
    const FlowTuple tuple = call.flows->tuple(flow, 0);
    const std::uint32_t from = nat_address(tuple.source);
    if (!may_stand_for(from)) return drop(call, packet, Nat64Reason::kAddress);
    if (tuple.protocol != kTcp && tuple.protocol != kUdp) {
      return drop(call, packet, Nat64Reason::kNoMapping);
    }
    const std::optional<PortPool::Inside> inside = pool.enter(tuple);
    if (!inside) return drop(call, packet, Nat64Reason::kNoMapping);
    const FlowTuple answer{.source = inside->address,
                           .destination = settings_.prefix.of(from),
                           .source_port = inside->port,
                           .destination_port = tuple.source_port,
                           .protocol = tuple.protocol,
                           .version = 6};
    return keep(call, pool, packet, flow, answer, inside->mapping);
  }

  /// The flow has its place in the table, or its mapping goes again.
  bool keep(const FinishContext& call, PortPool& pool, std::uint16_t packet, std::uint32_t flow,
            const FlowTuple& answer, std::uint32_t mapping) const noexcept {
    if (call.flows->translate(flow, answer) == FlowBatch::Translated::kDone) {
      call.flows->change_own(flow).nat = mapping + 1;  // 0: none
      hit(call, Nat64Counter::kMappings);
      return true;
    }
    notes_of(call.events, call.counters)
        .unmap(pool, mapping, remote_of(call.flows->tuple(flow, 0), answer));
    return drop(call, packet, Nat64Reason::kPortsExhausted);
  }

  void translate(const FinishContext& call, std::uint16_t packet, const PacketHeaders& headers,
                 PacketFlow at) noexcept {
    const VersionChange change{
        .has = call.flows->tuple(at.flow, at.direction),
        .gets = reversed(call.flows->tuple(at.flow, static_cast<std::uint8_t>(1 - at.direction))),
        .identification = identification_++};
    const std::span<std::byte> frame = call.batch.bytes(packet);
    const bool error = at.state == FlowState::kRelated;
    NewFront front;
    const Changed changed = error ? change_version_of_error(frame, headers, change,
                                                            reporter(frame, headers, change), front)
                                  : change_version(frame, headers, change, front);
    if (changed == Changed::kUnknown) {
      drop(call, packet, Nat64Reason::kUntranslatable);
    } else if (changed == Changed::kMalformed) {
      call.batch.drop(packet, Reason::kMalformed);
    } else if (!put_front(call.batch, packet, front)) {
      call.batch.drop(packet, Reason::kOversize);
    } else {
      hit(call, change.gets.version == 4 ? Nat64Counter::kToIpv4 : Nat64Counter::kToIpv6);
      if (error) hit(call, Nat64Counter::kErrors);
      if (front.splits) call.flows->let_split(packet);
    }
  }

  /// Where an error comes from on the other side: the prefix stands for routers of IPv4; those of
  /// IPv6 have no IPv4 address but the host's (RFC 6146 3.5.3).
  Ipv6Bytes reporter(std::span<const std::byte> frame, const PacketHeaders& headers,
                     const VersionChange& change) const noexcept {
    if (headers.ip_version == 6) return change.gets.source;
    return settings_.prefix.of(
        wire_bytes::u32(frame, headers.network_offset + ipv4_wire::kSourceAt));
  }

  Nat64Settings settings_;
  NatSides sides_;
  LanePool lanes_;
  std::uint16_t identification_;
};

LaneNeeds needs_of(const LaneRequest& request) {
  return LanePool::needs_of(nat64_settings(request.settings).nat, request);
}

}  // namespace

FunctionType nat64_type() {
  FunctionType type;
  type.traits = {.type = "nat64",
                 .summary = "translates between hosts of IPv6 inside and hosts of IPv4 outside",
                 .regions = kReadsHeaders,
                 .stateful = true,
                 .lane_needs = needs_of,
                 .flows = FlowUse::kNeeds,
                 .counter_count = static_cast<std::uint32_t>(Nat64Counter::kCount),
                 .reasons = kNat64Reasons,
                 .rewrites = Rewrites::kAll,
                 // No `growth`: `route` behind it reports packets that are too long now.
                 .headroom = NewFront::kGrowthMax,
                 .settings = known_nat64_settings()};
  type.make = make_function<Nat64>;
  type.build = nullptr;
  type.check = [](const PlanFunction& function) { nat64_settings(function.settings); };
  type.translation = nat64_translation;
  return type;
}

}  // namespace millrace
