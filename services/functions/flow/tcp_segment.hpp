// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// What connection tracking reads of a TCP segment (RFC 9293 3.1).

namespace millrace {

/// What a segment does to a connection: the first of RST, SYN, FIN and ACK that it has.
enum class TcpKind : std::uint8_t { kNone, kSyn, kSynAck, kFin, kAck, kReset };

struct TcpSegment {
  std::uint32_t sequence = 0;
  std::uint32_t end =
      0;  ///< `sequence` and what it takes: bytes of data, and one each for SYN, FIN
  std::uint32_t acknowledgment = 0;  ///< 0 without the flag ACK
  /// The highest right edge of the blocks of its SACK option (RFC 2018) beyond `acknowledgment`;
  /// else that.
  std::uint32_t sack = 0;
  std::uint16_t window = 0;  ///< as in the header: not scaled
  TcpKind kind = TcpKind::kNone;
  bool acknowledges = false;  ///< flag ACK
  bool may_sack = false;      ///< option SACK-permitted (RFC 2018 2)
  /// Option window scale (RFC 7323 2.2): shift + 1, where a shift over 14 is 14. 0: no option.
  std::uint8_t scale = 0;
  bool goes_on = false;  ///< in further fragments of IP: `end` is at least this
};

/// `segment`: from the TCP header to the end of its data. Nothing for a header that is cut, a data
/// offset of under 5 words or beyond the segment, and flags that no TCP sends: of SYN, FIN, RST,
/// URG and ACK (the others are free) these are valid: SYN, SYN+URG, SYN+ACK, RST, RST+ACK, FIN+ACK,
/// FIN+ACK+URG, ACK, ACK+URG. The checksum is the caller's. An option that is malformed ends the
/// options; those before it count. `first_fragment`: more fragments of IP follow.
std::optional<TcpSegment> parse_tcp_segment(std::span<const std::byte> segment,
                                            bool first_fragment = false) noexcept;

}  // namespace millrace
