// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/segment_run.hpp"

#include <algorithm>
#include <cstring>

#include "shared/base/packet.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ip_pseudo_sum.hpp"
#include "shared/packet/put_headers.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using packet_walk::kEthernetBytes, packet_walk::kIpv6Bytes, packet_walk::kTcp;
using wire_bytes::put16, wire_bytes::u16, wire_bytes::u32;

constexpr std::size_t kIp = kEthernetBytes;
constexpr std::size_t kIpv4Length = kIp + ipv4_wire::kTotalLengthAt,
                      kIpv4Id = kIp + ipv4_wire::kIdentificationAt,
                      kIpv4Checksum = kIp + ipv4_wire::kChecksumAt,
                      kIpv6Length = kIp + ipv6_wire::kPayloadLengthAt;
constexpr std::size_t kSequence = tcp_wire::kSequenceAt, kFlags = tcp_wire::kFlagsAt,
                      kChecksum = tcp_wire::kChecksumAt;
constexpr std::byte kAck{tcp_wire::kAck}, kPush{tcp_wire::kPush};
constexpr std::size_t kIpBytesMax = 65535;

}  // namespace

std::uint32_t SegmentRun::find(std::span<const TxPacket> packets) noexcept {
  count_ = bytes_ = 0;
  if (packets.size() < 2) return static_cast<std::uint32_t>(packets.size());
  const std::span<const std::byte> first = packets[0].bytes;
  // The cheap checks, which most packets fail, come first.
  if (packets[1].bytes.size() > first.size() || !begin(first)) return 1;
  std::span<const std::byte> last = first;
  for (const TxPacket& packet : packets) {
    if (count_ != 0 && (!follows(packet.bytes) || packet.wire_length > packet.bytes.size())) break;
    if (!is_right(packet.bytes)) break;
    last = packet.bytes;
    ++count_;
    bytes_ += static_cast<std::uint32_t>(last.size() - head_bytes_);
    const bool ends =
        last.size() != first.size() || (last[transport_ + kFlags] & kPush) != std::byte{};
    if (ends || bytes_ + payload_bytes_ + head_bytes_ > kIpBytesMax) break;
  }
  if (count_ < 2) return 1;
  finish(last);
  return count_;
}

bool SegmentRun::begin(std::span<const std::byte> first) noexcept {
  const PacketHeaders headers = parse_headers(first);
  ipv6_ = headers.ip_version == 6;
  transport_ = headers.transport_offset;
  head_bytes_ = headers.payload_offset;
  if (headers.protocol != kTcp || headers.status != ParseStatus::kOk || headers.fragment ||
      headers.network_offset != kIp || headers.payload_end != first.size() || head_bytes_ == 0 ||
      head_bytes_ >= first.size() || (ipv6_ && transport_ != kIp + kIpv6Bytes)) {
    return false;
  }
  payload_bytes_ = first.size() - head_bytes_;
  if ((first[transport_ + kFlags] & ~kPush) != kAck) return false;
  std::copy_n(first.data(), head_bytes_, head_.data());
  return true;
}

/// Whether the packet's head equals that of the first, but for the fields that should differ.
bool SegmentRun::follows(std::span<const std::byte> packet) const noexcept {
  if (packet.size() <= head_bytes_ || packet.size() > head_bytes_ + payload_bytes_) return false;
  if (u32(packet, transport_ + kSequence) != u32(head_, transport_ + kSequence) + bytes_) {
    return false;
  }
  std::array<std::byte, kHeadBytesMax> head;
  std::copy_n(packet.data(), head_bytes_, head.data());
  const auto as_first = [&](std::size_t at, std::size_t bytes) {
    std::copy_n(head_.data() + at, bytes, head.data() + at);
  };
  const std::size_t ip_bytes = packet.size() - kIp;
  if (ipv6_) {
    if (u16(head, kIpv6Length) != ip_bytes - kIpv6Bytes) return false;
    as_first(kIpv6Length, 2);
  } else {
    const std::size_t id = (u16(head_, kIpv4Id) + count_) & 0xffff;
    if (u16(head, kIpv4Length) != ip_bytes || u16(head, kIpv4Id) != id) {
      return false;
    }
    as_first(kIpv4Length, 4);
    as_first(kIpv4Checksum, 2);
  }
  as_first(transport_ + kSequence, 4);
  as_first(transport_ + kChecksum, 2);
  head[transport_ + kFlags] &= ~kPush;
  return std::memcmp(head.data(), head_.data(), head_bytes_) == 0;
}

/// A super-frame's packets get right checksums: wrong ones would be hidden.
bool SegmentRun::is_right(std::span<const std::byte> packet) const noexcept {
  if (!ipv6_ && internet_checksum(packet.subspan(kIp, transport_ - kIp)) != 0) return false;
  const std::span<const std::byte> segment = packet.subspan(transport_);
  return internet_checksum(segment, ip_pseudo_sum(packet.subspan(kIp), kTcp, segment.size())) == 0;
}

/// Makes the first packet's head the head of the super-frame.
void SegmentRun::finish(std::span<const std::byte> last) noexcept {
  head_[transport_ + kFlags] |= last[transport_ + kFlags] & kPush;
  const std::size_t ip_bytes = head_bytes_ - kIp + bytes_;
  if (ipv6_) {
    put16(head_, kIpv6Length, static_cast<std::uint16_t>(ip_bytes - kIpv6Bytes));
  } else {
    put16(head_, kIpv4Length, static_cast<std::uint16_t>(ip_bytes));
    put_ipv4_checksum(std::span(head_).subspan(kIp, transport_ - kIp));
  }
  put16(head_, transport_ + kChecksum,
        ip_pseudo_sum(std::span(head_).subspan(kIp), kTcp, head_bytes_ - transport_ + bytes_));
  offload_.flags = Offload::kFillChecksum;
  offload_.segment_type = ipv6_ ? Offload::kTcp6 : Offload::kTcp4;
  offload_.header_bytes = static_cast<std::uint16_t>(head_bytes_);
  offload_.segment_bytes = static_cast<std::uint16_t>(payload_bytes_);
  offload_.checksum_start = static_cast<std::uint16_t>(transport_);
  offload_.checksum_offset = kChecksum;
}

}  // namespace millrace
