// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string_view>
#include <vector>

#include "shared/base/packet.hpp"

/// Frames for tests: built header by header, drawn at random, turned round.

namespace millrace {

using Frame = std::vector<std::byte>;

/// Appends headers in the order of the calls. Lengths are given, not derived, so that they can lie.
class FrameBuilder {
 public:
  FrameBuilder() { put({2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}); }

  FrameBuilder& type(unsigned ether_type) { return put16(ether_type); }
  FrameBuilder& vlan(unsigned tag_type) { return put16(tag_type).put16(100); }
  /// `header_bytes`: a multiple of 4 up to 60; below 20 only the length nibble lies.
  FrameBuilder& ipv4(unsigned protocol, unsigned behind_bytes, unsigned header_bytes = 20,
                     unsigned flags_and_offset = 0x4000) {
    type(0x0800).put({0x40 + header_bytes / 4, 0}).put16(header_bytes + behind_bytes);
    put16(77).put16(flags_and_offset).put({64, protocol}).put16(0);
    put({10, 1, 0, 5, 192, 0, 2, 9});
    for (unsigned at = 20; at < header_bytes; ++at) put({1});
    return *this;
  }
  FrameBuilder& ipv6(unsigned next, unsigned behind_bytes) {
    type(0x86dd).put({0x60, 0, 0, 0}).put16(behind_bytes).put({next, 64});
    for (unsigned i = 0; i < 16; ++i) put({0x20 + i});
    for (unsigned i = 0; i < 16; ++i) put({0x50 + i * 3});
    return *this;
  }
  FrameBuilder& extension(unsigned next, unsigned bytes) {
    put({next, bytes / 8 - 1});
    for (unsigned i = 2; i < bytes; ++i) put({0});
    return *this;
  }
  FrameBuilder& fragment(unsigned next, unsigned offset_bytes, bool more) {
    return put({next, 0}).put16(offset_bytes / 8 * 8 + (more ? 1u : 0u)).put16(0).put16(9);
  }
  FrameBuilder& tcp(unsigned words, unsigned source = 40000, unsigned destination = 80) {
    put16(source).put16(destination).put16(0).put16(1).put16(0).put16(2).put({words * 16, 0x18});
    put16(1024).put16(0).put16(0);
    for (unsigned word = 5; word < words; ++word) put({1, 1, 1, 1});
    return *this;
  }
  FrameBuilder& udp(unsigned payload_bytes, unsigned source = 5000, unsigned destination = 53) {
    return put16(source).put16(destination).put16(8 + payload_bytes).put16(0);
  }
  FrameBuilder& text(std::string_view bytes) {
    for (char byte : bytes) frame_.push_back(static_cast<std::byte>(byte));
    return *this;
  }
  FrameBuilder& padding(unsigned bytes) {
    frame_.resize(frame_.size() + bytes);
    return *this;
  }
  Frame build() const { return frame_; }

 private:
  FrameBuilder& put(std::initializer_list<unsigned> bytes) {
    for (unsigned byte : bytes) frame_.push_back(static_cast<std::byte>(byte));
    return *this;
  }
  FrameBuilder& put16(unsigned value) { return put({value / 256, value % 256}); }

  Frame frame_;
};

/// A well-formed frame of one of many shapes, in a third of the cases cut or with bytes changed.
inline Frame random_frame(std::mt19937& random) {
  const auto upto = [&](unsigned limit) { return static_cast<unsigned>(random() % (limit + 1)); };
  const unsigned payload = upto(60);
  const unsigned protocol = std::vector<unsigned>{6, 17, 6, 17, 1, 47, 132, 50}[upto(7)];
  const unsigned words = 5 + upto(3);
  const unsigned header = protocol == 6 ? words * 4 : 8;
  FrameBuilder builder;
  for (unsigned tags = upto(5); tags > 2; --tags) builder.vlan(upto(1) == 0 ? 0x8100 : 0x88a8);
  const unsigned shape = upto(9);
  if (shape == 0) {
    builder.type(upto(1) == 0 ? 0x0806 : 0x8847).padding(upto(40));
  } else if (shape < 6) {
    const unsigned options = upto(3) == 0 ? 4 * upto(10) : 0;
    const unsigned fragments[] = {0x4000, 0, 0x4000, 0, 0x2000, 0x2010, 0x0011};
    builder.ipv4(protocol, header + payload, 20 + options, fragments[upto(6)]);
  } else {
    std::vector<unsigned> chain;
    const unsigned kinds[] = {0, 43, 60, 44, 51, 135, 139, 140};
    for (unsigned left = upto(1) == 0 ? 0 : upto(9); left > 0; --left)
      chain.push_back(kinds[upto(7)]);
    unsigned bytes = 0;
    for (unsigned kind : chain) bytes += kind == 44 ? 8 : 16;
    chain.push_back(protocol);
    builder.ipv6(chain[0], bytes + header + payload);
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
      if (chain[i] == 44) {
        builder.fragment(chain[i + 1], upto(2) == 0 ? 8 * upto(9) : 0, upto(2) == 0);
      } else if (chain[i] == 51) {  // its length counts words of 4, less 2
        builder.extension(chain[i + 1], 24).padding(0);
      } else {
        builder.extension(chain[i + 1], 16);
      }
    }
  }
  if (shape > 0) {
    protocol == 6 ? builder.tcp(words, upto(65535), upto(65535))
                  : builder.udp(payload, upto(65535));
    builder.padding(payload + (upto(3) == 0 ? upto(20) : 0));
  }
  Frame frame = builder.build();
  if (upto(5) == 0) frame.resize(upto(static_cast<unsigned>(frame.size())));
  if (upto(3) == 0 && !frame.empty()) {
    for (unsigned changes = upto(3); changes > 0; --changes) {
      frame[upto(static_cast<unsigned>(std::min<std::size_t>(frame.size() - 1, 80)))] =
          std::byte(upto(255));
    }
  }
  return frame;
}

/// The frame of the opposite direction: MAC addresses, IP addresses and ports exchanged.
inline Frame reversed(Frame frame, const PacketHeaders& headers) {
  const auto exchange = [&](std::size_t one, std::size_t other, std::size_t bytes) {
    std::swap_ranges(frame.begin() + static_cast<std::ptrdiff_t>(one),
                     frame.begin() + static_cast<std::ptrdiff_t>(one + bytes),
                     frame.begin() + static_cast<std::ptrdiff_t>(other));
  };
  if (frame.size() >= 14) exchange(0, 6, 6);
  const std::size_t ip = headers.network_offset;
  if (headers.ip_version == 4) exchange(ip + 12, ip + 16, 4);
  if (headers.ip_version == 6) exchange(ip + 8, ip + 24, 16);
  const bool ports = headers.protocol == 6 || headers.protocol == 17;
  const std::size_t transport = headers.transport_offset;
  if (ports && transport != 0 && transport + 4 <= headers.payload_end)
    exchange(transport, transport + 2, 2);
  return frame;
}

}  // namespace millrace
