// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "io-worker/ports/super_frame.hpp"

namespace millrace::test {

/// One super-frame as a stack makes it, its checksum left to be filled in.
struct SuperFrameText {
  bool ipv6 = false, tcp = true;
  std::size_t option_bytes = 12;  ///< of TCP
  std::size_t payload = 10000;
  std::uint16_t segment = 1000;
  char flags = '\x18';  ///< of TCP: ACK and PSH
  std::uint16_t id = 0xfffe;

  std::size_t network() const { return 14; }
  std::size_t transport() const { return network() + (ipv6 ? 40 : 20); }
  std::size_t head() const { return transport() + (tcp ? 20 + option_bytes : 8); }

  std::string text() const {
    std::mt19937 random(static_cast<unsigned>(payload));
    std::string text(head() + payload, '\0');
    for (std::size_t i = transport(); i < text.size(); ++i) text[i] = static_cast<char>(random());
    text.replace(0, 14,
                 std::string("\2\0\0\0\0\1\2\0\0\0\0\2", 12) + (ipv6 ? "\x86\xdd" : "\x08") +
                     (ipv6 ? "" : std::string(1, '\0')));
    const std::size_t bytes = text.size() - transport();
    if (ipv6) {
      text[14] = 0x60;
      put16(text, 18, bytes);
      text[20] = tcp ? 6 : 17;
      text[21] = 64;
      for (std::size_t i = 22; i < 54; ++i) text[i] = static_cast<char>(random());
    } else {
      text[14] = 0x45;
      put16(text, 16, text.size() - 14);
      put16(text, 18, id);
      text[20] = 0x40;
      text[22] = 64;
      text[23] = tcp ? 6 : 17;
      text.replace(26, 8, std::string("\x0a\0\0\1\x0a\0\0\2", 8));
      put16(text, 24, static_cast<std::uint16_t>(~sum(text, 14, 34, 0)));
    }
    if (tcp) {
      text[transport() + 12] = static_cast<char>((20 + option_bytes) / 4 << 4);
      text[transport() + 13] = flags;
      put16(text, transport() + 18, 0);
    } else {
      put16(text, transport() + 4, bytes);
    }
    put16(text, transport() + (tcp ? 16 : 6), pseudo(text, bytes));
    return text;
  }
  /// That it stands for.
  std::vector<std::string> packets() const {
    const std::string whole = text();
    SuperFrame super;
    super.begin(std::as_bytes(std::span(whole)), {}, offload(), 1514);
    std::vector<std::string> packets;
    while (super.left() != 0) {
      std::string packet(1514, '\0');
      packet.resize(super.write_next(reinterpret_cast<std::byte*>(packet.data())));
      packets.push_back(packet);
    }
    return packets;
  }
  Offload offload() const {
    Offload offload;
    offload.flags = Offload::kFillChecksum;
    offload.segment_type = !tcp ? Offload::kUdp : ipv6 ? Offload::kTcp6 : Offload::kTcp4;
    offload.header_bytes = static_cast<std::uint16_t>(head());
    offload.segment_bytes = segment;
    offload.checksum_start = static_cast<std::uint16_t>(transport());
    offload.checksum_offset = tcp ? 16 : 6;
    return offload;
  }

  /// RFC 1071, of the words from `begin` to `end`.
  static std::uint16_t sum(const std::string& text, std::size_t begin, std::size_t end,
                           std::uint64_t start) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto value = static_cast<unsigned char>(text[i]);
      start += (i - begin) % 2 == 0 ? value << 8 : value;
    }
    while (start >> 16 != 0) start = (start & 0xffff) + (start >> 16);
    return static_cast<std::uint16_t>(start);
  }
  /// Of addresses, protocol and `bytes`.
  std::uint16_t pseudo(const std::string& text, std::size_t bytes) const {
    return sum(text, ipv6 ? 22 : 26, ipv6 ? 54 : 34, bytes + (tcp ? 6 : 17));
  }
  static void put16(std::string& text, std::size_t at, std::size_t value) {
    text[at] = static_cast<char>(value >> 8);
    text[at + 1] = static_cast<char>(value);
  }
};

}  // namespace millrace::test
