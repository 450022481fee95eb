// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "services/functions/flow/flow_tuple.hpp"
#include "shared/base/packet.hpp"

namespace millrace {

/// A fragment of an IP datagram (RFC 791 3.2, RFC 8200 4.5). Borrowed.
struct IpFragment {
  /// What all fragments of the datagram have in common: addresses, and the identification in place
  /// of the ports; of IPv4 the protocol too.
  FlowTuple key;
  std::uint32_t at = 0;  ///< of its data in the datagram's, in bytes
  bool more = false;     ///< it is not the last
  std::uint8_t ttl = 0;
  std::span<const std::byte> data;
  /// From its IP header on, up to `data`: what stands in front of the datagram's data is that of
  /// the fragment with `at` 0.
  std::span<const std::byte> front;

  std::uint32_t end() const noexcept { return at + static_cast<std::uint32_t>(data.size()); }
};

/// `headers`: of the frame; they say `fragment`. `depth`: of the packet in tunnels, 0: in none; the
/// fragments of different depths have different keys. Nothing: it is cut, or its headers cannot be
/// walked.
std::optional<IpFragment> ip_fragment(std::span<const std::byte> frame,
                                      const PacketHeaders& headers, std::uint8_t depth) noexcept;

/// The longest datagram: what its length field can say.
inline constexpr std::size_t kDatagramBytesMax = 65'535;

/// Makes the headers of a datagram out of `front`, that of its first fragment, and appends them to
/// `whole`: without what makes it a fragment, and as long as `data_bytes` behind them ask for.
/// False: there is no such datagram, because it would be longer than kDatagramBytesMax.
bool append_datagram_headers(std::span<const std::byte> front, std::size_t data_bytes,
                             std::vector<std::byte>& whole) noexcept;

/// Of a packet that begins with its IP header: as parse_headers(), with `network_offset` 0.
PacketHeaders parse_ip_headers(std::span<const std::byte> packet) noexcept;

}  // namespace millrace
