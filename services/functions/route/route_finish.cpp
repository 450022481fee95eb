// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_finish.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "services/functions/route/route_compute.hpp"
#include "services/functions/route/route_text.hpp"
#include "shared/base/error.hpp"
#include "shared/base/mac.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kTtlAt = 14 + 8;
constexpr std::uint32_t kChecksumAt = 14 + 10;

/// TTL is the high byte of its 16-bit word: one less there is one more, end-around, in the checksum
/// (RFC 1624, equation 3; the same result as summing anew).
void decrement_ttl(std::byte* frame) noexcept {
  std::uint16_t checksum = 0;
  std::memcpy(&checksum, frame + kChecksumAt, sizeof checksum);
  const std::uint32_t sum = std::uint32_t{checksum} + 1;  // 0x0100 in network order
  checksum = static_cast<std::uint16_t>(sum + (sum >= 0xffff ? 1 : 0));
  std::memcpy(frame + kChecksumAt, &checksum, sizeof checksum);
  frame[kTtlAt] = static_cast<std::byte>(static_cast<std::uint8_t>(frame[kTtlAt]) - 1);
}

Reason reason_of(std::uint32_t word, const RouteRewrite& hop) noexcept {
  if ((word & kRouteDrop) != 0) {
    const std::uint32_t reason = word & ~kRouteDrop;
    return reason < static_cast<std::uint32_t>(Reason::kCount) ? static_cast<Reason>(reason)
                                                               : Reason::kUnavailable;
  }
  if (hop.reason != 0) return static_cast<Reason>(hop.reason);
  return Reason::kTtlExpired;
}

MacAddress mac_of(std::size_t number, std::span<const PlanPort> ports) {
  if (ports.empty()) return {2, 0, 0, 0, 0, static_cast<std::uint8_t>(number + 1)};
  MacAddress mac{};
  if (!parse_mac(ports[number].mac, mac)) {
    throw Error("port " + ports[number].name + ": '" + ports[number].mac + "' is no MAC address");
  }
  return mac;
}

/// Number of each of the image's ports in the topology.
std::vector<std::size_t> number_ports(const RouteTable& table, std::span<const PlanPort> ports) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < table.ports.size(); ++i) {
    const std::string_view name(table.ports[i].data());
    const auto at = std::ranges::find(ports, name, &PlanPort::name);
    if (!ports.empty() && at == ports.end()) {
      throw Error("the route image names port '" + std::string(name) +
                  "', which the topology does not have; build it again");
    }
    numbers.push_back(ports.empty() ? i : static_cast<std::size_t>(at - ports.begin()));
  }
  return numbers;
}

}  // namespace

std::vector<RouteRewrite> resolve_hops(const RouteTable& table, std::span<const PlanPort> ports) {
  const std::vector<std::size_t> numbers = number_ports(table, ports);
  std::vector<RouteRewrite> rewrites;
  rewrites.reserve(table.hops.size());
  for (const RouteHop& hop : table.hops) {
    RouteRewrite rewrite{};
    rewrite.reason = hop.reason;
    if (hop.reason == static_cast<std::uint8_t>(Reason::kNone)) {
      const std::size_t number = numbers[hop.port];
      rewrite.output = static_cast<std::uint8_t>(number);
      std::ranges::copy(hop.mac, rewrite.macs.begin());
      std::ranges::copy(mac_of(number, ports), rewrite.macs.begin() + 6);
    }
    rewrites.push_back(rewrite);
  }
  return rewrites;
}

void route_finish(std::span<const RouteRewrite> hops, const Batch& batch,
                  std::span<const std::uint16_t> packets, std::span<const std::uint32_t> results,
                  FunctionCounters counters) noexcept {
  for (const std::uint16_t packet : packets) {
    const std::uint32_t word = results[packet];
    const std::uint32_t number = word & kRouteHopMask;
    const bool routed = (word & kRouteDrop) == 0;
    if (routed && number >= hops.size()) [[unlikely]] {
      batch.drop(packet, Reason::kUnavailable);
      continue;
    }
    const RouteRewrite& hop = hops[routed ? number : 0];
    const bool forwards = (word & (kRouteDrop | kRouteTtlExpired)) == 0 && hop.reason == 0;
    if (forwards) [[likely]] {
      std::byte* frame = batch.data(packet);
      std::memcpy(frame, hop.macs.data(), hop.macs.size());
      decrement_ttl(frame);
      batch.output[packet] = hop.output;
      batch.next_hop[packet] = number;
    } else {
      batch.drop(packet, reason_of(word, hop));
    }
    const bool ended_here = routed && (forwards || hop.reason != 0);
    if (ended_here && number < counters.hits.size()) ++counters.hits[number];
  }
}

}  // namespace millrace
