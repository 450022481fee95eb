// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "services/functions/route/fragmented_echo.hpp"
#include "services/functions/route/ipv4_router.hpp"
#include "services/functions/route/ipv6_router.hpp"
#include "services/functions/route/next_hops.hpp"
#include "services/functions/route/report_limits.hpp"
#include "services/functions/route/route_compute.hpp"
#include "services/functions/route/route_finish.hpp"
#include "services/functions/route/router.hpp"
#include "services/functions/route/router_ports.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/event_ring.hpp"
#include "tests/unit/services/functions/route/route_fixture.hpp"
#include "tests/unit/services/functions/route/route_packet.hpp"
#include "tests/unit/shared/layout/neighbour_memory.hpp"
#include "tests/unit/shared/packet/hex_bytes.hpp"

namespace millrace {

using RouteFrame = std::vector<std::byte>;
inline constexpr std::uint32_t kLanIpv4 = 0x0a010001, kWanIpv4 = 0xc0000202;  // of two_ports()
inline constexpr Ipv6Address kLanIpv6 = {0x20010db8'00000000, 1};
inline constexpr std::uint64_t kRouteNowNs = 1'000'000'000;
inline constexpr MacAddress kLanMac = {2, 0, 0, 0, 0, 0x0a}, kWanMac = {2, 0, 0, 0, 0, 0x0b};

/// two_ports() with the host behind lan, number 2.
inline std::vector<PlanPort> hosted_ports() {
  std::vector<PlanPort> ports = two_ports();
  ports[0].host = 2;
  ports.push_back({.name = "lan.host", .device = "tap", .mac = "02:00:00:00:00:03"});
  return ports;
}

/// two_ports(), and wan has IPv6 too.
inline std::vector<PlanPort> dual_ports() {
  std::vector<PlanPort> ports = two_ports();
  ports[1].addresses.push_back("2001:db8:9::1/64");
  return ports;
}

/// What has become of the first packet of a batch.
class RouteFate {
 public:
  Batch batch() const { return arena_.batch(); }
  Reason reason() const { return static_cast<Reason>(batch().reason[0]); }
  bool is_dropped() const { return fates_in(batch()).dropped == 1; }
  bool is_dropped_for(Reason why) const { return is_dropped() && reason() == why; }
  bool is_consumed_for(Reason why) const {
    return batch().verdict[0] == static_cast<std::uint8_t>(Verdict::kConsumed) && reason() == why;
  }
  /// It has become an answer, which leaves by `port`.
  bool is_answer(Reason why, std::uint8_t port = 0) const {
    return batch().verdict[0] == static_cast<std::uint8_t>(Verdict::kDone) && reason() == why &&
           batch().output[0] == port;
  }
  /// It goes on by `port`, itself.
  bool goes_on_by(std::uint8_t port) const {
    return batch().goes_on(0) && batch().output[0] == port && reason() == Reason::kNone;
  }
  std::string hex() const { return hex_of_bytes(batch().bytes(0)); }
  RouteFrame frame() const {
    const auto bytes = batch().bytes(0);
    return {bytes.begin(), bytes.end()};
  }
  std::span<const SideRecord> records() const { return batch().side.records(); }
  std::string side_hex(std::size_t number = 0) const {
    return hex_of_bytes(batch().side.bytes_of(records()[number]));
  }
  RouteFrame side_frame(std::size_t number = 0) const {
    const auto bytes = batch().side.bytes_of(records()[number]);
    return {bytes.begin(), bytes.end()};
  }
  bool has_record(std::size_t number, SideKind kind, std::uint8_t port, Reason why) const {
    if (number >= records().size()) return false;
    const SideRecord& record = records()[number];
    return record.packet == 0 && record.kind == static_cast<std::uint8_t>(kind) &&
           record.port == port && record.why == static_cast<std::uint8_t>(why);
  }
  /// One copy for the host, and nothing else becomes of it.
  bool is_punted() const {
    return records().size() == 1 && has_record(0, SideKind::kCopy, 2, Reason::kPunt) &&
           is_consumed_for(Reason::kControl);
  }
  bool has_changed(const RouteFrame& frame) const {
    return !std::ranges::equal(batch().bytes(0), frame);
  }

 protected:
  BatchArena arena_;
};

/// A frame that came in by a port, and what route has made of it.
class Routed : public RouteFate {
 public:
  Routed(const BuiltRoutes& routes, const RouteFrame& frame, std::uint8_t port_in = 0,
         const std::vector<PlanPort>& ports = hosted_ports(),
         const NeighbourTableView* neighbours = nullptr, const RouteSettings& settings = {})
      : router_(routes.table(), ports, settings) {
    arena_.add(frame);
    const std::uint16_t packet = 0;
    std::uint32_t word = 0;
    route_compute(routes.table(), arena_.batch(), {&packet, 1}, {&word, 1});
    const BatchFacts facts{.port_in = port_in, .now_ns = kRouteNowNs, .neighbours = neighbours};
    route_finish(
        resolve_hops(routes.table(), ports),
        {arena_.batch(), {{&packet, 1}}, {&word, 1}, {}, {}, facts, {}, route_reason_numbers()},
        &router_, {routes.table(), route_flow_seed(ports)});
  }

 private:
  Router router_;
};

/// The parts of a router, one packet at a time, and a table of neighbours.
class RouterParts : public RouteFate {
 public:
  explicit RouterParts(const std::vector<PlanPort>& plan = dual_ports(), std::uint32_t rate = 0,
                       std::uint32_t burst = 50, const std::vector<std::string>& advertise = {})
      : ports(plan), limits(rate, burst), advertiser(ports, plan, advertise, limits.others) {}
  /// The batch begins anew with this frame.
  void take(const RouteFrame& frame) {
    arena_.clear();
    arena_.add(frame);
    batch_ = arena_.batch();
  }
  FinishContext call() {
    return {batch_, {}, {}, {}, {}, facts, events.writer(batch_), route_reason_numbers()};
  }
  /// So that nothing more fits.
  void fill_side_list() {
    while (batch_.side.has_room()) batch_.side.add({.packet = 99});
  }
  void learn(const NeighbourKey& key, const MacAddress& mac) {
    table.learn(key, mac, neighbour_ms(facts.now_ns),
                {.only_update = false, .overrides = true, .confirms = true});
  }
  /// The MAC address that the table has of it; all zero: none.
  MacAddress known(const NeighbourKey& key) {
    MacAddress mac{};
    table.each([&](const NeighbourSnapshot& entry) {
      if (entry.key == key) mac = entry.mac;
    });
    return mac;
  }

  EventRingOfTest events;
  NeighbourMemory memory;
  NeighbourTableView table = memory.table();
  BatchFacts facts{.port_in = 0, .now_ns = kRouteNowNs, .neighbours = &table};
  RouterPorts ports;
  ReportLimits limits;
  Punt punt{0};
  NextHops hops{ports};
  ProxyArp proxy_arp;
  AnswerRoutes answers{{}, {}, ports, hops};  // back to the station
  FragmentedEcho fragments{answers};
  Ipv4Router ipv4{ports, hops, limits, punt, answers, proxy_arp, fragments};
  RouterAdvertiser advertiser;
  Ipv6Router ipv6{ports, hops, limits, punt, answers, advertiser, fragments};

 private:
  Batch batch_;
};

/// From a station, to the MAC address of a port.
inline RouteFrame addressed(RouteFrame frame, std::uint8_t last_byte) {
  constexpr std::array<std::uint8_t, 5> kFirst = {2, 0, 0, 0, 0};
  std::memcpy(frame.data(), kFirst.data(), kFirst.size());
  frame[5] = std::byte(last_byte);
  frame[6] = std::byte{2};
  return frame;
}
inline constexpr MacAddress kStationMac = {2, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5};

/// With a protocol, to an address of ours.
inline RouteFrame to_own(std::uint8_t protocol, std::uint32_t own = kLanIpv4,
                         std::uint32_t fragment = 0) {
  RouteFrame frame = make_frame({.destination = own});
  frame[23] = std::byte(protocol);
  put16(frame, 20, fragment);
  put16(frame, 24, header_checksum(frame));
  return addressed(frame, 0x0a);
}

inline void put_mac(RouteFrame& frame, std::size_t at, const MacAddress& mac) {
  std::memcpy(&frame[at], mac.data(), mac.size());
}

/// RFC 1071, of bytes from `at` on, `start` added; for the checksum field 0 or the right value.
inline std::uint16_t slow_checksum(const RouteFrame& bytes, std::size_t at,
                                   std::uint64_t start = 0) {
  std::uint64_t sum = start;
  for (std::size_t i = at; i < bytes.size(); ++i) {
    sum += std::to_integer<std::uint64_t>(bytes[i]) << ((i - at) % 2 == 0 ? 8 : 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

/// An ICMP error of lan to the station that has sent `quote` (from its IPv4 header on).
struct ErrorSpec {
  std::uint8_t type = 0, code = 0;
  std::uint32_t rest = 0;
  std::uint32_t from = kLanIpv4;
  Ipv6Address from6 = kLanIpv6;
};

inline RouteFrame slow_icmp_error(const ErrorSpec& spec, const RouteFrame& quote) {
  RouteFrame message(8);
  message[0] = std::byte(spec.type);
  message[1] = std::byte(spec.code);
  put32(message, 4, spec.rest);
  message.insert(message.end(), quote.begin(), quote.end());
  put16(message, 2, slow_checksum(message, 0));
  RouteFrame frame(34);
  put_mac(frame, 0, kStationMac);
  put_mac(frame, 6, kLanMac);
  put32(frame, 12, 0x080045c0);
  put16(frame, 16, static_cast<std::uint32_t>(20 + message.size()));
  put16(frame, 22, 64 << 8 | 1);
  put32(frame, 26, spec.from);
  std::copy_n(quote.begin() + 12, 4, frame.begin() + 30);
  put16(frame, 24, header_checksum(frame));
  frame.insert(frame.end(), message.begin(), message.end());
  return frame;
}

/// Likewise of ICMPv6; the checksum covers the pseudo-header (RFC 8200 8.1).
inline RouteFrame slow_icmpv6_error(const ErrorSpec& spec, const RouteFrame& quote) {
  RouteFrame frame(62);
  put_mac(frame, 0, kStationMac);
  put_mac(frame, 6, kLanMac);
  put32(frame, 12, 0x86dd6000);
  put16(frame, 18, static_cast<std::uint32_t>(8 + quote.size()));
  put16(frame, 20, 58 << 8 | 64);
  put128(frame, 22, spec.from6);
  std::copy_n(quote.begin() + 8, 16, frame.begin() + 38);
  frame[54] = std::byte(spec.type);
  frame[55] = std::byte(spec.code);
  put32(frame, 58, spec.rest);
  frame.insert(frame.end(), quote.begin(), quote.end());
  put16(frame, 56, slow_checksum(frame, 22, 58 + 8 + quote.size()));
  return frame;
}

/// What is behind the Ethernet header.
inline RouteFrame datagram(const RouteFrame& frame) { return {frame.begin() + 14, frame.end()}; }

}  // namespace millrace
