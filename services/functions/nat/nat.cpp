// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/nat.hpp"

#include <memory>
#include <optional>

#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/flow/flow_entry.hpp"
#include "services/functions/flow/same_tuple.hpp"
#include "services/functions/function_rows.hpp"
#include "services/functions/nat/lane_pool.hpp"
#include "services/functions/nat/nat_address.hpp"
#include "services/functions/nat/nat_ports.hpp"
#include "services/functions/nat/nat_sides.hpp"
#include "services/functions/nat/packet_rewrite.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using ip_protocol::kIcmp, ip_protocol::kTcp, ip_protocol::kUdp;
constexpr std::size_t kSourceAt = 12, kDestinationAt = 16;  // of IPv4

constexpr DeclaredReason kNatReasons[] = {
    {"nat_no_mapping", ReasonCause::kPolicy,
     "to a pool address that stands for no host there, or from a host that cannot be translated"},
    {"nat_ports_exhausted", ReasonCause::kLoss,
     "of a connection that began: no outside port, or no room for it"},
    {"nat_host_limit", ReasonCause::kPolicy,
     "of a connection that began: the host has `host_limit` mappings"}};

/// FlowOwn::nat: number of the mapping + 1, and this where the flow began outside.
constexpr std::uint32_t kBeganOutside = 1u << 31;

LaneNeeds needs_of(const LaneRequest& request) {
  return LanePool::needs_of(nat_settings(request.settings), request);
}

/// Tuples of addresses alone, for a later fragment.
FlowTuple addresses_of(std::uint32_t source, std::uint32_t destination) noexcept {
  return {.source = nat_bytes(source), .destination = nat_bytes(destination), .version = 4};
}

class Nat final : public Function {
 public:
  explicit Nat(const FunctionContext& context)
      : settings_(nat_settings_at(context.function.settings, context.ports)),
        sides_(settings_, context.ports),
        lanes_(settings_) {}

  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}

  void finish(const FinishContext& call) noexcept override {
    std::optional<PortPool> pool = lanes_.pool_of(call.state, call.facts);
    std::uint32_t translated = 0;
    for (const std::uint16_t packet : call.selected.packets) {
      if (call.flows != nullptr && call.flows->is_usual(packet)) [[likely]] {
        const Usual usual = translate_usual(call, packet);
        translated += usual == Usual::kTranslated ? 1 : 0;
        if (usual != Usual::kNot) continue;
      }
      const PacketHeaders headers = parse_headers(call.batch.bytes(packet));
      if (headers.ip_version != 4) continue;
      if (is_forged(call, packet, headers)) {
        drop(call, packet, NatReason::kNoMapping);
        continue;
      }
      const PacketFlow at = call.flows == nullptr ? PacketFlow{} : call.flows->of(packet);
      if (at.flow == kNoFlow) {
        without_flow(call, pool, packet, headers);
        continue;
      }
      const bool begins = at.direction == 0 && call.flows->is_new(at.flow);
      if (begins && !begin(call, pool, packet, at.flow)) continue;
      translate(call, packet, headers, at);
    }
    call.counters.hit(static_cast<std::size_t>(NatCounter::kTranslated), translated);
  }

  void flow_ended(const StateOfFunction& own, const FlowEntry& flow) noexcept override {
    if (flow.own.nat == 0) return;
    if (std::optional<PortPool> pool = lanes_.laid_out(own.state)) {
      unmap(*pool, flow.own.nat, flow.tuple, {settings_.log, own.events, own.counters});
    }
  }

 private:
  /// A flow of the mapping that FlowOwn::nat names ends. `tuple`: of its first packet.
  static void unmap(PortPool& pool, std::uint32_t nat, const FlowTuple& tuple,
                    const PoolNotes& notes) noexcept {
    const bool outside = (nat & kBeganOutside) != 0;
    notes.unmap(pool, (nat & ~kBeganOutside) - 1,
                nat_address(outside ? tuple.source : tuple.destination));
  }

  enum class Usual : std::uint8_t {
    kNot,  ///< the general way is for it, and nothing has happened
    kAsItIs,
    kTranslated,  ///< not counted yet
  };
  /// A usual packet of a flow whose translation is known.
  Usual translate_usual(const FinishContext& call, std::uint16_t packet) const noexcept {
    const PacketFlow at = call.flows->of(packet);
    if (at.flow == kNoFlow || call.flows->is_new(at.flow)) return Usual::kNot;
    const FlowTuple& has = call.flows->tuple(at.flow, at.direction);
    if (sides_.is_masqueraded(nat_address(has.source))) return Usual::kNot;
    const auto back = static_cast<std::uint8_t>(1 - at.direction);
    const FlowTuple gets = reversed(call.flows->tuple(at.flow, back));
    if (is_same_tuple(has, gets)) return Usual::kAsItIs;
    if (!rewrite_usual(call.batch.data(packet), has, gets)) return Usual::kNot;
    turn(call, packet, nat_address(gets.destination));
    return Usual::kTranslated;
  }

  /// From an address of the router that only translated packets have: what has been translated
  /// comes in by the loop alone. `route` drops packets from all other addresses of the router.
  bool is_forged(const FinishContext& call, std::uint16_t packet,
                 const PacketHeaders& headers) const noexcept {
    const auto ip = call.batch.bytes(packet).subspan(headers.network_offset);
    return sides_.is_masqueraded(wire_bytes::u32(ip, kSourceAt)) &&
           call.facts.port_in != sides_.hairpin();
  }

  PoolNotes notes_of(const FinishContext& call) const noexcept {
    return {settings_.log, call.events, call.counters};
  }

  static bool drop(const FinishContext& call, std::uint16_t packet, NatReason why) noexcept {
    call.batch.drop(packet, call.reason(why));
    return false;
  }
  static void hit(const FinishContext& call, NatCounter counter) noexcept {
    call.counters.hit(static_cast<std::size_t>(counter));
  }

  /// What becomes of a new flow. False: its packet is dropped.
  bool begin(const FinishContext& call, std::optional<PortPool>& pool, std::uint16_t packet,
             std::uint32_t flow) noexcept {
    if (sides_.is_inside(call.facts.port_in)) return begin_inside(call, pool, packet, flow);
    return begin_outside(call, pool, packet, flow);
  }

  bool begin_inside(const FinishContext& call, std::optional<PortPool>& pool, std::uint16_t packet,
                    std::uint32_t flow) noexcept {
    const FlowTuple tuple = call.flows->tuple(flow, 0);
    if (sides_.stays_inside(nat_address(tuple.destination)) && !asks_for_mapping(tuple)) {
      return true;
    }
    FlowTuple answer = reversed(tuple);
    if (const auto outside = sides_.fixed_outside(nat_address(tuple.source))) {
      answer.destination = nat_bytes(*outside);
      hit(call, NatCounter::kFixed);
      return keep(call, pool, packet, flow, answer, 0);
    }
    const std::uint8_t protocol = tuple.protocol;
    if (!pool || (protocol != kTcp && protocol != kUdp && protocol != kIcmp)) {
      return drop(call, packet, NatReason::kNoMapping);
    }
    const PortPool::Opening opened = pool->map(tuple);
    if (opened.what == PortPool::Opened::kHostLimit) {
      return drop(call, packet, NatReason::kHostLimit);
    }
    if (opened.what != PortPool::Opened::kDone) {
      return drop(call, packet, NatReason::kPortsExhausted);
    }
    answer.destination = nat_bytes(opened.address);
    answer.destination_port = opened.port;
    hit(call, NatCounter::kMappings);
    notes_of(call).opened(tuple, opened);
    return keep(call, pool, packet, flow, answer, opened.mapping + 1);
  }

  /// To an address of the router by which hosts inside are reached too: which of the two is meant
  /// the port says.
  bool asks_for_mapping(const FlowTuple& tuple) const noexcept {
    const std::uint32_t to = nat_address(tuple.destination);
    const std::uint16_t port = tuple.destination_port;
    if (!sides_.hairpin() || !sides_.is_masqueraded(to)) return false;
    if (sides_.fixed_inside(to, port, tuple.protocol)) return true;
    return (tuple.protocol == kTcp || tuple.protocol == kUdp) && port >= settings_.first_port &&
           port <= settings_.last_port;
  }

  bool begin_outside(const FinishContext& call, std::optional<PortPool>& pool, std::uint16_t packet,
                     std::uint32_t flow) noexcept {
    const FlowTuple tuple = call.flows->tuple(flow, 0);
    const std::uint32_t destination = nat_address(tuple.destination);
    FlowTuple answer = reversed(tuple);
    if (const auto inside =
            sides_.fixed_inside(destination, tuple.destination_port, tuple.protocol)) {
      answer.source = nat_bytes(inside->address);
      answer.source_port = inside->port;
      hit(call, NatCounter::kFixed);
      return keep(call, pool, packet, flow, answer, 0);
    }
    if (!sides_.in_pool(destination)) return true;
    if (pool && (tuple.protocol == kTcp || tuple.protocol == kUdp)) {
      if (const auto inside = pool->enter(tuple)) {
        answer.source = inside->address;
        answer.source_port = inside->port;
        hit(call, NatCounter::kMappings);
        return keep(call, pool, packet, flow, answer, (inside->mapping + 1) | kBeganOutside);
      }
    }
    const bool for_us = sides_.is_own(destination) && call.facts.port_in != sides_.hairpin();
    return for_us || drop(call, packet, NatReason::kNoMapping);
  }

  /// The flow has its place in the table, or its mapping goes again.
  bool keep(const FinishContext& call, std::optional<PortPool>& pool, std::uint16_t packet,
            std::uint32_t flow, const FlowTuple& answer, std::uint32_t nat) const noexcept {
    if (call.flows->translate(flow, answer) == FlowBatch::Translated::kDone) {
      if (nat != 0) call.flows->change_own(flow).nat = nat;
      return true;
    }
    if (nat != 0) unmap(*pool, nat, call.flows->tuple(flow, 0), notes_of(call));
    return drop(call, packet, NatReason::kPortsExhausted);
  }

  void translate(const FinishContext& call, std::uint16_t packet, const PacketHeaders& headers,
                 PacketFlow at) noexcept {
    const FlowTuple has = call.flows->tuple(at.flow, at.direction);
    const FlowTuple gets =
        reversed(call.flows->tuple(at.flow, static_cast<std::uint8_t>(1 - at.direction)));
    if (is_same_tuple(has, gets)) return;
    const std::span<std::byte> frame = call.batch.bytes(packet);
    const bool error = at.state == FlowState::kRelated;
    const bool done = error ? rewrite_icmp_error(frame, headers, has, gets)
                            : rewrite_packet(frame, headers, has, gets);
    if (!done) {
      call.batch.drop(packet, Reason::kMalformed);
      return;
    }
    hit(call, NatCounter::kTranslated);
    if (error) hit(call, NatCounter::kErrors);
    turn(call, packet, nat_address(gets.destination));
  }

  /// A translated packet from inside, to a host inside by its outside address (RFC 4787 REQ-9): the
  /// mapping of that is in another lane, as a rule. The packet comes in once more, in that lane and
  /// as one from outside.
  void turn(const FinishContext& call, std::uint16_t packet,
            std::uint32_t destination) const noexcept {
    const std::optional<std::uint8_t> loop = sides_.hairpin();
    if (!loop || !sides_.is_inside(call.facts.port_in) || !sides_.is_outside(destination)) return;
    call.batch.finish(packet, *loop);
    hit(call, NatCounter::kHairpins);
  }

  /// Later fragments have the addresses of their host; else nothing leaves untranslated.
  void without_flow(const FinishContext& call, const std::optional<PortPool>& pool,
                    std::uint16_t packet, const PacketHeaders& headers) noexcept {
    const std::span<std::byte> frame = call.batch.bytes(packet);
    const auto ip = frame.subspan(headers.network_offset);
    const std::uint32_t source = wire_bytes::u32(ip, kSourceAt),
                        destination = wire_bytes::u32(ip, kDestinationAt);
    const bool later = headers.fragment && !headers.first_fragment;
    const FlowTuple has = addresses_of(source, destination);
    FlowTuple gets = has;
    if (sides_.is_inside(call.facts.port_in)) {
      if (sides_.stays_inside(destination)) return;
      std::optional<std::uint32_t> outside = sides_.fixed_outside(source);
      if (!outside && pool) outside = pool->outside_of(nat_bytes(source));
      if (!later || !outside) {
        drop(call, packet, NatReason::kNoMapping);
        return;
      }
      gets.source = nat_bytes(*outside);
    } else {
      const auto inside = sides_.fixed_inside(destination, 0, 0);
      if (!inside && (!sides_.in_pool(destination) || sides_.is_own(destination))) return;
      if (!later || !inside) {
        drop(call, packet, NatReason::kNoMapping);
        return;
      }
      gets.destination = nat_bytes(inside->address);
    }
    if (!rewrite_packet(frame, headers, has, gets)) {
      call.batch.drop(packet, Reason::kMalformed);
      return;
    }
    hit(call, NatCounter::kTranslated);
    turn(call, packet, destination);
  }

  NatSettings settings_;
  NatSides sides_;
  LanePool lanes_;
};

}  // namespace

FunctionType nat_type() {
  FunctionType type;
  type.traits = {.type = "nat",
                 .summary = "translates addresses and ports between an inside and an outside",
                 .regions = kReadsHeaders,
                 .stateful = true,
                 .lane_needs = needs_of,
                 .flows = FlowUse::kNeeds,
                 .counter_count = static_cast<std::uint32_t>(NatCounter::kCount),
                 .reasons = kNatReasons,
                 .rewrites = Rewrites::kAll,
                 .settings = known_nat_settings()};
  type.make = make_function<Nat>;
  type.build = nullptr;
  type.check = [](const PlanFunction& function) { nat_settings(function.settings); };
  type.translation = nat_translation;
  return type;
}

}  // namespace millrace
