// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// Where the headers of a packet are: one bounded walk over Ethernet, VLAN tags, IPv4 or IPv6 with
/// extension headers, TCP and UDP. Reads nothing outside the given bytes, whatever they hold; never
/// fails: what cannot be parsed is said in `status` and the offsets found so far are valid.

namespace millrace {

enum class ParseStatus : std::uint8_t {
  kOk,
  kTruncated,  ///< the bytes end before what the headers announce (cut by the capture)
  kMalformed,  ///< a header contradicts itself (IHL < 5, total length < header, ...)
};

/// Offsets are in bytes from the start of the frame; 0 means: not there. What lies between
/// `payload_offset` and `payload_end` is the payload; there is none when `payload_offset` is 0.
struct PacketHeaders {
  ParseStatus status = ParseStatus::kOk;
  std::uint8_t vlan_tags = 0;   ///< 802.1Q and 802.1ad tags walked over, at most 2
  std::uint8_t ip_version = 0;  ///< 4, 6: the fixed IP header is here; or 0
  std::uint8_t protocol = 0;    ///< of the transport: 6 TCP, 17 UDP, ...; 0 when ip_version is 0
  bool fragment = false;        ///< any fragment: its ports are not used for the flow hash. An IPv6
                                ///< fragment header on a whole packet (RFC 6946) makes none, and
                                ///< takes nothing back of one in front of it
  bool first_fragment = false;  ///< a fragment with offset 0: the transport header is here
  std::uint16_t fragment_offset = 0;   ///< of a later fragment, in units of 8 bytes
  std::uint16_t ether_type = 0;        ///< behind the tags
  std::uint16_t network_offset = 0;    ///< IP header; set with ip_version
  std::uint16_t transport_offset = 0;  ///< TCP/UDP/other header; 0 in later fragments
  std::uint16_t payload_offset =
      0;  ///< first byte behind TCP or UDP; other protocols: transport_offset;
          ///< later fragments: first byte behind the IP headers
  std::uint16_t payload_end =
      0;  ///< one past the last byte: the IP length, or the end of the bytes
};

/// True for a packet of IPv6 whose extension headers could not be walked to their end: more than 8,
/// one that is longer than the packet, or the rest in the next fragment. What is behind them for
/// its receiver is not known.
constexpr bool chain_breaks_off(const PacketHeaders& headers) {
  return headers.ip_version == 6 && headers.transport_offset == 0 &&
         (!headers.fragment || headers.first_fragment);
}

/// `frame`: an Ethernet frame without FCS; any length, also 0; of more than 65,535 bytes the
/// first 65,535. The length field of UDP is not looked at: the IP length counts. RFC 791, RFC
/// 8200 (at most 8 extension headers; ESP ends the walk), RFC 9293, RFC 768, IEEE 802.1Q.
PacketHeaders parse_headers(std::span<const std::byte> frame) noexcept;

/// Symmetric flow hash: both directions of a connection give the same value. Addresses and
/// protocol, and the ports of TCP and UDP unless the packet is a fragment or its bytes end
/// before them. Fragments of IPv6 by addresses alone, because later ones may not tell the
/// protocol. Not IP: the two MAC addresses and the EtherType. CRC-32C based; the same on every
/// machine. `headers` must come from parse_headers of the same frame. On the way of every packet
/// use flow_hash_of (flow_hash.hpp).
std::uint32_t flow_hash(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept;

}  // namespace millrace
