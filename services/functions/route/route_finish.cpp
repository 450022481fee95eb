// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_finish.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "services/functions/frames.hpp"
#include "services/functions/route/route_check.hpp"
#include "services/functions/route/route_text.hpp"
#include "services/functions/route/router.hpp"
#include "shared/base/error.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/mac.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kTtlAt = 14 + 8;
constexpr auto kGroup = static_cast<std::uint8_t>(RouteHopKind::kGroup);
constexpr std::byte kPlainIpv4{0x45};          ///< version 4, header of 20 bytes
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
  const auto next = std::to_integer<std::uint8_t>(frame[kNextHeaderAt]);
  const bool plain = is_ipv4 ? frame[14] == kPlainIpv4
                             : next != ip_protocol::kHopByHop && next != ip_protocol::kFragment;
  if (!plain || hop.output == call.facts.port_in || hop.has_mtu != 0 ||
      call.batch.length[packet] > router.frame_bytes_max(hop.output)) {
    return nullptr;
  }
  if (hop.kind == static_cast<std::uint8_t>(RouteHopKind::kStatic)) return hop.macs.data();
  const MacAddress* const gateway = router.ready_gateway(call, number, hop);
  return gateway == nullptr ? nullptr : gateway->data();
}

/// One hop less: TTL - 1, and in the checksum, behind TTL and protocol, one more for it, end-around
/// (RFC 1624, equation 3; the same result as summing anew). All four bytes as one little-endian
/// number, TTL lowest, which is not 0.
void decrement_ttl_of(std::byte* frame) noexcept {
  std::uint32_t word = 0;
  std::memcpy(&word, frame + kTtlAt, sizeof word);
  const std::uint32_t carry = word >= 0xfffe'0000 ? 0x1'0000 : 0;
  word += 0x1'0000 - 1 + carry;
  std::memcpy(frame + kTtlAt, &word, sizeof word);
}

/// A packet of any kind.
[[gnu::noinline]] void finish_one(std::span<const RouteRewrite> hops, const FinishContext& call,
                                  std::uint16_t packet, std::byte* frame, Router* router,
                                  const RouteGroups& groups, const HopsNow& now) noexcept {
  const std::uint32_t word = call.results[packet];
  static_assert(kRouteHopMask < kRouteIpv6 && kRouteHopMask < kRouteTtlExpired);
  // A number in range means that no flag is set.
  std::uint32_t number = word;
  const bool is_ipv4 = forwards(hops, number);
  if (!is_ipv4 && !forwards(hops, number = word ^ kRouteIpv6)) {
    end(hops, call, packet, word, router);
    return;
  }
  call.counters.hit(number);
  if (hops[number].kind == kGroup) [[unlikely]] {
    number = groups.member_of(now.real(number), call.batch.bytes(packet));
    if (!forwards(hops, number)) {
      call.batch.drop(packet, Reason::kUnavailable);
      return;
    }
    call.counters.hit(number);
  }
  const RouteRewrite& hop = hops[number];
  const std::uint8_t* target = hop.macs.data();
  if (router != nullptr) {
    const std::uint32_t real = now.real(number);
    target = plain_target(call, packet, frame, real, hop, is_ipv4, *router);
    if (target == nullptr) {
      router->forward(call, packet, real, hop, !is_ipv4);
      return;
    }
  }
  if (is_ipv4) [[likely]] {
    decrement_ttl_of(frame);
  } else {
    decrement_hop_limit(frame);
  }
  std::memcpy(frame, hop.macs.data(), hop.macs.size());
  if (target != hop.macs.data()) std::memcpy(frame, target, sizeof(MacAddress));
  call.batch.output[packet] = hop.output;
}

/// What most packets need of a next hop, in two words that are read at once.
struct PlainHop {
  explicit PlainHop(const RouteRewrite& hop) noexcept {
    std::memcpy(&first, hop.macs.data(), sizeof first);
    std::memcpy(&second, hop.macs.data() + sizeof first, sizeof second);
  }
  /// It forwards, and one MAC address goes for all packets; `answers`: it is no neighbour's, and
  /// packets may be as long as the port's MTU.
  bool is_plain(bool answers) const noexcept {
    static_assert(offsetof(RouteRewrite, reason) == 13 && offsetof(RouteRewrite, kind) == 14);
    static_assert(offsetof(RouteRewrite, has_mtu) == 15);
    static_assert(static_cast<int>(RouteHopKind::kStatic) == 0);
    const auto what = static_cast<std::uint32_t>(second >> 40);
    return answers ? what == 0 : (what & 0xff) == 0 && (what >> 8 & 0xff) != kGroup;
  }
  std::uint8_t output() const noexcept { return static_cast<std::uint8_t>(second >> 32); }
  void write_macs(std::byte* frame) const noexcept {
    static_assert(offsetof(RouteRewrite, output) == 12);
    const auto rest = static_cast<std::uint32_t>(second);
    std::memcpy(frame, &first, sizeof first);
    std::memcpy(frame + sizeof first, &rest, sizeof rest);
  }

  std::uint64_t first = 0;   ///< bytes 0..7 of the MAC addresses
  std::uint64_t second = 0;  ///< bytes 8..11 of them, output, reason, kind
};

/// The word that all the packets have; without one, no number of a hop.
std::uint32_t word_of_all(std::span<const std::uint16_t> packets,
                          const std::uint32_t* results) noexcept {
  const std::uint32_t first = results[packets.front()];
  // Where there are many hops, two packets mostly tell.
  if (results[packets.back()] != first) return UINT32_MAX;
  std::uint32_t differ = 0;
  for (const std::uint16_t packet : packets) differ |= results[packet] ^ first;
  return differ == 0 ? first : UINT32_MAX;
}

/// All packets, if they go to one plain hop, as they do where there are few: it is read, and they
/// are counted, once. False: they do not, and nothing has happened.
bool finish_row(std::span<const RouteRewrite> hops, const FinishContext& call,
                std::span<const std::uint16_t> packets, const Frames& frames) noexcept {
  const std::uint32_t word = word_of_all(packets, call.results.data());
  if (word >= hops.size()) return false;
  const PlainHop hop(hops[word]);
  if (!hop.is_plain(false)) return false;
  std::uint8_t* const output = call.batch.output.data();
  for (std::size_t i = 0; i < packets.size(); ++i) {
    decrement_ttl_of(frames[i]);
    hop.write_macs(frames[i]);
    output[packets[i]] = hop.output();
  }
  if (metrics_kept() && word < call.counters.hits.size())
    call.counters.hits[word] += packets.size();
  return true;
}

/// Packets that lie at `frames`. Of most of them, of IPv4 to a next hop whose MAC address is known,
/// there is no more to know than the word.
template <bool kAnswers>
void finish_some(std::span<const RouteRewrite> hops, const FinishContext& call,
                 std::span<const std::uint16_t> packets, const Frames& frames, Router* router,
                 const RouteGroups& groups, const HopsNow& now) noexcept {
  // Pointers of our own: those of the batch would be read again after each store to a frame.
  std::uint8_t* const output = call.batch.output.data();
  const std::uint16_t* const length = call.batch.length.data();
  const std::uint32_t* const results = call.results.data();
  std::uint64_t* const hits = call.counters.hits.data();
  // One comparison for both: a hop without a counter, which no worker has, is finish_one's.
  const std::size_t plain_count =
      metrics_kept() ? std::min(hops.size(), call.counters.hits.size()) : hops.size();
  const std::uint8_t port_in = call.facts.port_in;
  const auto is_plain = [&](const PlainHop& hop, std::uint16_t packet, const std::byte* frame) {
    if (!hop.is_plain(kAnswers)) return false;
    if constexpr (!kAnswers) return true;
    return frame[14] == kPlainIpv4 && hop.output() != port_in &&
           length[packet] <= router->frame_bytes_max(hop.output());
  };
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const std::uint16_t packet = packets[i];
    const std::uint32_t word = results[packet];
    std::byte* const frame = frames[i];
    if (word < plain_count) [[likely]] {
      const PlainHop hop(hops[word]);
      if (is_plain(hop, packet, frame)) [[likely]] {
        if (metrics_kept()) ++hits[word];
        decrement_ttl_of(frame);
        hop.write_macs(frame);
        output[packet] = hop.output();
        continue;
      }
    }
    finish_one(hops, call, packet, frame, router, groups, now);
  }
}

}  // namespace

void decrement_ttl(std::byte* frame) noexcept { decrement_ttl_of(frame); }

void decrement_hop_limit(std::byte* frame) noexcept {
  frame[kHopLimitAt] = std::byte(std::to_integer<std::uint8_t>(frame[kHopLimitAt]) - 1);
}

void route_finish(std::span<const RouteRewrite> hops, const FinishContext& call, Router* router,
                  const RouteGroups& groups, const HopsNow& now, const Frames* frames) noexcept {
  const auto finish = [&](std::span<const std::uint16_t> packets, const Frames& at) {
    if (router == nullptr) {
      if (packets.empty() || finish_row(hops, call, packets, at)) return;
      finish_some<false>(hops, call, packets, at, router, groups, now);
    } else {
      finish_some<true>(hops, call, packets, at, router, groups, now);
    }
  };
  if (frames != nullptr) return finish(call.selected.packets, *frames);
  for_each_part(call.batch, call.selected.packets, finish);
}

}  // namespace millrace
