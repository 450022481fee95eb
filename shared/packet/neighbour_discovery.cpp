// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/packet/neighbour_discovery.hpp"

#include "shared/base/check.hpp"
#include "shared/packet/ipv6_checksum.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/put_headers.hpp"

namespace millrace {
namespace {

using ipv6_wire::array_at;
using ipv6_wire::kEthernetBytes;
using ipv6_wire::kFrontBytes;
using ipv6_wire::put16;
using ipv6_wire::put32;
using ipv6_wire::put8;
using ipv6_wire::put_array;
using ipv6_wire::u8;

constexpr std::uint8_t kRouterSolicitation = 133, kRouterAdvertisement = 134;
constexpr std::uint8_t kSolicitation = 135, kAdvertisement = 136, kRedirect = 137;
constexpr std::uint8_t kSourceMac = 1, kTargetMac = 2, kPrefix = 3, kRedirected = 4, kMtu = 5;
constexpr std::uint8_t kOnLinkHopLimit = 255;  // no router lowered it
constexpr std::uint8_t kRouterFlag = 0x80, kSolicitedFlag = 0x40, kOverrideFlag = 0x20;
constexpr std::uint8_t kManagedFlag = 0x80, kOtherFlag = 0x40;
constexpr std::uint8_t kOnLinkFlag = 0x80, kAutonomousFlag = 0x40;
constexpr std::size_t kNeighbourBytes = 24;  // without options
constexpr std::size_t kRedirectBytes = 40;
constexpr std::size_t kRouterSolicitationBytes = 8;
constexpr std::size_t kRouterAdvertisementBytes = 16;
constexpr std::size_t kOptionUnitBytes = 8;
constexpr std::size_t kPrefixOptionBytes = 32;

/// An ICMPv6 message that may be one of Neighbour Discovery; empty if not.
std::span<const std::byte> discovery_message(std::span<const std::byte> frame) noexcept {
  const std::span<const std::byte> message = ipv6_wire::icmpv6_message(frame);
  if (message.empty() || u8(frame, kEthernetBytes + 7) != kOnLinkHopLimit || u8(message, 1) != 0 ||
      u8(frame, kEthernetBytes + ipv6_wire::kSourceAt) == 0xff) {
    return {};
  }
  return message;
}

/// What options say of link-layer addresses of one kind.
struct LinkLayerOption {
  bool valid = true;  // options end where they should, each has a length
  bool found = false;
  MacAddress mac{};
};

/// `type`: the option that is looked for; others are skipped.
LinkLayerOption find_mac(std::span<const std::byte> options, std::uint8_t type) noexcept {
  LinkLayerOption result;
  while (!options.empty()) {
    const std::size_t bytes = options.size() < 2 ? 0 : u8(options, 1) * kOptionUnitBytes;
    const bool wanted = u8(options, 0) == type;
    if (bytes == 0 || bytes > options.size() || (wanted && bytes != kOptionUnitBytes)) {
      result.valid = false;
      return result;
    }
    if (wanted && !result.found) {
      result.found = true;
      result.mac = array_at<MacAddress>(options, 2);
      if (is_group(result.mac)) result.valid = false;
    }
    options = options.subspan(bytes);
  }
  return result;
}

/// Those in front of a message of `message_bytes`.
void put_headers(std::span<std::byte> frame, const MacAddress& from, const MacAddress& to,
                 const Ipv6Bytes& source, const Ipv6Bytes& destination,
                 std::size_t message_bytes) noexcept {
  put_ethernet(frame, from, to, ipv6_wire::kEtherType);
  put_ipv6(frame.subspan(kEthernetBytes),
           {.next_header = ipv6_wire::kIcmpv6,
            .hop_limit = kOnLinkHopLimit,
            .source = source,
            .destination = destination},
           message_bytes);
}

/// Ends a message that is complete but for the headers in front of it and its checksum.
void finish(std::span<std::byte> frame, const MacAddress& from, const MacAddress& to,
            const Ipv6Bytes& source, const Ipv6Bytes& destination) noexcept {
  const std::span<std::byte> message = frame.subspan(kFrontBytes);
  put_headers(frame, from, to, source, destination, message.size());
  put16(message, 2, 0);
  put16(message, 2, ipv6_checksum(source, destination, ipv6_wire::kIcmpv6, message));
}

void put_neighbour(std::span<std::byte> message, std::uint8_t type, std::uint8_t flags,
                   const Ipv6Bytes& target) noexcept {
  put32(message, 0, std::uint32_t{type} << 24);
  put32(message, 4, std::uint32_t{flags} << 24);
  put_array(message, 8, target);
}

void put_mac_option(std::span<std::byte> option, std::uint8_t type,
                    const MacAddress& mac) noexcept {
  put8(option, 0, type);
  put8(option, 1, 1);
  put_array(option, 2, mac);
}

void put_prefix_option(std::span<std::byte> option, const AdvertisedPrefix& prefix) noexcept {
  MILLRACE_CHECK(prefix.length <= 128);
  put8(option, 0, kPrefix);
  put8(option, 1, kPrefixOptionBytes / kOptionUnitBytes);
  put8(option, 2, prefix.length);
  put8(option, 3,
       static_cast<std::uint8_t>((prefix.on_link ? kOnLinkFlag : 0) |
                                 (prefix.autonomous ? kAutonomousFlag : 0)));
  put32(option, 4, prefix.valid_lifetime_s);
  put32(option, 8, prefix.preferred_lifetime_s);
  put32(option, 12, 0);
  put_array(option, 16, ipv6_prefix_of(prefix.prefix, prefix.length));
}

}  // namespace

bool parse_neighbour(std::span<const std::byte> frame, NeighbourMessage& message) noexcept {
  const std::span<const std::byte> bytes = discovery_message(frame);
  if (bytes.size() < kNeighbourBytes) return false;
  const std::uint8_t type = u8(bytes, 0);
  if (type != kSolicitation && type != kAdvertisement) return false;

  NeighbourMessage found;
  found.advertisement = type == kAdvertisement;
  found.source = array_at<Ipv6Bytes>(frame, kEthernetBytes + ipv6_wire::kSourceAt);
  found.destination = array_at<Ipv6Bytes>(frame, kEthernetBytes + ipv6_wire::kDestinationAt);
  found.target = array_at<Ipv6Bytes>(bytes, 8);
  if (is_multicast(found.target)) return false;

  const LinkLayerOption option =
      find_mac(bytes.subspan(kNeighbourBytes), found.advertisement ? kTargetMac : kSourceMac);
  if (!option.valid) return false;
  found.has_mac = option.found;
  found.mac = option.mac;

  if (found.advertisement) {
    const std::uint8_t flags = u8(bytes, 4);
    found.router = (flags & kRouterFlag) != 0;
    found.solicited = (flags & kSolicitedFlag) != 0;
    found.override_ = (flags & kOverrideFlag) != 0;
    if (found.solicited && is_multicast(found.destination)) return false;
  } else if (is_unspecified(found.source) &&
             (found.has_mac || !is_solicited_node(found.destination))) {
    return false;
  }
  message = found;
  return true;
}

void write_solicitation(std::span<std::byte> frame, MacAddress from_mac, MacAddress to_mac,
                        const Ipv6Bytes& source, const Ipv6Bytes& destination,
                        const Ipv6Bytes& target) noexcept {
  MILLRACE_CHECK(frame.size() == kNeighbourFrameBytes && !is_unspecified(source));
  put_neighbour(frame.subspan(kFrontBytes), kSolicitation, 0, target);
  put_mac_option(frame.subspan(kFrontBytes + kNeighbourBytes), kSourceMac, from_mac);
  finish(frame, from_mac, to_mac, source, destination);
}

void write_advertisement(std::span<std::byte> frame, MacAddress from_mac, MacAddress to_mac,
                         const Ipv6Bytes& source, const Ipv6Bytes& destination,
                         const Ipv6Bytes& target, bool router, bool solicited,
                         bool override_flag) noexcept {
  MILLRACE_CHECK(frame.size() == kNeighbourFrameBytes);
  const int flags = (router ? kRouterFlag : 0) | (solicited ? kSolicitedFlag : 0) |
                    (override_flag ? kOverrideFlag : 0);
  put_neighbour(frame.subspan(kFrontBytes), kAdvertisement, static_cast<std::uint8_t>(flags),
                target);
  put_mac_option(frame.subspan(kFrontBytes + kNeighbourBytes), kTargetMac, from_mac);
  finish(frame, from_mac, to_mac, source, destination);
}

void write_address_probe(std::span<std::byte> frame, MacAddress from_mac,
                         const Ipv6Bytes& target) noexcept {
  MILLRACE_CHECK(frame.size() == kAddressProbeBytes);
  put_neighbour(frame.subspan(kFrontBytes), kSolicitation, 0, target);
  const Ipv6Bytes group = solicited_node(target);
  finish(frame, from_mac, multicast_mac(group), {}, group);
}

void write_redirect(std::span<std::byte> front, std::span<const std::byte> quote,
                    MacAddress from_mac, MacAddress to_mac, const Ipv6Bytes& source,
                    const Ipv6Bytes& sender, const NeighbourRedirect& redirect) noexcept {
  MILLRACE_CHECK(front.size() == redirect_front_bytes(redirect) &&
                 quote.size() == redirect_quote_bytes(redirect, quote.size()));
  put_headers(front, from_mac, to_mac, source, sender, front.size() - kFrontBytes + quote.size());
  const std::span<std::byte> message = front.subspan(kFrontBytes);
  put_neighbour(message, kRedirect, 0, redirect.target);
  put_array(message, kNeighbourBytes, redirect.destination);
  std::size_t at = kRedirectBytes;
  if (redirect.target_mac != nullptr) {
    put_mac_option(message.subspan(at), kTargetMac, *redirect.target_mac);
    at += kOptionUnitBytes;
  }
  put32(message, at, std::uint32_t{kRedirected} << 24);
  put8(message, at + 1,
       static_cast<std::uint8_t>((kOptionUnitBytes + quote.size()) / kOptionUnitBytes));
  put32(message, at + 4, 0);
  put16(message, 2, ipv6_checksum(source, sender, ipv6_wire::kIcmpv6, message, quote));
}

bool parse_router_solicitation(std::span<const std::byte> frame,
                               RouterSolicitation& message) noexcept {
  const std::span<const std::byte> bytes = discovery_message(frame);
  if (bytes.empty() || u8(bytes, 0) != kRouterSolicitation) return false;
  const LinkLayerOption option = find_mac(bytes.subspan(kRouterSolicitationBytes), kSourceMac);
  const auto source = array_at<Ipv6Bytes>(frame, kEthernetBytes + ipv6_wire::kSourceAt);
  if (!option.valid || (option.found && is_unspecified(source))) return false;
  message = {.source = source,
             .destination = array_at<Ipv6Bytes>(frame, kEthernetBytes + ipv6_wire::kDestinationAt),
             .has_mac = option.found,
             .mac = option.mac};
  return true;
}

std::size_t write_router_advertisement(std::span<std::byte> frame, MacAddress from_mac,
                                       MacAddress to_mac, const Ipv6Bytes& source,
                                       const Ipv6Bytes& destination,
                                       const RouterAdvertisement& advertisement) noexcept {
  MILLRACE_CHECK(frame.size() >= kRouterAdvertisementBytesMax);
  MILLRACE_CHECK(advertisement.prefixes.size() <= kAdvertisedPrefixesMax);
  const std::span<std::byte> message = frame.subspan(kFrontBytes);
  put32(message, 0, std::uint32_t{kRouterAdvertisement} << 24);
  put8(message, 4, advertisement.hop_limit);
  put8(message, 5,
       static_cast<std::uint8_t>((advertisement.managed ? kManagedFlag : 0) |
                                 (advertisement.other ? kOtherFlag : 0)));
  put16(message, 6, advertisement.router_lifetime_s);
  put32(message, 8, advertisement.reachable_time_ms);
  put32(message, 12, advertisement.retransmit_time_ms);

  std::size_t at = kRouterAdvertisementBytes;
  put_mac_option(message.subspan(at), kSourceMac, from_mac);
  at += kOptionUnitBytes;
  if (advertisement.mtu != 0) {
    put32(message, at, std::uint32_t{kMtu} << 24 | 1u << 16);
    put32(message, at + 4, advertisement.mtu);
    at += kOptionUnitBytes;
  }
  for (const AdvertisedPrefix& prefix : advertisement.prefixes) {
    put_prefix_option(message.subspan(at), prefix);
    at += kPrefixOptionBytes;
  }
  finish(frame.first(kFrontBytes + at), from_mac, to_mac, source, destination);
  return kFrontBytes + at;
}

}  // namespace millrace
