// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/reset_receiver.hpp"

#include <cstddef>
#include <span>

#include "shared/base/ip_protocol.hpp"
#include "shared/config/known.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ip_pseudo_sum.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/put_headers.hpp"
#include "shared/packet/tcp_wire.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using ip_protocol::kTcp;
constexpr std::size_t kTcpBytes = tcp_wire::kHeaderBytesMin;

/// Writes the lengths of IP for a packet of `bytes`.
void shorten_ip(std::span<std::byte> ip, std::uint8_t version, std::size_t bytes) {
  if (version == 4) {
    namespace wire = ipv4_wire;
    std::uint16_t checksum = wire::u16(ip, wire::kChecksumAt);
    const auto total = static_cast<std::uint16_t>(bytes);
    checksum = updated_checksum(checksum, wire::u16(ip, wire::kTotalLengthAt), total);
    wire::put16(ip, wire::kTotalLengthAt, total);
    wire::put16(ip, wire::kChecksumAt, checksum);
    return;
  }
  wire_bytes::put16(ip, ipv6_wire::kPayloadLengthAt,
                    static_cast<std::uint16_t>(bytes - ipv6_wire::kHeaderBytes));
}

}  // namespace

bool turn_into_reset(const Batch& batch, std::uint16_t packet, const PacketHeaders& headers,
                     std::optional<std::uint32_t> expects) noexcept {
  const std::size_t end = headers.transport_offset + kTcpBytes;
  if (headers.status != ParseStatus::kOk || headers.protocol != kTcp || headers.fragment ||
      headers.payload_offset == 0 || headers.payload_end < end || end > kHeaderRewriteBytes) {
    return false;
  }
  const std::span<std::byte> frame = batch.bytes(packet);
  const std::span<std::byte> tcp = frame.subspan(headers.transport_offset, kTcpBytes);
  const std::uint8_t flags = wire_bytes::u8(tcp, tcp_wire::kFlagsAt);
  if ((flags & tcp_wire::kReset) != 0) return false;
  if (!batch.grow_back(packet,
                       static_cast<std::int32_t>(end) - static_cast<std::int32_t>(frame.size()))) {
    return false;
  }
  put_tcp(tcp, {.source = wire_bytes::u16(tcp, tcp_wire::kSourcePortAt),
                .destination = wire_bytes::u16(tcp, tcp_wire::kDestinationPortAt),
                .sequence = expects.value_or(wire_bytes::u32(tcp, tcp_wire::kSequenceAt)),
                .acknowledgment = wire_bytes::u32(tcp, tcp_wire::kAcknowledgmentAt),
                .flags = static_cast<std::uint8_t>(tcp_wire::kReset | (flags & tcp_wire::kAck))});
  const std::span<std::byte> ip = frame.subspan(headers.network_offset);
  shorten_ip(ip, headers.ip_version, end - headers.network_offset);
  put_tcp_checksum(tcp, ip_pseudo_sum(ip, kTcp, kTcpBytes));
  return true;
}

}  // namespace millrace
