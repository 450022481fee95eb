// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/wire_bytes.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {

inline constexpr std::uint8_t kFin = 1, kSyn = 2, kRst = 4, kAck = 16, kUrg = 32;
inline constexpr std::size_t kTcpAt = 34;

/// A segment between two hosts of IPv4, with a right checksum. `back`: from the server.
inline Frame segment(bool back, std::uint8_t flags, std::uint32_t sequence,
                     std::uint32_t acknowledgment, std::string_view data = {},
                     std::uint16_t client_port = 40'000) {
  const auto bytes = static_cast<unsigned>(data.size());
  Frame frame = FrameBuilder()
                    .ipv4(6, 20 + bytes)
                    .tcp(5, back ? 80u : client_port, back ? client_port : 80u)
                    .text(data)
                    .build();
  const std::uint32_t source = wire_bytes::u32(frame, 26), destination = wire_bytes::u32(frame, 30);
  if (back) {
    wire_bytes::put32(frame, 26, destination);
    wire_bytes::put32(frame, 30, source);
  }
  wire_bytes::put32(frame, kTcpAt + 4, sequence);
  wire_bytes::put32(frame, kTcpAt + 8, acknowledgment);
  wire_bytes::put8(frame, kTcpAt + 13, flags);
  wire_bytes::put16(frame, kTcpAt + 14, 60'000);
  wire_bytes::put16(frame, kTcpAt + 18, (flags & kUrg) != 0 ? 1 : 0);
  const std::uint16_t pseudo = pseudo_sum(wire_bytes::u32(frame, 26), wire_bytes::u32(frame, 30), 6,
                                          static_cast<std::uint16_t>(20 + bytes));
  wire_bytes::put16(frame, kTcpAt + 16, 0);
  const std::span<const std::byte> tcp = std::span<const std::byte>(frame).subspan(kTcpAt);
  wire_bytes::put16(frame, kTcpAt + 16, internet_checksum(tcp, pseudo));
  return frame;
}

/// Adds to a number of 32 bits in the TCP header, `field` bytes behind its begin: the sequence (4)
/// or what it acknowledges (8). The checksum stays right.
inline void add_to_number(Frame& frame, std::size_t field, std::uint32_t by) {
  const std::span<std::byte> tcp = std::span(frame).subspan(kTcpAt);
  const std::uint32_t before = wire_bytes::u32(tcp, field), after = before + by;
  std::uint16_t sum = wire_bytes::u16(tcp, 16);
  for (const int shift : {16, 0}) {
    sum = updated_checksum(sum, static_cast<std::uint16_t>(before >> shift),
                           static_cast<std::uint16_t>(after >> shift));
  }
  wire_bytes::put32(tcp, field, after);
  wire_bytes::put16(tcp, 16, sum);
}

}  // namespace millrace
