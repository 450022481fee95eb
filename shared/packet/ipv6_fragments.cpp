// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/ipv6_fragments.hpp"

#include <algorithm>

#include "shared/base/ip_protocol.hpp"
#include "shared/packet/ipv6_wire.hpp"

namespace millrace {
namespace {

namespace wire = ipv6_wire;

constexpr std::size_t kUnitBytes = 8;  // of the fragment offset
constexpr std::size_t kOffsetMax = 65'535;
constexpr std::size_t kFieldAt = 2, kFragmentIdentificationAt = 4;  // of the fragment header
constexpr std::size_t kMore = 1;
using ip_protocol::kFragment;
using wire::kFragmentBytes, wire::kNextHeaderAt, wire::kPayloadLengthAt;

}  // namespace

Ipv6Fragments::Ipv6Fragments(std::span<const std::byte> packet, std::size_t mtu,
                             std::uint32_t identification) noexcept
    : identification_(identification) {
  if (packet.size() < wire::kHeaderBytes || wire::u8(packet, 0) >> 4 != 6) return;
  const std::size_t payload_bytes = wire::u16(packet, kPayloadLengthAt);
  if (payload_bytes > packet.size() - wire::kHeaderBytes) return;
  packet_ = packet.first(wire::kHeaderBytes + payload_bytes);
  if (packet_.size() <= mtu) {
    count_ = 1;
    return;
  }
  if (mtu < wire::kHeaderBytes + kFragmentBytes + kUnitBytes) return;
  data_at_ = wire::kHeaderBytes;
  next_header_ = wire::u8(packet_, kNextHeaderAt);
  if (next_header_ == kFragment && payload_bytes >= kFragmentBytes) take_fragment_header();
  const std::size_t data_bytes = packet_.size() - data_at_;
  if (offset_ + data_bytes > kOffsetMax) return;
  const std::size_t room = mtu - wire::kHeaderBytes - kFragmentBytes;
  part_bytes_ = room / kUnitBytes * kUnitBytes;
  // The last one may fill its room, which need not be whole units.
  count_ = static_cast<std::uint32_t>(1 + (data_bytes - room + part_bytes_ - 1) / part_bytes_);
}

void Ipv6Fragments::take_fragment_header() noexcept {
  const std::span<const std::byte> header = packet_.subspan(wire::kHeaderBytes, kFragmentBytes);
  const std::uint16_t field = wire::u16(header, kFieldAt);
  next_header_ = wire::u8(header, 0);
  offset_ = field & ~(kUnitBytes - 1);
  more_ = (field & kMore) != 0;
  identification_ = wire_bytes::u32(header, kFragmentIdentificationAt);
  data_at_ += kFragmentBytes;
}

std::size_t Ipv6Fragments::write(std::uint32_t number, std::span<std::byte> out) const noexcept {
  if (number >= count_) return 0;
  if (count_ == 1) {
    if (out.size() < packet_.size()) return 0;
    std::ranges::copy(packet_, out.begin());
    return packet_.size();
  }
  const std::span<const std::byte> data = packet_.subspan(data_at_);
  const bool last = number + 1 == count_;
  const std::size_t at = number * part_bytes_;
  const auto part = last ? data.subspan(at) : data.subspan(at, part_bytes_);
  const std::size_t bytes = wire::kHeaderBytes + kFragmentBytes + part.size();
  if (out.size() < bytes) return 0;
  std::ranges::copy(packet_.first(wire::kHeaderBytes), out.begin());
  wire::put16(out, kPayloadLengthAt, static_cast<std::uint16_t>(kFragmentBytes + part.size()));
  wire::put8(out, kNextHeaderAt, kFragment);
  const std::span<std::byte> fragment = out.subspan(wire::kHeaderBytes);
  const std::size_t more = !last || more_ ? kMore : 0;
  wire::put16(fragment, 0, static_cast<std::uint16_t>(next_header_ << 8));
  wire::put16(fragment, kFieldAt, static_cast<std::uint16_t>((offset_ + at) | more));
  wire::put32(fragment, kFragmentIdentificationAt, identification_);
  std::ranges::copy(part, fragment.subspan(kFragmentBytes).begin());
  return bytes;
}

}  // namespace millrace
