// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/super_frame.hpp"

#include <algorithm>
#include <cstring>

#include "io-worker/ports/checksum.hpp"
#include "shared/base/packet.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/ip_pseudo_sum.hpp"
#include "shared/packet/put_headers.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using packet_walk::kIpv6Bytes, packet_walk::kMacsBytes, packet_walk::kTcp;
using wire_bytes::put16, wire_bytes::put32, wire_bytes::u16, wire_bytes::u32;

constexpr std::byte kFin{tcp_wire::kFin}, kPush{tcp_wire::kPush};
constexpr std::byte kWindowReduced{tcp_wire::kWindowReduced};
constexpr std::size_t kTcpSequence = tcp_wire::kSequenceAt, kTcpFlags = tcp_wire::kFlagsAt,
                      kTcpChecksum = tcp_wire::kChecksumAt;
constexpr std::size_t kUdpLength = 4, kUdpChecksum = transport_checksum_at(packet_walk::kUdp);
constexpr std::size_t kIpv4Length = ipv4_wire::kTotalLengthAt,
                      kIpv4Id = ipv4_wire::kIdentificationAt,
                      kIpv6Length = ipv6_wire::kPayloadLengthAt;

}  // namespace

SuperFrameIs SuperFrame::begin(std::span<const std::byte> frame, std::span<const std::byte> tag,
                               const Offload& offload, std::uint32_t room) noexcept {
  left_ = 0;
  if (const SuperFrameIs is = check(frame, offload); is != SuperFrameIs::kGood) return is;
  const auto tag_bytes = static_cast<std::uint32_t>(tag.size());
  if (head_bytes_ + tag_bytes > kHeadBytesMax) return SuperFrameIs::kUnknown;
  payload_ = frame.subspan(head_bytes_);
  std::byte* behind = std::copy_n(frame.data(), kMacsBytes, head_.data());
  behind = std::copy(tag.begin(), tag.end(), behind);
  std::copy_n(frame.data() + kMacsBytes, head_bytes_ - kMacsBytes, behind);
  network_ += tag_bytes;
  transport_ += tag_bytes;
  head_bytes_ += tag_bytes;
  segment_bytes_ = offload.segment_bytes;
  const auto bytes = static_cast<std::uint32_t>(payload_.size());
  if (head_bytes_ + std::min(segment_bytes_, bytes) > room) return SuperFrameIs::kUnknown;
  count_ = left_ = (bytes + segment_bytes_ - 1) / segment_bytes_;
  return SuperFrameIs::kGood;
}

/// Sets the offsets of the headers, without the VLAN tag.
SuperFrameIs SuperFrame::check(std::span<const std::byte> frame, const Offload& offload) noexcept {
  const PacketHeaders headers = parse_headers(frame.first(std::min(frame.size(), kHeadBytesMax)));
  if (offload.segment_bytes == 0) return SuperFrameIs::kMalformed;
  if (headers.payload_offset == 0 && headers.status != ParseStatus::kOk) {
    return SuperFrameIs::kMalformed;
  }
  const std::uint8_t type = offload.segment_type & ~Offload::kEcn;
  ipv6_ = headers.ip_version == 6;
  tcp_ = headers.protocol == kTcp;
  const bool known = tcp_ ? type == (ipv6_ ? Offload::kTcp6 : Offload::kTcp4)
                          : headers.protocol == packet_walk::kUdp && type == Offload::kUdp;
  network_ = headers.network_offset;
  transport_ = headers.transport_offset;
  head_bytes_ = headers.payload_offset;
  const bool extended = ipv6_ && transport_ != network_ + kIpv6Bytes;
  if (headers.ip_version == 0 || !known || extended || headers.fragment) {
    return SuperFrameIs::kUnknown;
  }
  const std::size_t field = tcp_ ? kTcpChecksum : kUdpChecksum;
  const bool fill = (offload.flags & Offload::kFillChecksum) != 0;
  if (fill && std::size_t{offload.checksum_start} + offload.checksum_offset + 2 > frame.size()) {
    return SuperFrameIs::kMalformed;
  }
  if (fill && offload.checksum_start != transport_) return SuperFrameIs::kUnknown;  // in a tunnel
  if (fill && offload.checksum_offset != field) return SuperFrameIs::kMalformed;
  const auto ip = frame.subspan(network_), transport = frame.subspan(transport_);
  const std::size_t end =
      network_ + (ipv6_ ? kIpv6Bytes + u16(ip, kIpv6Length) : u16(ip, kIpv4Length));
  if (end != frame.size() || end <= head_bytes_) return SuperFrameIs::kMalformed;
  if (!tcp_ && u16(transport, kUdpLength) != end - transport_) return SuperFrameIs::kMalformed;
  no_checksum_ = !tcp_ && !fill && u16(transport, kUdpChecksum) == 0;
  return SuperFrameIs::kGood;
}

std::uint32_t SuperFrame::write_next(std::byte* to) noexcept {
  const std::uint32_t begin = (count_ - left_) * segment_bytes_;
  const auto bytes = std::min(segment_bytes_, static_cast<std::uint32_t>(payload_.size()) - begin);
  std::memcpy(to, head_.data(), head_bytes_);
  std::memcpy(to + head_bytes_, payload_.data() + begin, bytes);
  --left_;
  finish({to, head_bytes_ + bytes}, begin, left_ == 0);
  return head_bytes_ + bytes;
}

/// Makes the headers those of the packet with the payload from `begin` on.
void SuperFrame::finish(std::span<std::byte> packet, std::uint32_t begin,
                        bool last) const noexcept {
  const std::span<std::byte> ip = packet.subspan(network_), transport = packet.subspan(transport_);
  if (ipv6_) {
    put16(ip, kIpv6Length, static_cast<std::uint16_t>(ip.size() - kIpv6Bytes));
  } else {
    put16(ip, kIpv4Length, static_cast<std::uint16_t>(ip.size()));
    put16(ip, kIpv4Id, static_cast<std::uint16_t>(u16(ip, kIpv4Id) + begin / segment_bytes_));
    put_ipv4_checksum(ip.first(transport_ - network_));
  }
  if (tcp_) {
    put32(transport, kTcpSequence, u32(transport, kTcpSequence) + begin);
    if (!last) transport[kTcpFlags] &= ~(kFin | kPush);
    if (begin != 0) transport[kTcpFlags] &= ~kWindowReduced;
  } else {
    put16(transport, kUdpLength, static_cast<std::uint16_t>(transport.size()));
  }
  if (no_checksum_) return;
  const std::size_t field = tcp_ ? kTcpChecksum : kUdpChecksum;
  const std::uint8_t protocol = tcp_ ? kTcp : packet_walk::kUdp;
  put16(transport, field, ip_pseudo_sum(ip, protocol, transport.size()));
  complete_checksum(packet, transport_, field);
}

}  // namespace millrace
