// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/tcp_data.hpp"

#include "shared/base/ip_protocol.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ip_pseudo_sum.hpp"
#include "shared/packet/tcp_wire.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using ip_protocol::kTcp;
using tcp_wire::kSequenceAt, tcp_wire::kAcknowledgmentAt, tcp_wire::kUrgentAt,
    tcp_wire::kChecksumAt;
constexpr std::size_t kFlagsWordAt = tcp_wire::kOffsetAt;  ///< two bytes, which end with the flags

bool has_flag(std::span<const std::byte> frame, const PacketHeaders& headers,
              std::uint8_t flag) noexcept {
  return (wire_bytes::u8(frame, headers.transport_offset + tcp_wire::kFlagsAt) & flag) != 0;
}

}  // namespace

std::uint32_t tcp_sequence(std::span<const std::byte> frame,
                           const PacketHeaders& headers) noexcept {
  return wire_bytes::u32(frame, headers.transport_offset + kSequenceAt);
}

bool is_tcp_syn(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  return has_flag(frame, headers, tcp_wire::kSyn);
}

bool is_tcp_fin(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  return has_flag(frame, headers, tcp_wire::kFin);
}

bool is_tcp_reset(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  return has_flag(frame, headers, tcp_wire::kReset);
}

bool is_tcp_urgent(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  return has_flag(frame, headers, tcp_wire::kUrgent);
}

std::optional<std::uint32_t> tcp_acknowledgment(std::span<const std::byte> frame,
                                                const PacketHeaders& headers) noexcept {
  if (!has_flag(frame, headers, tcp_wire::kAck)) return std::nullopt;
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
                           ip_pseudo_sum(frame.subspan(headers.network_offset), kTcp, bytes)) == 0;
}

bool clear_urgent(std::span<std::byte> frame, const PacketHeaders& headers) noexcept {
  const std::span<std::byte> tcp = frame.subspan(headers.transport_offset);
  const std::uint16_t flags = wire_bytes::u16(tcp, kFlagsWordAt);
  if ((flags & tcp_wire::kUrgent) == 0) return false;
  const auto cleared = static_cast<std::uint16_t>(flags & ~tcp_wire::kUrgent);
  std::uint16_t checksum = wire_bytes::u16(tcp, kChecksumAt);
  checksum = updated_checksum(checksum, flags, cleared);
  checksum = updated_checksum(checksum, wire_bytes::u16(tcp, kUrgentAt), 0);
  wire_bytes::put16(tcp, kFlagsWordAt, cleared);
  wire_bytes::put16(tcp, kUrgentAt, 0);
  wire_bytes::put16(tcp, kChecksumAt, checksum);
  return true;
}

}  // namespace millrace
