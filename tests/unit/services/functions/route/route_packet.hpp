// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "services/functions/route/ipv6_address.hpp"

namespace millrace {

/// A frame with an IPv4 header that is right unless told otherwise. Written byte by byte, without
/// the code under test.
struct FrameSpec {
  std::uint8_t destination_mac_first = 0x02;
  std::uint32_t source = 0x0a010005;       // 10.1.0.5
  std::uint32_t destination = 0x0a020007;  // 10.2.0.7
  std::uint8_t ttl = 64;
  std::uint8_t option_words = 0;
  std::uint16_t payload = 26;
};

inline void put16(std::vector<std::byte>& bytes, std::size_t at, std::uint32_t value) {
  bytes[at] = std::byte(value >> 8 & 255);
  bytes[at + 1] = std::byte(value & 255);
}

inline void put32(std::vector<std::byte>& bytes, std::size_t at, std::uint32_t value) {
  put16(bytes, at, value >> 16);
  put16(bytes, at + 2, value);
}

/// Sums the header anew (RFC 791), big-endian words, carry folded at once.
inline std::uint16_t header_checksum(const std::vector<std::byte>& frame) {
  std::uint32_t sum = 0;
  const std::size_t end = 14 + (std::to_integer<std::size_t>(frame[14]) & 15) * 4;
  for (std::size_t at = 14; at < end; at += 2) {
    if (at == 24) continue;
    sum += std::to_integer<std::uint32_t>(frame[at]) << 8 |
           std::to_integer<std::uint32_t>(frame[at + 1]);
    if (sum > 0xffff) sum -= 0xffff;
  }
  return static_cast<std::uint16_t>(~sum);
}

inline std::vector<std::byte> make_frame(const FrameSpec& spec) {
  const std::size_t header = 20 + spec.option_words * 4;
  std::vector<std::byte> frame(14 + header + spec.payload, std::byte{0xa5});
  frame[0] = std::byte(spec.destination_mac_first);
  put16(frame, 12, 0x0800);
  frame[14] = std::byte(0x40 + header / 4);
  frame[15] = std::byte{0};
  put16(frame, 16, static_cast<std::uint32_t>(header + spec.payload));
  put32(frame, 18, 0x12344000);
  frame[22] = std::byte(spec.ttl);
  frame[23] = std::byte{17};
  put32(frame, 26, spec.source);
  put32(frame, 30, spec.destination);
  for (std::size_t i = 0; i < spec.option_words * 4u; ++i) frame[34 + i] = std::byte{1};
  put16(frame, 24, header_checksum(frame));
  return frame;
}

/// A frame with an IPv6 header that is right unless told otherwise.
struct Ipv6FrameSpec {
  std::uint8_t destination_mac_first = 0x02;
  Ipv6Address source = {0x20010db8'00000000, 0x5};
  Ipv6Address destination = {0x20010db8'00020000, 0x7};
  std::uint8_t hop_limit = 64;
  std::uint8_t next_header = 17;
  std::uint16_t payload = 26;
};

inline void put128(std::vector<std::byte>& bytes, std::size_t at, Ipv6Address address) {
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[at + i] = std::byte(address.high >> (56 - 8 * i) & 255);
    bytes[at + 8 + i] = std::byte(address.low >> (56 - 8 * i) & 255);
  }
}

inline std::vector<std::byte> make_ipv6_frame(const Ipv6FrameSpec& spec) {
  std::vector<std::byte> frame(14 + 40 + spec.payload, std::byte{0xa5});
  frame[0] = std::byte(spec.destination_mac_first);
  put16(frame, 12, 0x86dd);
  put32(frame, 14, 0x60012345);
  put16(frame, 18, spec.payload);
  frame[20] = std::byte(spec.next_header);
  frame[21] = std::byte(spec.hop_limit);
  put128(frame, 22, spec.source);
  put128(frame, 38, spec.destination);
  return frame;
}

}  // namespace millrace
