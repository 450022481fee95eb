// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/super_frame.hpp"

#include <algorithm>
#include <cstring>

#include "io-worker/ports/checksum.hpp"
#include "shared/base/packet.hpp"
#include "shared/base/packet_walk.hpp"

namespace millrace {
namespace {

using packet_walk::kIpv6Bytes, packet_walk::kMacsBytes, packet_walk::kTcp;

constexpr std::byte kFin{0x01}, kPush{0x08}, kWindowReduced{0x80};
constexpr std::size_t kTcpSequence = 4, kTcpFlags = 13, kTcpChecksum = 16;
constexpr std::size_t kUdpLength = 4, kUdpChecksum = 6;
constexpr std::size_t kIpv4Length = 2, kIpv4Id = 4, kIpv4Checksum = 10, kIpv4Addresses = 12;
constexpr std::size_t kIpv6Length = 4, kIpv6Addresses = 8;

std::uint32_t get(const std::byte* at, std::size_t bytes) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    value = value << 8 | std::to_integer<std::uint32_t>(at[i]);
  return value;
}

void put(std::byte* at, std::size_t bytes, std::uint32_t value) noexcept {
  for (std::size_t i = 0; i < bytes; ++i) {
    at[i] = static_cast<std::byte>(value >> 8 * (bytes - 1 - i));
  }
}

std::uint32_t sum_of(const std::byte* at, std::size_t bytes) noexcept {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes; i += 2) sum += get(at + i, 2);
  return sum;
}

std::uint32_t folded(std::uint32_t sum) noexcept {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

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

/// Sets what is known of the headers, offsets without the tag.
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
  const std::byte* const ip = frame.data() + network_;
  const std::size_t end =
      network_ + (ipv6_ ? kIpv6Bytes + get(ip + kIpv6Length, 2) : get(ip + kIpv4Length, 2));
  const std::byte* const transport = frame.data() + transport_;
  if (end != frame.size() || end <= head_bytes_) return SuperFrameIs::kMalformed;
  if (!tcp_ && get(transport + kUdpLength, 2) != end - transport_) return SuperFrameIs::kMalformed;
  no_checksum_ = !tcp_ && !fill && get(transport + kUdpChecksum, 2) == 0;
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

/// Makes the headers those of the packet whose payload begins at `begin`.
void SuperFrame::finish(std::span<std::byte> packet, std::uint32_t begin,
                        bool last) const noexcept {
  std::byte* const ip = packet.data() + network_;
  std::byte* const transport = packet.data() + transport_;
  const auto ip_bytes = static_cast<std::uint32_t>(packet.size()) - network_;
  const auto bytes = static_cast<std::uint32_t>(packet.size()) - transport_;
  if (ipv6_) {
    put(ip + kIpv6Length, 2, ip_bytes - kIpv6Bytes);
  } else {
    put(ip + kIpv4Length, 2, ip_bytes);
    put(ip + kIpv4Id, 2, get(ip + kIpv4Id, 2) + begin / segment_bytes_);
    put(ip + kIpv4Checksum, 2, 0);
    put(ip + kIpv4Checksum, 2, ~folded(sum_of(ip, transport_ - network_)));
  }
  if (tcp_) {
    put(transport + kTcpSequence, 4, get(transport + kTcpSequence, 4) + begin);
    if (!last) transport[kTcpFlags] &= ~(kFin | kPush);
    if (begin != 0) transport[kTcpFlags] &= ~kWindowReduced;
  } else {
    put(transport + kUdpLength, 2, bytes);
  }
  if (no_checksum_) return;
  const std::size_t field = tcp_ ? kTcpChecksum : kUdpChecksum;
  const std::uint32_t addresses =
      ipv6_ ? sum_of(ip + kIpv6Addresses, 32) : sum_of(ip + kIpv4Addresses, 8);
  const std::uint32_t protocol = tcp_ ? kTcp : packet_walk::kUdp;
  put(transport + field, 2, folded(addresses + protocol + bytes));
  complete_checksum(packet, transport_, field);
}

}  // namespace millrace
