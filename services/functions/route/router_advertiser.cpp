// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/router_advertiser.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "services/functions/route/ipv4_datagram.hpp"
#include "services/functions/route/ipv4_router.hpp"
#include "services/functions/route/next_hops.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// MIN_DELAY_BETWEEN_RAS (RFC 4861 10).
constexpr std::uint64_t kBetweenToAllNs = 3'000'000'000;
/// The longest there is (RFC 8319 4): hosts that do not ask again hear of us only once.
constexpr std::uint16_t kRouterLifetimeS = 65'535;
constexpr std::uint8_t kChosenByHosts = 64;  ///< bits of a network (RFC 4291 2.5.1)

constexpr std::uint64_t kSecondNs = 1'000'000'000;
/// MAX_INITIAL_RTR_ADVERTISEMENTS, MAX_INITIAL_RTR_ADVERT_INTERVAL (RFC 4861 10).
constexpr std::uint64_t kInitial = 3, kInitialApartNs = 16 * kSecondNs;
constexpr std::uint64_t kFirstNs = kSecondNs;
/// One in each such span of time, at a random moment of its first half: so two are 200 to 600 s
/// apart, MinRtrAdvInterval and MaxRtrAdvInterval of RFC 4861 6.2.1.
constexpr std::uint64_t kSpanNs = 400 * kSecondNs, kMomentsNs = 200 * kSecondNs;

/// The mixing of splitmix64 (Steele, Lea, Flood 2014): neighbouring numbers give unrelated ones.
std::uint64_t mixed(std::uint64_t number) noexcept {
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9ull;
  number = (number ^ number >> 27) * 0x94d049bb133111ebull;
  return number ^ number >> 31;
}

std::uint64_t moment_of(const MacAddress& mac, std::uint64_t span) noexcept {
  std::uint64_t number = 0;
  std::memcpy(&number, mac.data(), mac.size());
  return span * kSpanNs + mixed(mixed(number) + span) % kMomentsNs;
}

}  // namespace

bool is_advertisement_due(const MacAddress& mac, const Tick& now) noexcept {
  for (std::uint64_t i = 0; i < kInitial; ++i) {
    if (now.covers(kFirstNs + i * kInitialApartNs)) return true;
  }
  if (now.time_ns - now.since_ns >= 2 * kSpanNs) return true;
  const std::uint64_t span = now.time_ns / kSpanNs;
  if (span == 0) return false;
  if (now.covers(moment_of(mac, span))) return true;
  return span > 1 && now.covers(moment_of(mac, span - 1));
}

std::vector<AdvertisedPrefix> advertised_prefixes(const RouterPort& port) {
  std::vector<AdvertisedPrefix> prefixes;
  for (const PortIpv6& own : port.ipv6) {
    if (own.length == 128 || is_link_local(own.address)) continue;
    const Ipv6Bytes network = ipv6_prefix_of(own.address, own.length);
    const bool is_there = std::ranges::any_of(prefixes, [&](const AdvertisedPrefix& prefix) {
      return prefix.prefix == network && prefix.length == own.length;
    });
    if (is_there) continue;
    prefixes.push_back(
        {.prefix = network, .length = own.length, .autonomous = own.length == kChosenByHosts});
  }
  return prefixes;
}

RouterAdvertiser::RouterAdvertiser(const RouterPorts& ports, std::span<const PlanPort> plan,
                                   std::span<const std::string> names, TokenBucket& limit)
    : ports_(ports), advertised_(plan.size()), limit_(limit) {
  for (const std::string& name : names) {
    const std::size_t number = number_of_port("advertise", name, plan);
    advertised_[number].prefixes =
        advertised_prefixes(*ports.at(static_cast<std::uint8_t>(number)));
    const std::size_t count = advertised_[number].prefixes.size();
    if (count == 0 || count > kAdvertisedPrefixesMax) {
      throw Error("advertise: port '" + name + "' has " + std::to_string(count) +
                  " networks of IPv6; expected 1 to " + std::to_string(kAdvertisedPrefixesMax) +
                  " in its addresses");
    }
  }
}

bool RouterAdvertiser::answer(const FinishContext& call, std::uint16_t packet) noexcept {
  const Batch& batch = call.batch;
  const std::uint8_t number = call.facts.port_in;
  if (number >= advertised_.size() || advertised_[number].prefixes.empty()) return false;
  Port& port = advertised_[number];
  const RouterPort& in = *ports_.at(number);
  RouterSolicitation asked;
  if (!parse_router_solicitation(batch.bytes(packet), asked)) return false;
  const MacAddress mac = source_mac(batch, packet), to_mac = destination_mac(batch, packet);
  const bool to_us = asked.destination == kIpv6AllRouters
                         ? is_group(to_mac) || to_mac == in.mac
                         : in.has_ipv6(asked.destination) && to_mac == in.mac;
  if (!to_us || is_group(mac)) return false;
  const bool to_all = is_unspecified(asked.source);
  if (!to_all && asked.has_mac && in.is_near(asked.source) && call.facts.neighbours != nullptr) {
    call.facts.neighbours->learn(neighbour_of(number, asked.source), asked.mac,
                                 neighbour_ms(call.facts.now_ns),
                                 {.only_update = false, .overrides = true});
  }
  if (to_all ? call.facts.now_ns < port.next_to_all_ns : !limit_.take(call.facts.now_ns)) {
    batch.consume(packet, Reason::kControl);
    return true;
  }
  std::array<std::byte, kRouterAdvertisementBytesMax> frame;
  const std::size_t bytes = write(frame, number,
                                  to_all          ? multicast_mac(kIpv6AllNodes)
                                  : asked.has_mac ? asked.mac
                                                  : mac,
                                  to_all ? kIpv6AllNodes : asked.source);
  if (!batch.grow_back(packet,
                       static_cast<std::int32_t>(bytes) - std::int32_t{batch.length[packet]})) {
    batch.drop(packet, call.reason(RouteReason::kNotUnicast));
    return true;
  }
  if (to_all) port.next_to_all_ns = call.facts.now_ns + kBetweenToAllNs;
  std::copy_n(frame.begin(), bytes, batch.data(packet));
  batch.finish(packet, number, Reason::kReply);
  return true;
}

std::size_t RouterAdvertiser::write(std::span<std::byte> frame, std::uint8_t number,
                                    const MacAddress& mac, const Ipv6Bytes& to) const noexcept {
  const RouterPort& port = *ports_.at(number);
  return write_router_advertisement(frame, port.mac, mac, port.link_local, to,
                                    {.router_lifetime_s = kRouterLifetimeS,
                                     .mtu = port.mtu,
                                     .prefixes = advertised_[number].prefixes});
}

bool RouterAdvertiser::advertise(const FinishContext& call, std::uint16_t packet,
                                 const Tick& now) noexcept {
  bool all = true;
  for (std::size_t at = 0; at < advertised_.size(); ++at) {
    Port& port = advertised_[at];
    const auto number = static_cast<std::uint8_t>(at);
    if (port.prefixes.empty() || !is_advertisement_due(ports_.at(number)->mac, now)) continue;
    std::array<std::byte, kRouterAdvertisementBytesMax> frame;
    const std::size_t bytes = write(frame, number, multicast_mac(kIpv6AllNodes), kIpv6AllNodes);
    const auto beside = call.batch.side.add({.packet = packet,
                                             .kind = static_cast<std::uint8_t>(SideKind::kSend),
                                             .port = number,
                                             .why = static_cast<std::uint8_t>(Reason::kAnnounce)},
                                            bytes);
    all = all && !beside.empty();
    std::copy_n(frame.begin(), beside.size(), beside.begin());
    port.next_to_all_ns = call.facts.now_ns + kBetweenToAllNs;
  }
  return all;
}

}  // namespace millrace
