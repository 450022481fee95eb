// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/mac.hpp"
#include "shared/packet/ipv6_bytes.hpp"

/// Messages of Neighbour Discovery (RFC 4861) in untagged Ethernet frames. Nothing here keeps
/// state, allocates or blocks; any thread may call it.

namespace millrace {

/// A neighbour solicitation or advertisement.
struct NeighbourMessage {
  bool advertisement = false;
  // Flags of an advertisement; false in a solicitation.
  bool router = false, solicited = false, override_ = false;
  Ipv6Bytes source{}, destination{}, target{};
  /// Whether a solicitation has a source link-layer address option, an advertisement a target one.
  /// Of several the first counts.
  bool has_mac = false;
  MacAddress mac{};
};

/// True if `frame` is a neighbour solicitation or advertisement that passes the checks of
/// RFC 4861 7.1.1 or 7.1.2; false: `message` is as it was. A solicitation from :: is duplicate
/// address detection (RFC 4862 5.4.3). Refused as well:
/// - any extension header: RFC 6980 forbids a fragment header, and no node has use for another
/// - a source that is a multicast address (RFC 4291 2.7)
/// - a link-layer address option of another length than Ethernet's, or with a group address, which
///   no interface has (as RFC 1812 3.3.2 has it for ARP)
/// Bytes behind the IPv6 payload length are padding and ignored. The caller checks that the target
/// is its own and on the link.
bool parse_neighbour(std::span<const std::byte> frame, NeighbourMessage& message) noexcept;

inline constexpr std::size_t kNeighbourFrameBytes = 86;

/// A solicitation with the source link-layer address option (`from_mac`). `frame`: exactly
/// kNeighbourFrameBytes. `source`: an own address, not :: (that is write_address_probe()).
/// `destination`: solicited_node(target) at multicast_mac() of that, or to probe a neighbour
/// the target itself at its MAC.
void write_solicitation(std::span<std::byte> frame, MacAddress from_mac, MacAddress to_mac,
                        const Ipv6Bytes& source, const Ipv6Bytes& destination,
                        const Ipv6Bytes& target) noexcept;

/// An advertisement with the target link-layer address option (`from_mac`). `frame`: exactly
/// kNeighbourFrameBytes. The answer to a solicitation from :: goes to kIpv6AllNodes without the
/// solicited flag (RFC 4861 7.2.4).
void write_advertisement(std::span<std::byte> frame, MacAddress from_mac, MacAddress to_mac,
                         const Ipv6Bytes& source, const Ipv6Bytes& destination,
                         const Ipv6Bytes& target, bool router, bool solicited,
                         bool override_flag) noexcept;

inline constexpr std::size_t kAddressProbeBytes = 78;

/// The solicitation of duplicate address detection (RFC 4862 5.4.2): from :: to the solicited-node
/// address of `target`, without options. `frame`: exactly kAddressProbeBytes.
void write_address_probe(std::span<std::byte> frame, MacAddress from_mac,
                         const Ipv6Bytes& target) noexcept;

/// What a redirect says (RFC 4861 4.5): packets to `destination` go to `target` from now on, which
/// is a router's link-local address, or the destination itself, a neighbour.
struct NeighbourRedirect {
  Ipv6Bytes target{}, destination{};
  const MacAddress* target_mac = nullptr;  ///< its MAC address where it is known; borrowed
};

/// All of a redirect in front of the packet that it quotes.
inline constexpr std::size_t kRedirectFrontBytesMax = 14 + 40 + 40 + 8 + 8;
constexpr std::size_t redirect_front_bytes(const NeighbourRedirect& redirect) noexcept {
  return kRedirectFrontBytesMax - (redirect.target_mac == nullptr ? 8 : 0);
}
/// How much it quotes of a packet of `packet_bytes`, from its IPv6 header on: as much as fits the
/// minimum MTU (RFC 4861 4.6.3), in units of 8 bytes.
constexpr std::size_t redirect_quote_bytes(const NeighbourRedirect& redirect,
                                           std::size_t packet_bytes) noexcept {
  const std::size_t most = 14 + 1280 - redirect_front_bytes(redirect);
  return (packet_bytes < most ? packet_bytes : most) / 8 * 8;
}
/// `front`: exactly redirect_front_bytes(). `quote`: the first redirect_quote_bytes() of the
/// packet, which follow in the frame and are not changed from now on. `source`: the link-local
/// address of the port (8.2); `sender`: the packet's source.
void write_redirect(std::span<std::byte> front, std::span<const std::byte> quote,
                    MacAddress from_mac, MacAddress to_mac, const Ipv6Bytes& source,
                    const Ipv6Bytes& sender, const NeighbourRedirect& redirect) noexcept;

/// A host asks for routers.
struct RouterSolicitation {
  Ipv6Bytes source{}, destination{};  ///< source: :: of a host without an address so far
  bool has_mac = false;  ///< the source link-layer address option; of several the first
  MacAddress mac{};
};

/// True if `frame` is a router solicitation that passes the checks of RFC 4861 6.1.1, without
/// extension headers (RFC 6980) and not from a multicast address; false: `message` is as it was.
bool parse_router_solicitation(std::span<const std::byte> frame,
                               RouterSolicitation& message) noexcept;

/// What a prefix information option says (RFC 4861 4.6.2). 0xffffffff seconds: for ever.
struct AdvertisedPrefix {
  Ipv6Bytes prefix{};        // bits behind `length` are sent as 0
  std::uint8_t length = 64;  // 0 to 128
  bool on_link = true, autonomous = true;
  std::uint32_t valid_lifetime_s = 2'592'000;    // 30 days, as RFC 4861 6.2.1
  std::uint32_t preferred_lifetime_s = 604'800;  // 7 days; at most the valid lifetime
};

inline constexpr std::size_t kAdvertisedPrefixesMax = 8;

/// What a router advertisement says (RFC 4861 4.2).
struct RouterAdvertisement {
  std::uint8_t hop_limit = 64;  // 0: unspecified
  bool managed = false, other = false;
  std::uint16_t router_lifetime_s = 1800;      // 0: no default router
  std::uint32_t reachable_time_ms = 0;         // 0: unspecified
  std::uint32_t retransmit_time_ms = 0;        // 0: unspecified
  std::uint32_t mtu = 0;                       // 0: no such option
  std::span<const AdvertisedPrefix> prefixes;  // at most kAdvertisedPrefixesMax
};

/// Ethernet, IPv6, 16 bytes of the message, 8 each for source link-layer address and MTU.
inline constexpr std::size_t kRouterAdvertisementBytesMax =
    14 + 40 + 16 + 8 + 8 + 32 * kAdvertisedPrefixesMax;

/// A router advertisement with the source link-layer address option (`from_mac`); its bytes.
/// `frame`: kRouterAdvertisementBytesMax or more. `source`: a link-local address (RFC 4861 6.1.2).
/// `destination`: kIpv6AllNodes at multicast_mac() of that, or the sender of a solicitation.
std::size_t write_router_advertisement(std::span<std::byte> frame, MacAddress from_mac,
                                       MacAddress to_mac, const Ipv6Bytes& source,
                                       const Ipv6Bytes& destination,
                                       const RouterAdvertisement& advertisement) noexcept;

}  // namespace millrace
