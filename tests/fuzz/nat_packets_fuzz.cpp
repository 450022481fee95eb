// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Sequences of packets through `flow` and `nat`, from inside and from outside: few hosts and ports,
// and a table of few flows, so that they meet and push each other out. Some hosts inside send to
// the pool, and what goes to the loop comes in there. Nothing leaves untranslated, checksums are as
// right or wrong as they came; a batch that is taken back leaves no trace; when all flows have
// ended no mapping is left.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "services/functions/nat/nat.hpp"
#include "services/functions/nat/nat_settings.hpp"
#include "shared/base/check.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/wire_bytes.hpp"
#include "tests/fuzz/translation_world.hpp"

namespace millrace {
namespace {

using ip_protocol::kIcmp, ip_protocol::kTcp, ip_protocol::kUdp;

constexpr std::uint32_t kHost = 0x0a000004;
constexpr std::size_t kIpAt = 14, kSourceAt = 26, kDestinationAt = 30, kTransportAt = 34;
constexpr std::size_t kAddressBytes = kTransportAt - kSourceAt;

/// What one operation of eight bytes asks for.
struct Op {
  explicit Op(std::span<const std::uint8_t> bytes) : bytes(bytes) {}

  bool is_error() const { return bytes[0] % 8 >= 5; }
  bool is_fragment() const { return bytes[0] / 8 % 8 == 1 && !is_error(); }
  bool is_changed() const { return bytes[5] % 4 == 1; }
  std::uint8_t protocol() const {
    static constexpr std::uint8_t kProtocols[] = {kTcp, kUdp, kTcp, kIcmp};
    return kProtocols[bytes[0] % 4];
  }
  std::uint32_t host() const { return kHost + bytes[1] % 2; }
  /// Seen inside: the other end is a host inside too, by its outside address.
  bool is_hairpin() const { return bytes[4] % 4 == 3; }
  std::uint32_t server(bool inside) const {
    return inside && is_hairpin() ? kPublic : kServer + bytes[1] / 2 % 2;
  }
  unsigned port_of_host(bool inside) const {
    return inside ? 5000u + bytes[2] % 2 : 1024u + bytes[2] % 4;
  }
  unsigned port_of_server(bool inside) const {
    return inside && is_hairpin() ? 1024u + bytes[2] / 4 % 4 : 80u + bytes[2] / 4 % 2;
  }

  std::span<const std::uint8_t> bytes;
};

/// One that is seen at the inside or at the outside, with `behind` bytes behind the IP header.
Frame packet_of(const Op& op, std::uint8_t protocol, bool inside, bool outwards, unsigned behind) {
  FrameBuilder builder;
  builder.ipv4(protocol, behind, 20, op.is_fragment() ? 0x2000u + op.bytes[3] % 2 : 0x4000u);
  const unsigned from = outwards ? op.port_of_host(inside) : op.port_of_server(inside),
                 to = outwards ? op.port_of_server(inside) : op.port_of_host(inside);
  if (protocol == kTcp) {
    builder.tcp(5, from, to);
  } else if (protocol == kUdp) {
    builder.udp(0, from, to);
  } else {
    builder.udp(0, outwards ? 0x0800 : 0, 0);
  }
  Frame frame = builder.build();
  static constexpr std::uint8_t kFlags[] = {2, 16, 18, 4};  // SYN; ACK; both; RST
  if (protocol == kTcp) wire_bytes::put8(frame, kTransportAt + 13, kFlags[op.bytes[3] % 4]);
  if (protocol == kUdp) wire_bytes::put16(frame, kTransportAt + 6, op.bytes[3] % 2 * 77u);
  if (protocol == kIcmp) {
    wire_bytes::put16(frame, kTransportAt + 4, static_cast<std::uint16_t>(op.port_of_host(inside)));
  }
  const std::uint32_t host = inside ? op.host() : kPublic;
  wire_bytes::put32(frame, kSourceAt, outwards ? host : op.server(inside));
  wire_bytes::put32(frame, kDestinationAt, outwards ? op.server(inside) : host);
  return frame;
}

void put_header_checksum(Frame& frame) {
  wire_bytes::put16(frame, 24, 0);
  wire_bytes::put16(frame, 24, internet_checksum(std::span(frame).subspan(kIpAt, 20), 0));
}

/// TCP, UDP, an echo, a fragment, or an ICMP error that quotes one of the other direction; then one
/// byte of it, but of no address of the IP header, may be another one.
Frame frame_of(std::span<const std::uint8_t> operation, bool inside) {
  const Op op(operation);
  Frame frame;
  if (op.is_error()) {
    const std::uint8_t of_quote = op.protocol() == kIcmp ? kUdp : op.protocol();
    const Frame quoted = packet_of(op, of_quote, inside, !inside, 20);
    frame = packet_of(op, kIcmp, inside, inside, static_cast<unsigned>(8 + quoted.size() - kIpAt));
    wire_bytes::put8(frame, kTransportAt, 3 + op.bytes[3] % 2 * 8);
    frame.insert(frame.end(), quoted.begin() + kIpAt, quoted.end());
  } else {
    frame = packet_of(op, op.protocol(), inside, inside, op.protocol() == kTcp ? 20 : 8);
  }
  if (op.is_changed()) {
    const std::size_t at = op.bytes[4] % (frame.size() - kIpAt - kAddressBytes);
    frame[kIpAt + at + (kIpAt + at >= kSourceAt ? kAddressBytes : 0)] ^= std::byte{op.bytes[5]};
  }
  put_header_checksum(frame);
  return frame;
}

/// Of TCP or UDP, over the pseudo header: 0 where its checksum is right.
std::uint16_t rest_of_sum(std::span<const std::byte> frame) {
  const auto segment = frame.subspan(kTransportAt);
  return internet_checksum(
      segment, pseudo_sum(wire_bytes::u32(frame, kSourceAt), wire_bytes::u32(frame, kDestinationAt),
                          wire_bytes::u8(frame, 23), static_cast<std::uint16_t>(segment.size())));
}

/// Both zeros of ones' complement are one.
bool is_same_sum(std::uint16_t a, std::uint16_t b) { return a % 0xffff == b % 0xffff; }

void check_packet(const TranslationWorld& world, std::uint32_t packet, const Frame& sent,
                  std::span<const std::uint8_t> operation, std::uint8_t port) {
  const Op op(operation);
  const Batch& batch = world.arena.batch();
  if (batch.is_dropped(packet) || op.is_changed()) return;
  MILLRACE_CHECK(is_turned(batch, packet) == (port == kLan && op.is_hairpin()));
  const std::span<const std::byte> frame = batch.bytes(packet);
  MILLRACE_CHECK(frame.size() == sent.size());
  if (port == kLan) {
    MILLRACE_CHECK(wire_bytes::u32(frame, kSourceAt) == kPublic);
    MILLRACE_CHECK(wire_bytes::u32(frame, kDestinationAt) == op.server(true));
  } else {
    MILLRACE_CHECK(wire_bytes::u32(frame, kSourceAt) == op.server(port == kTurn));
    MILLRACE_CHECK(wire_bytes::u32(frame, kDestinationAt) - kHost < 2);
  }
  MILLRACE_CHECK(internet_checksum(frame.subspan(kIpAt, 20), 0) == 0);
  if (op.is_error() || op.is_fragment() || op.protocol() == kIcmp) return;
  if (op.protocol() == kUdp && wire_bytes::u16(sent, kTransportAt + 6) == 0) {
    MILLRACE_CHECK(wire_bytes::u16(frame, kTransportAt + 6) == 0);  // none (RFC 768)
    return;
  }
  MILLRACE_CHECK(is_same_sum(rest_of_sum(frame), rest_of_sum(sent)));
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  millrace::TranslationWorld world(millrace::nat_type(), "3", {{"hairpin", "turn"}});
  millrace::run_operations(world, {data, size}, millrace::frame_of, millrace::check_packet);
  world.check_end(millrace::nat_settings(world.plan.settings));
  return 0;
}
