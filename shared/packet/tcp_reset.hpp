// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "shared/base/mac.hpp"
#include "shared/packet/ipv6_bytes.hpp"

/// The RST that answers a segment to a port where nothing listens (RFC 9293 3.10.7.1).

namespace millrace {

struct TcpReset {
  std::uint16_t source = 0, destination = 0;  ///< ports
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  bool acknowledges = false;  ///< flag ACK, with `acknowledgment`
};

/// What is due to the sender of `segment`, from the TCP header to the end of its data. Nothing for
/// a RST, a segment that is cut or malformed, or one with a wrong checksum. `pseudo`: pseudo_sum()
/// of its addresses and length.
std::optional<TcpReset> tcp_reset_for(std::span<const std::byte> segment,
                                      std::uint16_t pseudo) noexcept;

inline constexpr std::size_t kTcpResetFrameBytes = 54;      ///< over IPv4
inline constexpr std::size_t kTcpResetIpv6FrameBytes = 74;  ///< over IPv6

/// The frame of exactly that many bytes; addresses of IPv4 in host byte order.
void write_tcp_reset(std::span<std::byte> frame, const MacAddress& from, const MacAddress& to,
                     std::uint32_t source, std::uint32_t destination,
                     const TcpReset& reset) noexcept;
void write_tcp_reset(std::span<std::byte> frame, const MacAddress& from, const MacAddress& to,
                     const Ipv6Bytes& source, const Ipv6Bytes& destination,
                     const TcpReset& reset) noexcept;

}  // namespace millrace
