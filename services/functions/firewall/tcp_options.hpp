// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace {

/// Options of TCP that two hosts agree on (RFC 9293 3.7.1, RFC 7323, RFC 2018), and where numbers
/// of a connection stand among them.
struct TcpOptions {
  std::uint16_t mss = 0;   ///< 0: no option
  std::uint8_t scale = 0;  ///< of the window: shift + 1, a shift over 14 is 14; 0: no option
  bool may_sack = false;   ///< SACK-permitted
  bool has_timestamp = false;
  std::uint32_t value = 0, echo = 0;  ///< of the timestamp
  // From the start of the TCP header; 0: not there.
  std::size_t timestamp_at = 0;  ///< of `value`; `echo` follows it
  std::size_t sack_at = 0;       ///< of the first block of SACK
  std::size_t sack_edges = 0;    ///< numbers of 4 bytes there
};

/// `segment`: begins with a TCP header, whole with its options; a shorter one has no options. One
/// that is malformed ends the options; those before it count.
TcpOptions read_tcp_options(std::span<const std::byte> segment) noexcept;

inline constexpr std::size_t kTcpOptionBytesMax = 20;
/// Writes all but SACK, each in whole words. Returns their bytes, 0 to kTcpOptionBytesMax; `to` has
/// that many.
std::size_t put_tcp_options(const TcpOptions& options, std::span<std::byte> to) noexcept;

}  // namespace millrace
