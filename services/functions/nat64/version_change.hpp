// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/flow/flow_tuple.hpp"
#include "shared/base/packet.hpp"

/// Makes of a packet of IPv6 one of IPv4, and the other way (RFC 7915). TCP, UDP, echo requests and
/// replies, and ICMP errors about these. Nothing here reads or writes outside the given bytes.

namespace millrace {

/// What stands in front of the rest of the packet instead of its first bytes.
struct NewFront {
  /// Ethernet with two tags; IPv6 with a fragment header; ICMP; the same IPv6 of the quote.
  static constexpr std::size_t kBytesMax = 22 + 48 + 8 + 48;
  /// Bytes by which a packet may grow: an error about a fragment, with its own header.
  static constexpr std::size_t kGrowthMax = 20 + 28;

  std::array<std::byte, kBytesMax> bytes{};
  std::uint16_t count = 0;     ///< of `bytes`
  std::uint16_t replaces = 0;  ///< bytes at the start of the frame
  std::uint16_t end = 0;       ///< bytes of the frame that count: padding behind them goes
  bool splits = false;         ///< see IpFields::splits(): it has a fragment header for that
};

/// What the packet itself does not say.
struct VersionChange {
  FlowTuple has;   ///< of the packet
  FlowTuple gets;  ///< of the other version; ICMP 1 is 58, type 8 is 128, and the other way
  std::uint16_t identification = 0;  ///< of an IPv4 packet that had no fragment header
};

enum class Changed : std::uint8_t {
  kDone,
  kMalformed,  ///< the packet is cut, contradicts itself, or has a wrong IPv4 or ICMP checksum
  kUnknown,    ///< no packet of the other version says what this one says
};

/// Writes `front`, and ports, identifier and checksum of the transport header into the frame, which
/// the caller then gives that front. Checksums are updated by what has changed (RFC 1624), so one
/// that was wrong stays wrong; a UDP checksum of 0 is computed (RFC 7915 4.5). Nothing is written
/// unless kDone. kUnknown: fragments of ICMP (RFC 7915 1.2), and of UDP without a checksum; options
/// and extension headers that read_ip_fields() refuses.
Changed change_version(std::span<std::byte> frame, const PacketHeaders& headers,
                       const VersionChange& change, NewFront& front) noexcept;

/// The packet is an ICMP error about one of the other direction, which has the tuple
/// reversed(change.has). `reporter`: the source that it gets. The quote is cut to what an error of
/// the other version may have (RFC 4443 2.4 (c), RFC 1812 4.3.2.3); extensions (RFC 4884) behind it
/// go. kUnknown also: RFC 7915 has no such error.
Changed change_version_of_error(std::span<std::byte> frame, const PacketHeaders& headers,
                                const VersionChange& change, const Ipv6Bytes& reporter,
                                NewFront& front) noexcept;

}  // namespace millrace
