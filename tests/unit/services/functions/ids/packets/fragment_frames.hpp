// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/wire_bytes.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

/// Fragments of IP for tests, cut byte by byte where a test says.

namespace millrace {

/// Bytes [at, end) of a datagram's data.
struct Cut {
  std::size_t at, end;
  bool more;
};

inline constexpr std::size_t kIpAt = 14, kIpv4HeaderEnd = 34, kIpv6HeaderEnd = 54;

inline void put_ip_checksum(Frame& frame) {
  wire_bytes::put16(frame, kIpAt + 10, 0);
  const std::uint16_t sum = internet_checksum(std::span<const std::byte>(frame).subspan(kIpAt, 20));
  wire_bytes::put16(frame, kIpAt + 10, sum);
}

/// Of a frame of IPv4 without options, or of IPv6 without extension headers.
inline Frame cut_of(const Frame& frame, const Cut& cut, std::uint16_t id) {
  const bool is_ipv4 = wire_bytes::u16(frame, 12) == 0x0800;
  const auto begin = frame.begin();
  const auto header_end = begin + (is_ipv4 ? kIpv4HeaderEnd : kIpv6HeaderEnd);
  Frame made(begin, header_end);
  if (!is_ipv4) {
    const std::uint8_t next = wire_bytes::u8(made, kIpAt + 6);
    made.resize(made.size() + 8);
    wire_bytes::put8(made, kIpAt + 6, 44);
    wire_bytes::put8(made, kIpv6HeaderEnd, next);
    wire_bytes::put16(made, kIpv6HeaderEnd + 2, static_cast<std::uint16_t>(cut.at | cut.more));
    wire_bytes::put32(made, kIpv6HeaderEnd + 4, id);
  }
  made.insert(made.end(), header_end + static_cast<std::ptrdiff_t>(cut.at),
              header_end + static_cast<std::ptrdiff_t>(cut.end));
  if (!is_ipv4) {
    wire_bytes::put16(made, kIpAt + 4, static_cast<std::uint16_t>(made.size() - kIpv6HeaderEnd));
    return made;
  }
  wire_bytes::put16(made, kIpAt + 2, static_cast<std::uint16_t>(made.size() - kIpAt));
  wire_bytes::put16(made, kIpAt + 4, id);
  wire_bytes::put16(made, kIpAt + 6,
                    static_cast<std::uint16_t>(cut.at / 8 | (cut.more ? 0x2000 : 0)));
  put_ip_checksum(made);
  return made;
}

inline std::size_t data_bytes_of(const Frame& frame) {
  return frame.size() - (wire_bytes::u16(frame, 12) == 0x0800 ? kIpv4HeaderEnd : kIpv6HeaderEnd);
}

/// Pieces of at most `bytes`, a multiple of 8, in order.
inline std::vector<Frame> fragments_of(const Frame& frame, std::size_t bytes,
                                       std::uint16_t id = 7) {
  std::vector<Frame> made;
  const std::size_t end = data_bytes_of(frame);
  for (std::size_t at = 0; at < end; at += bytes) {
    made.push_back(cut_of(frame, {at, std::min(at + bytes, end), at + bytes < end}, id));
  }
  return made;
}

/// A datagram of UDP.
inline Frame udp_frame(std::string_view text, bool is_ipv6 = false, std::uint16_t port = 53) {
  const auto bytes = static_cast<unsigned>(text.size());
  FrameBuilder builder;
  is_ipv6 ? builder.ipv6(17, 8 + bytes) : builder.ipv4(17, 8 + bytes);
  Frame frame = builder.udp(bytes, 5000, port).text(text).build();
  if (!is_ipv6) put_ip_checksum(frame);
  return frame;
}

inline std::string random_text(std::mt19937& random, std::size_t bytes) {
  std::string text(bytes, ' ');
  for (char& letter : text) letter = static_cast<char>('a' + random() % 3);
  return text;
}

}  // namespace millrace
