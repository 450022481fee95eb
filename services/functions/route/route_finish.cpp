// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_finish.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "services/functions/route/route_check.hpp"
#include "services/functions/route/route_frames.hpp"
#include "services/functions/route/route_text.hpp"
#include "services/functions/route/router.hpp"
#include "shared/base/error.hpp"
#include "shared/base/mac.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kTtlAt = 14 + 8;
constexpr auto kGroup = static_cast<std::uint8_t>(RouteHopKind::kGroup);
constexpr std::uint32_t kHopLimitAt = 14 + 7;  ///< of IPv6, which has no checksum
constexpr std::uint32_t kNextHeaderAt = 14 + 6;

RouteReason reason_of(std::uint32_t word, const RouteRewrite& hop) noexcept {
  if ((word & kRouteDrop) != 0) {
    const std::uint32_t reason = word & ~kRouteDrop;
    return reason < static_cast<std::uint32_t>(RouteReason::kCount)
               ? static_cast<RouteReason>(reason)
               : RouteReason::kUnavailable;
  }
  if (hop.reason != 0) return static_cast<RouteReason>(hop.reason);
  return RouteReason::kTtlExpired;
}

/// What is not forwarded; it is counted at the next hop where it ended, if at one.
[[gnu::noinline]] void end(std::span<const RouteRewrite> hops, const FinishContext& call,
                           std::uint16_t packet, std::uint32_t word, Router* router) noexcept {
  const std::uint32_t number = word & kRouteHopMask;
  const bool routed = (word & kRouteDrop) == 0;
  if (routed && number >= hops.size()) {
    call.batch.drop(packet, Reason::kUnavailable);
    return;
  }
  const RouteRewrite& hop = hops[routed ? number : 0];
  if (routed && hop.reason != 0) call.counters.hit(number);
  const RouteReason why = reason_of(word, hop);
  if (router != nullptr && !(routed && number == kHopNowhere)) {
    router->end(call, packet, why);
  } else {
    call.batch.drop(packet, call.reason(why));
  }
}

bool forwards(std::span<const RouteRewrite> hops, std::uint32_t number) noexcept {
  return number < hops.size() && hops[number].reason == 0;
}

/// The MAC address that the packet goes to, when nothing but MAC addresses and the hop count
/// changes and nothing is sent beside it. Null: the router decides.
const std::uint8_t* plain_target(const FinishContext& call, std::uint16_t packet,
                                 const std::byte* frame, std::uint32_t number,
                                 const RouteRewrite& hop, bool is_ipv4, Router& router) noexcept {
  constexpr std::byte kPlainIpv4{0x45}, kHopByHop{0};
  const bool plain = is_ipv4 ? frame[14] == kPlainIpv4 : frame[kNextHeaderAt] != kHopByHop;
  if (!plain || hop.output == call.facts.port_in ||
      call.batch.length[packet] > router.frame_bytes_max(hop.output)) {
    return nullptr;
  }
  if (hop.kind == static_cast<std::uint8_t>(RouteHopKind::kStatic)) return hop.macs.data();
  const MacAddress* const gateway = router.ready_gateway(call, number, hop);
  return gateway == nullptr ? nullptr : gateway->data();
}

/// 1..kFramesMax packets, which lie at `frames`.
void finish_some(std::span<const RouteRewrite> hops, const FinishContext& call,
                 std::span<const std::uint16_t> packets, const Frames& frames, Router* router,
                 const RouteGroups& groups, const HopsNow& now) noexcept {
  // Pointers of our own: those of the batch would be read again after each store to a frame.
  std::uint8_t* const output = call.batch.output.data();
  const std::span<const std::uint32_t> results = call.results;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const std::uint16_t packet = packets[i];
    const std::uint32_t word = results[packet];
    static_assert(kRouteHopMask < kRouteIpv6 && kRouteHopMask < kRouteTtlExpired);
    // A number in range means that no flag is set.
    std::uint32_t number = word;
    const bool is_ipv4 = forwards(hops, number);
    if (!is_ipv4 && !forwards(hops, number = word ^ kRouteIpv6)) {
      end(hops, call, packet, word, router);
      continue;
    }
    call.counters.hit(number);
    if (hops[number].kind == kGroup) [[unlikely]] {
      number = groups.member_of(now.real(number), call.batch.bytes(packet));
      if (!forwards(hops, number)) {
        call.batch.drop(packet, Reason::kUnavailable);
        continue;
      }
      call.counters.hit(number);
    }
    const RouteRewrite& hop = hops[number];
    const std::uint8_t* target = hop.macs.data();
    if (router != nullptr) {
      const std::uint32_t real = now.real(number);
      target = plain_target(call, packet, frames[i], real, hop, is_ipv4, *router);
      if (target == nullptr) {
        router->forward(call, packet, real, hop, !is_ipv4);
        continue;
      }
    }
    if (is_ipv4) [[likely]] {
      decrement_ttl(frames[i]);
    } else {
      decrement_hop_limit(frames[i]);
    }
    std::memcpy(frames[i], hop.macs.data(), hop.macs.size());
    if (target != hop.macs.data()) std::memcpy(frames[i], target, sizeof(MacAddress));
    output[packet] = hop.output;
  }
}

}  // namespace

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

void route_finish(std::span<const RouteRewrite> hops, const FinishContext& call, Router* router,
                  const RouteGroups& groups, const HopsNow& now) noexcept {
  std::span<const std::uint16_t> packets = call.selected.packets;
  Frames frames;
  while (!packets.empty()) {
    const auto some = packets.first(std::min(packets.size(), kFramesMax));
    packets = packets.subspan(some.size());
    locate_frames(call.batch, some, frames);
    finish_some(hops, call, some, frames, router, groups, now);
  }
}

}  // namespace millrace
