// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_finish.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "services/functions/route/route_check.hpp"
#include "services/functions/route/route_frames.hpp"
#include "services/functions/route/route_text.hpp"
#include "shared/base/error.hpp"
#include "shared/base/mac.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kTtlAt = 14 + 8;
constexpr std::uint32_t kHopLimitAt = 14 + 7;  ///< of IPv6, which has no checksum

/// One hop less: TTL - 1, and in the checksum, behind TTL and protocol, one more for it, end-around
/// (RFC 1624, equation 3; the same result as summing anew). All four bytes as one little-endian
/// number, TTL lowest, which is not 0.
void decrement_ttl(std::byte* frame) noexcept {
  std::uint32_t word = 0;
  std::memcpy(&word, frame + kTtlAt, sizeof word);
  const std::uint32_t carry = word >= 0xfffe'0000 ? 0x1'0000 : 0;
  word += 0x1'0000 - 1 + carry;
  std::memcpy(frame + kTtlAt, &word, sizeof word);
}

void decrement_hop_limit(std::byte* frame) noexcept {
  frame[kHopLimitAt] = std::byte(std::to_integer<std::uint8_t>(frame[kHopLimitAt]) - 1);
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

/// What is not forwarded; it is counted at the next hop where it ended, if at one.
[[gnu::noinline]] void drop(std::span<const RouteRewrite> hops, const Batch& batch,
                            std::uint16_t packet, std::uint32_t word,
                            FunctionCounters counters) noexcept {
  const std::uint32_t number = word & kRouteHopMask;
  const bool routed = (word & kRouteDrop) == 0;
  if (routed && number >= hops.size()) {
    batch.drop(packet, Reason::kUnavailable);
    return;
  }
  const RouteRewrite& hop = hops[routed ? number : 0];
  batch.drop(packet, reason_of(word, hop));
  if (routed && hop.reason != 0) counters.hit(number);
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

bool forwards(std::span<const RouteRewrite> hops, std::uint32_t number) noexcept {
  return number < hops.size() && hops[number].reason == 0;
}

/// 1..kFramesMax packets, which lie at `frames`.
void finish_some(std::span<const RouteRewrite> hops, const Batch& batch,
                 std::span<const std::uint16_t> packets, const Frames& frames,
                 std::span<const std::uint32_t> results, FunctionCounters counters) noexcept {
  // Pointers of our own: those of the batch would be read again after each store to a frame.
  std::uint8_t* const output = batch.output.data();
  std::uint32_t* const next_hop = batch.next_hop.data();
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const std::uint16_t packet = packets[i];
    const std::uint32_t word = results[packet];
    static_assert(kRouteHopMask < kRouteIpv6 && kRouteHopMask < kRouteTtlExpired);
    // A number in range means that no flag is set.
    std::uint32_t number = word;
    if (forwards(hops, number)) [[likely]] {
      decrement_ttl(frames[i]);
    } else if (forwards(hops, number = word ^ kRouteIpv6)) {
      decrement_hop_limit(frames[i]);
    } else {
      drop(hops, batch, packet, word, counters);
      continue;
    }
    const RouteRewrite& hop = hops[number];
    std::memcpy(frames[i], hop.macs.data(), hop.macs.size());
    output[packet] = hop.output;
    next_hop[packet] = number;
    counters.hit(number);
  }
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
  Frames frames;
  while (!packets.empty()) {
    const auto now = packets.first(std::min(packets.size(), kFramesMax));
    packets = packets.subspan(now.size());
    locate_frames(batch, now, frames);
    finish_some(hops, batch, now, frames, results, counters);
  }
}

}  // namespace millrace
