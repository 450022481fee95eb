// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/packet.hpp"

#include <nmmintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "shared/base/flow_hash.hpp"
#include "shared/base/packet_walk.hpp"

namespace millrace {
namespace {

using packet_walk::kEthernetBytes, packet_walk::kTcp, packet_walk::kUdp;

/// The bytes of a frame; every read is within `size`, which the caller has checked.
struct Bytes : FrameBytes {
  template <typename T>
  T raw(std::size_t at) const {
    T value;
    std::memcpy(&value, data + at, sizeof value);
    return value;
  }
};

/// An end of an IPv6 flow in the 48 bits that mix_flow_ends takes.
std::uint64_t fold_address(const Bytes& bytes, std::size_t at, std::uint16_t port) {
  const auto address = bytes.raw<std::array<std::uint64_t, 2>>(at);
  const std::uint64_t folded = _mm_crc32_u64(_mm_crc32_u64(0, address[0]), address[1]);
  return folded << 16 | port;
}

std::uint32_t hash_without_ip(const Bytes& bytes, const PacketHeaders& headers) {
  if (bytes.size < kEthernetBytes) return mix_flow_ends(0, 0, 0);
  std::uint64_t destination = 0, source = 0;
  std::memcpy(&destination, bytes.data, 6);
  std::memcpy(&source, bytes.data + 6, 6);
  return mix_flow_ends(destination, source, headers.ether_type);
}

}  // namespace

PacketHeaders parse_headers(std::span<const std::byte> frame) noexcept {
  return walk_headers(FrameBytes{frame.data(), std::min<std::size_t>(frame.size(), UINT16_MAX)});
}

std::uint32_t flow_hash(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  const Bytes bytes{{frame.data(), frame.size()}};
  if (headers.ip_version == 0) return hash_without_ip(bytes, headers);
  const bool has_ports = (headers.protocol == kTcp || headers.protocol == kUdp) &&
                         !headers.fragment && headers.transport_offset != 0 &&
                         headers.transport_offset + 4 <= headers.payload_end;
  std::uint16_t source_port = 0, destination_port = 0;
  if (has_ports) {
    source_port = bytes.raw<std::uint16_t>(headers.transport_offset);
    destination_port = bytes.raw<std::uint16_t>(headers.transport_offset + 2u);
  }
  const std::size_t network = headers.network_offset;
  if (headers.ip_version == 4) {
    const auto source = bytes.raw<std::uint32_t>(network + 12);
    const auto destination = bytes.raw<std::uint32_t>(network + 16);
    return mix_flow_ends(std::uint64_t{source} << 16 | source_port,
                         std::uint64_t{destination} << 16 | destination_port, headers.protocol);
  }
  // Later fragments may hide the transport behind an extension header: none tells it.
  const std::uint8_t protocol = headers.fragment ? ip_protocol::kFragment : headers.protocol;
  return mix_flow_ends(fold_address(bytes, network + 8, source_port),
                       fold_address(bytes, network + 24, destination_port), protocol);
}

}  // namespace millrace
