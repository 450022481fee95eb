// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "shared/base/packet.hpp"

/// A second reading of the same RFCs, slow and with checked access: what parse_headers must say.
/// Written as a cursor that throws; shares nothing with the code under test but the result's type.

namespace millrace::oracle {

struct Cut {};  ///< thrown: the capture holds less than announced
struct Bad {};  ///< thrown: a header contradicts itself

class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, std::size_t limit) : limit_(limit) {
    for (std::byte byte : bytes) held_.push_back(std::to_integer<unsigned>(byte));
  }
  std::size_t at = 0;
  /// `limit`: the announced end of the packet; beyond it is Bad, beyond the bytes held Cut.
  void set_limit(std::size_t limit) { limit_ = limit; }
  void need(std::size_t count) const {
    if (at + count > limit_) throw Bad{};
    if (at + count > held_.size()) throw Cut{};
  }
  unsigned peek(std::size_t ahead) const { return held_.at(at + ahead); }
  unsigned peek2(std::size_t ahead) const { return peek(ahead) * 256 + peek(ahead + 1); }
  void skip(std::size_t count) {
    need(count);
    at += count;
  }
  bool cut() const { return limit_ > held_.size(); }
  std::size_t end() const { return limit_ < held_.size() ? limit_ : held_.size(); }

 private:
  std::vector<unsigned> held_;
  std::size_t limit_;
};

inline void read_transport(Cursor& in, PacketHeaders& out) {
  in.skip(0);
  out.transport_offset = static_cast<std::uint16_t>(in.at);
  if (out.protocol == 17) in.skip(8);
  if (out.protocol == 6) {
    in.need(20);
    const unsigned words = in.peek(12) >> 4;
    if (words < 5) throw Bad{};
    in.skip(words * 4);
  }
  out.payload_offset = static_cast<std::uint16_t>(in.at);
}

inline void read_later_fragment(Cursor& in, PacketHeaders& out) {
  in.skip(0);
  out.payload_offset = static_cast<std::uint16_t>(in.at);
}

inline void enter(Cursor& in, unsigned version, std::size_t bytes, PacketHeaders& out) {
  in.need(bytes);
  if (in.peek(0) / 16 != version) throw Bad{};
  out.ip_version = static_cast<std::uint8_t>(version);
  out.network_offset = static_cast<std::uint16_t>(in.at);
}

inline void read_ipv4(Cursor& in, PacketHeaders& out) {
  enter(in, 4, 20, out);
  const unsigned header = (in.peek(0) & 15) * 4, total = in.peek2(2), flags = in.peek2(6);
  out.protocol = static_cast<std::uint8_t>(in.peek(9));
  const unsigned offset = flags % 8192;
  out.fragment = offset > 0 || (flags / 8192) % 2 == 1;
  out.first_fragment = out.fragment && offset == 0;
  out.fragment_offset = static_cast<std::uint16_t>(offset);
  in.set_limit(in.at + total);
  out.payload_end = static_cast<std::uint16_t>(in.end());
  if (header < 20 || total < header) throw Bad{};
  in.skip(header);
  if (offset > 0) read_later_fragment(in, out);
  if (offset == 0) read_transport(in, out);
}

inline void read_ipv6(Cursor& in, PacketHeaders& out) {
  enter(in, 6, 40, out);
  out.protocol = static_cast<std::uint8_t>(in.peek(6));
  in.set_limit(in.at + 40 + in.peek2(4));
  out.payload_end = static_cast<std::uint16_t>(in.end());
  in.at += 40;
  const std::set<unsigned> by_eights = {0, 43, 60, 135, 139, 140};
  for (int left = 8;; --left) {
    const unsigned type = out.protocol;
    if (by_eights.count(type) == 0 && type != 44 && type != 51) return read_transport(in, out);
    if (left == 0) throw Bad{};
    in.need(8);
    out.protocol = static_cast<std::uint8_t>(in.peek(0));
    std::size_t bytes = 8;
    if (type == 51) bytes = 8 + in.peek(1) * 4;
    if (by_eights.count(type) == 1) bytes = 8 + in.peek(1) * 8;
    if (type == 44) {
      const unsigned word = in.peek2(2);
      if (word / 8 != 0 || word % 2 == 1) out.fragment = true;
      out.first_fragment = out.fragment && word / 8 == 0;
      out.fragment_offset = static_cast<std::uint16_t>(word / 8);
    }
    in.skip(bytes);
    if (out.fragment && !out.first_fragment) return read_later_fragment(in, out);
  }
}

inline PacketHeaders parse(std::span<const std::byte> frame) {
  PacketHeaders out;
  if (frame.size() > 65535) frame = frame.first(65535);
  out.payload_end = static_cast<std::uint16_t>(frame.size());
  Cursor in(frame, SIZE_MAX / 2);
  try {
    in.need(14);
    in.at = 12;
    for (;; ++out.vlan_tags) {
      out.ether_type = static_cast<std::uint16_t>(in.peek2(0));
      in.skip(2);
      const bool tag = out.ether_type == 0x8100 || out.ether_type == 0x88a8;
      if (!tag || out.vlan_tags == 2) break;
      in.need(4);
      in.skip(2);
    }
    if (out.ether_type == 0x0800) read_ipv4(in, out);
    if (out.ether_type == 0x86dd) read_ipv6(in, out);
    if (out.ip_version != 0 && in.cut()) throw Cut{};
  } catch (const Cut&) {
    out.status = ParseStatus::kTruncated;
  } catch (const Bad&) {
    out.status = ParseStatus::kMalformed;
  }
  return out;
}

/// CRC-32C bit by bit (Castagnoli, reflected 0x82F63B78), without the final inversion.
inline std::uint32_t crc32c(std::uint32_t crc, std::uint64_t word) {
  for (int bit = 0; bit < 64; ++bit, word >>= 1) {
    const bool carry = ((crc ^ word) & 1) != 0;
    crc = (crc >> 1) ^ (carry ? 0x82F63B78u : 0);
  }
  return crc;
}

}  // namespace millrace::oracle
