// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/packet.hpp"
#include "shared/packet/wire_bytes.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

/// Segments between a client and a server, written down byte by byte, and read back likewise.

namespace millrace {

/// A segment as a test says it, and as it reads one.
struct Segment {
  std::uint32_t sequence = 0, acknowledgment = 0;
  std::string flags;  ///< of "FSRPA", in this order
  std::uint32_t window = 1000;
  std::vector<unsigned> options;  ///< as on the wire
  std::uint32_t data = 0;         ///< bytes

  friend bool operator==(const Segment&, const Segment&) = default;
};

/// The options of a SYN: MSS 1460, SACK, timestamp, window scale 7; and a timestamp alone.
inline std::vector<unsigned> timestamp_option(std::uint32_t value, std::uint32_t echo) {
  std::vector<unsigned> out = {1, 1, 8, 10};
  for (const std::uint32_t number : {value, echo}) {
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(number >> shift & 255);
  }
  return out;
}
inline std::vector<unsigned> syn_options(std::uint32_t value, std::uint32_t echo, unsigned shift,
                                         unsigned mss = 1460) {
  std::vector<unsigned> out = {2, 4, mss / 256, mss % 256, 4, 2, 8, 10};
  const std::vector<unsigned> timestamp = timestamp_option(value, echo);
  out.insert(out.end(), timestamp.begin() + 4, timestamp.end());
  out.insert(out.end(), {1, 3, 3, shift});
  return out;
}

/// One's complement of the sum of words, the slow way.
inline std::uint32_t slow_checksum(const Frame& bytes, std::size_t from, std::uint32_t sum) {
  for (std::size_t at = from; at < bytes.size(); ++at) {
    sum += std::to_integer<std::uint32_t>(bytes[at]) << ((at - from) % 2 == 0 ? 8 : 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}

/// The sum of addresses, protocol and length of an untagged frame of IPv4 or IPv6.
inline std::uint32_t slow_pseudo(const Frame& frame) {
  const bool is_ipv4 = std::to_integer<unsigned>(frame[14]) >> 4 == 4;
  const std::size_t transport = is_ipv4 ? 34 : 54;
  Frame addresses(frame.begin() + (is_ipv4 ? 26 : 22), frame.begin() + long(transport));
  return (~slow_checksum(addresses, 0, 0) & 0xffff) + 6 +
         static_cast<std::uint32_t>(frame.size() - transport);
}

inline Frame tcp_frame(const Segment& segment, bool from_client, unsigned client_port = 40000,
                       bool is_ipv6 = false) {
  const auto words = static_cast<unsigned>(5 + segment.options.size() / 4);
  FrameBuilder builder;
  const unsigned bytes = words * 4 + segment.data;
  is_ipv6 ? builder.ipv6(6, bytes) : builder.ipv4(6, bytes);
  Frame frame = builder.tcp(words, client_port, 80).padding(segment.data).build();
  if (!from_client) frame = reversed(frame, parse_headers(frame));
  const std::size_t at = is_ipv6 ? 54 : 34;
  if (!is_ipv6) {
    const Frame ip(frame.begin() + 14, frame.begin() + 34);
    wire_bytes::put16(frame, 24, static_cast<std::uint16_t>(slow_checksum(ip, 0, 0)));
  }
  wire_bytes::put32(frame, at + 4, segment.sequence);
  wire_bytes::put32(frame, at + 8, segment.acknowledgment);
  std::uint8_t flags = 0;
  for (const char letter : segment.flags) {
    flags = static_cast<std::uint8_t>(flags | 1u << std::string("FSRPA").find(letter));
  }
  frame[at + 13] = std::byte{flags};
  wire_bytes::put16(frame, at + 14, static_cast<std::uint16_t>(segment.window));
  for (std::size_t i = 0; i < segment.options.size(); ++i) {
    frame[at + 20 + i] = static_cast<std::byte>(segment.options[i]);
  }
  wire_bytes::put16(frame, at + 16, 0);
  wire_bytes::put16(frame, at + 16,
                    static_cast<std::uint16_t>(slow_checksum(frame, at, slow_pseudo(frame))));
  return frame;
}

/// Of an untagged frame of TCP, whose checksums have to be right: else its flags are "wrong".
inline Segment segment_in(const Frame& frame) {
  const bool is_ipv4 = std::to_integer<unsigned>(frame[14]) >> 4 == 4;
  const std::size_t at = is_ipv4 ? 34 : 54;
  Segment out;
  out.sequence = wire_bytes::u32(frame, at + 4);
  out.acknowledgment = wire_bytes::u32(frame, at + 8);
  for (unsigned bit = 0; bit < 5; ++bit) {
    if ((wire_bytes::u8(frame, at + 13) >> bit & 1) != 0) out.flags += "FSRPA"[bit];
  }
  out.window = wire_bytes::u16(frame, at + 14);
  const std::size_t end = at + std::size_t{wire_bytes::u8(frame, at + 12)} / 16 * 4;
  for (std::size_t i = at + 20; i < end; ++i) out.options.push_back(wire_bytes::u8(frame, i));
  out.data = static_cast<std::uint32_t>(frame.size() - end);
  const Frame ip(frame.begin() + 14, frame.begin() + long(is_ipv4 ? 34 : 14));
  const bool right = slow_checksum(frame, at, slow_pseudo(frame)) == 0 &&
                     (!is_ipv4 || slow_checksum(ip, 0, 0) == 0);
  if (!right) out.flags = "wrong";
  return out;
}

}  // namespace millrace
