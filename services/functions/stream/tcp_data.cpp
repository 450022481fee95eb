// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/tcp_data.hpp"

#include "shared/base/ip_protocol.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using ip_protocol::kTcp;
constexpr std::size_t kSequenceAt = 4, kAcknowledgmentAt = 8, kFlagsAt = 12, kUrgentAt = 18;
constexpr std::size_t kChecksumAt = transport_checksum_at(kTcp);
// Of the word at kFlagsAt.
constexpr std::uint16_t kFinFlag = 0x01, kSynFlag = 0x02, kResetFlag = 0x04, kAckFlag = 0x10,
                        kUrgentFlag = 0x20;

std::uint16_t pseudo_sum_of(std::span<const std::byte> frame, const PacketHeaders& headers,
                            std::size_t bytes) noexcept {
  const std::span<const std::byte> ip = frame.subspan(headers.network_offset);
  if (headers.ip_version == 4) {
    return pseudo_sum(wire_bytes::u32(ip, 12), wire_bytes::u32(ip, 16), kTcp,
                      static_cast<std::uint16_t>(bytes));
  }
  return pseudo_sum(ip.subspan<8, 16>(), ip.subspan<24, 16>(), kTcp,
                    static_cast<std::uint32_t>(bytes));
}

}  // namespace

std::uint32_t tcp_sequence(std::span<const std::byte> frame,
                           const PacketHeaders& headers) noexcept {
  return wire_bytes::u32(frame, headers.transport_offset + kSequenceAt);
}

bool is_tcp_syn(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  return (wire_bytes::u16(frame, headers.transport_offset + kFlagsAt) & kSynFlag) != 0;
}

bool is_tcp_fin(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  return (wire_bytes::u16(frame, headers.transport_offset + kFlagsAt) & kFinFlag) != 0;
}

bool is_tcp_reset(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  return (wire_bytes::u16(frame, headers.transport_offset + kFlagsAt) & kResetFlag) != 0;
}

bool is_tcp_urgent(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  return (wire_bytes::u16(frame, headers.transport_offset + kFlagsAt) & kUrgentFlag) != 0;
}

std::optional<std::uint32_t> tcp_acknowledgment(std::span<const std::byte> frame,
                                                const PacketHeaders& headers) noexcept {
  const std::uint16_t flags = wire_bytes::u16(frame, headers.transport_offset + kFlagsAt);
  if ((flags & kAckFlag) == 0) return std::nullopt;
  return wire_bytes::u32(frame, headers.transport_offset + kAcknowledgmentAt);
}

std::span<const std::byte> tcp_data(std::span<const std::byte> frame,
                                    const PacketHeaders& headers) noexcept {
  if (headers.payload_offset == 0 || headers.payload_offset >= headers.payload_end) return {};
  return frame.subspan(headers.payload_offset,
                       std::size_t{headers.payload_end} - headers.payload_offset);
}

bool has_good_tcp_checksum(std::span<const std::byte> frame,
                           const PacketHeaders& headers) noexcept {
  const std::size_t bytes = std::size_t{headers.payload_end} - headers.transport_offset;
  return internet_checksum(frame.subspan(headers.transport_offset, bytes),
                           pseudo_sum_of(frame, headers, bytes)) == 0;
}

bool clear_urgent(std::span<std::byte> frame, const PacketHeaders& headers) noexcept {
  const std::span<std::byte> tcp = frame.subspan(headers.transport_offset);
  const std::uint16_t flags = wire_bytes::u16(tcp, kFlagsAt);
  if ((flags & kUrgentFlag) == 0) return false;
  const auto cleared = static_cast<std::uint16_t>(flags & ~kUrgentFlag);
  std::uint16_t checksum = wire_bytes::u16(tcp, kChecksumAt);
  checksum = updated_checksum(checksum, flags, cleared);
  checksum = updated_checksum(checksum, wire_bytes::u16(tcp, kUrgentAt), 0);
  wire_bytes::put16(tcp, kFlagsAt, cleared);
  wire_bytes::put16(tcp, kUrgentAt, 0);
  wire_bytes::put16(tcp, kChecksumAt, checksum);
  return true;
}

}  // namespace millrace
