// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Sequences of packets through `flow` and `nat64`, from inside and from outside: few hosts and
// ports, so that they meet. What leaves is a whole packet of the other version; a batch that is
// taken back leaves no trace; when all flows have ended no mapping is left.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "services/functions/nat64/nat64.hpp"
#include "services/functions/nat64/nat64_settings.hpp"
#include "shared/base/check.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/wire_bytes.hpp"
#include "tests/fuzz/translation_world.hpp"

namespace millrace {
namespace {

/// Eight bytes, or 20 of TCP. `inside`: of IPv6; `outwards`: from a host of the inside.
void put_transport(FrameBuilder& builder, std::uint8_t protocol, std::span<const std::uint8_t> op,
                   bool inside, bool outwards) {
  const unsigned host = inside ? 5000 + op[2] % 2 : 1024 + op[2] % 4, server = 80 + op[2] / 4 % 2;
  const unsigned from = outwards ? host : server, to = outwards ? server : host;
  if (protocol == 6) {
    builder.tcp(5, from, to);
  } else if (protocol == 17) {
    builder.udp(0, from, to);
  } else {
    const unsigned asks = inside ? 128 : 8, answers = inside ? 129 : 0;
    builder.udp(0, (outwards ? asks : answers) << 8, 1);
  }
}

/// Of `bytes`, which it lies in.
void put_checksum(Frame& frame, std::size_t at, std::span<const std::byte> bytes,
                  std::uint16_t initial) {
  wire_bytes::put16(frame, at, 0);
  wire_bytes::put16(frame, at, internet_checksum(bytes, initial));
}

/// A packet of the eight bytes, from inside or from outside: TCP, UDP, an echo, a fragment, or an
/// ICMP error that quotes one of the other direction; then one byte of it is another one.
Frame frame_of(std::span<const std::uint8_t> op, bool inside) {
  static constexpr std::uint8_t kProtocols[] = {6, 17, 17, 1};
  const bool error = op[0] % 8 >= 5, fragment = op[0] / 8 % 8 == 1 && !error;
  const std::uint8_t carried = kProtocols[op[0] % 4];
  const auto packet = [&](std::uint8_t protocol, bool from_inside, unsigned behind) {
    FrameBuilder builder;
    const auto wire = static_cast<std::uint8_t>(protocol == 1 && inside ? 58 : protocol);
    if (inside) {
      builder.ipv6(fragment ? 44 : wire, behind + (fragment ? 8 : 0));
      if (fragment) builder.fragment(wire, op[3] % 2 * 8, op[3] % 4 < 2);
    } else {
      builder.ipv4(protocol, behind, 20, fragment ? 0x2000u + op[3] % 2 : 0x4000u);
    }
    put_transport(builder, protocol, op, inside, from_inside);
    Frame frame = builder.build();
    const std::size_t transport = frame.size() - (protocol == 6 ? 20 : 8);
    if (protocol == 6) wire_bytes::put8(frame, transport + 13, op[3] % 2 == 0 ? 2 : 16);
    if (protocol == 17) wire_bytes::put16(frame, transport + 6, inside ? 77 : op[3] % 2);
    if (protocol == 1) {
      wire_bytes::put16(frame, transport + 4, inside ? 5000 + op[2] % 2 : 1024 + op[2] % 4);
    }
    Ipv6Bytes host{0x20, 1}, server{0, 0x64, 0xff, 0x9b};
    host[15] = op[1] % 2;
    wire_bytes::put32(std::as_writable_bytes(std::span(server)), 12, kServer + op[1] / 2 % 2);
    if (inside) {
      wire_bytes::put_array(frame, 22, from_inside ? host : server);
      wire_bytes::put_array(frame, 38, from_inside ? server : host);
    } else {
      wire_bytes::put32(frame, 26, from_inside ? kPublic : kServer + op[1] / 2 % 2);
      wire_bytes::put32(frame, 30, from_inside ? kServer + op[1] / 2 % 2 : kPublic);
    }
    return frame;
  };
  Frame frame;
  if (error) {
    const Frame quoted = packet(carried == 1 ? 17 : carried, !inside, 20);
    frame = packet(1, inside, static_cast<unsigned>(8 + quoted.size() - 14));
    wire_bytes::put8(frame, frame.size() - 8, inside ? 1 + op[3] % 4 : 3 + op[3] % 2 * 8);
    frame.insert(frame.end(), quoted.begin() + 14, quoted.end());
  } else {
    frame = packet(carried, inside, carried == 6 ? 20 : 8);
  }
  if (op[5] % 4 == 1) frame[14 + op[4] % (frame.size() - 14)] ^= std::byte{op[5]};
  if (!inside) put_checksum(frame, 24, std::span(frame).subspan(14, 20), 0);
  if (error && op[5] % 2 == 0) {
    const std::size_t message = inside ? 54 : 34, bytes = frame.size() - message;
    const auto ip = std::span<const std::byte>(frame).subspan(14);
    const std::uint16_t pseudo = inside ? pseudo_sum(ip.subspan<8, 16>(), ip.subspan<24, 16>(), 58,
                                                     static_cast<std::uint32_t>(bytes))
                                        : 0;
    put_checksum(frame, message + 2, std::span(frame).subspan(message), pseudo);
  }
  return frame;
}

/// What was translated is a whole packet of the other version.
void check_packet(const TranslationWorld& world, std::uint32_t packet, const Frame& sent,
                  std::span<const std::uint8_t>, std::uint8_t port) {
  const Batch& batch = world.arena.batch();
  const std::span<const std::byte> frame = batch.bytes(packet);
  if (batch.is_dropped(packet) || std::ranges::equal(frame, sent)) return;
  const PacketHeaders headers = parse_headers(frame);
  MILLRACE_CHECK(headers.ip_version == (port == kLan ? 4 : 6));
  MILLRACE_CHECK(headers.payload_end == frame.size());
  if (port == kLan) MILLRACE_CHECK(wire_bytes::u32(frame, headers.network_offset + 12u) == kPublic);
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  millrace::TranslationWorld world(millrace::nat64_type(), "5");
  millrace::run_operations(world, {data, size}, millrace::frame_of, millrace::check_packet);
  world.check_end(millrace::nat64_settings(world.plan.settings).nat);
  return 0;
}
