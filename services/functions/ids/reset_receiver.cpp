// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/reset_receiver.hpp"

#include <cstddef>
#include <span>

#include "shared/base/ip_protocol.hpp"
#include "shared/config/known.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ip_pseudo_sum.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using ip_protocol::kTcp;
constexpr std::size_t kTcpBytes = 20, kIpv6Bytes = 40;
// Places in the TCP header.
constexpr std::size_t kSequenceAt = 4, kOffsetAndFlagsAt = 12, kWindowAt = 14, kTcpChecksumAt = 16,
                      kUrgentAt = 18;
constexpr std::uint16_t kOffsetOfFiveWords = 5 << 12, kAckFlag = 0x10, kRstFlag = 0x04;
// Places in the IP headers.
constexpr std::size_t kTotalLengthAt = 2, kIpv4ChecksumAt = 10, kPayloadLengthAt = 4;

/// Writes the lengths of IP for a packet of `bytes`.
void shorten_ip(std::span<std::byte> ip, std::uint8_t version, std::size_t bytes) {
  if (version == 4) {
    std::uint16_t checksum = wire_bytes::u16(ip, kIpv4ChecksumAt);
    const auto total = static_cast<std::uint16_t>(bytes);
    checksum = updated_checksum(checksum, wire_bytes::u16(ip, kTotalLengthAt), total);
    wire_bytes::put16(ip, kTotalLengthAt, total);
    wire_bytes::put16(ip, kIpv4ChecksumAt, checksum);
    return;
  }
  wire_bytes::put16(ip, kPayloadLengthAt, static_cast<std::uint16_t>(bytes - kIpv6Bytes));
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
  const std::uint16_t flags = wire_bytes::u16(tcp, kOffsetAndFlagsAt);
  if ((flags & kRstFlag) != 0) return false;
  if (!batch.grow_back(packet,
                       static_cast<std::int32_t>(end) - static_cast<std::int32_t>(frame.size()))) {
    return false;
  }
  if (expects) wire_bytes::put32(tcp, kSequenceAt, *expects);
  wire_bytes::put16(tcp, kOffsetAndFlagsAt,
                    static_cast<std::uint16_t>(kOffsetOfFiveWords | kRstFlag | (flags & kAckFlag)));
  wire_bytes::put16(tcp, kWindowAt, 0);
  wire_bytes::put16(tcp, kTcpChecksumAt, 0);
  wire_bytes::put16(tcp, kUrgentAt, 0);
  const std::span<std::byte> ip = frame.subspan(headers.network_offset);
  shorten_ip(ip, headers.ip_version, end - headers.network_offset);
  wire_bytes::put16(tcp, kTcpChecksumAt,
                    internet_checksum(tcp, ip_pseudo_sum(ip, kTcp, kTcpBytes)));
  return true;
}

}  // namespace millrace
