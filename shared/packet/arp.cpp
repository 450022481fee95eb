// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/arp.hpp"

#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/put_headers.hpp"

namespace millrace {
namespace {

namespace wire = ipv4_wire;

// Within the frame.
constexpr std::size_t kFixedAt = 14, kOperationAt = 20, kSenderMacAt = 22, kSenderAt = 28,
                      kTargetMacAt = 32, kTargetAt = 38;
constexpr std::uint32_t kEthernetAndIpv4 = 0x0001'0800;  // hardware, protocol
constexpr std::uint16_t kAddressLengths = 0x0604;

}  // namespace

bool parse_arp(std::span<const std::byte> frame, ArpPacket& packet) noexcept {
  if (frame.size() < kArpFrameBytes || wire::u16(frame, wire::kEtherTypeAt) != wire::kTypeArp ||
      wire::u32(frame, kFixedAt) != kEthernetAndIpv4 ||
      wire::u16(frame, kFixedAt + 4) != kAddressLengths) {
    return false;
  }
  const std::uint16_t operation = wire::u16(frame, kOperationAt);
  if (operation != kArpRequest && operation != kArpReply) return false;
  packet = {.operation = operation,
            .sender_mac = wire::mac(frame, kSenderMacAt),
            .sender = wire::u32(frame, kSenderAt),
            .target_mac = wire::mac(frame, kTargetMacAt),
            .target = wire::u32(frame, kTargetAt)};
  return true;
}

void write_arp(std::span<std::byte> frame, MacAddress from, MacAddress to,
               const ArpPacket& packet) noexcept {
  put_ethernet(frame, from, to, wire::kTypeArp);
  wire::put32(frame, kFixedAt, kEthernetAndIpv4);
  wire::put16(frame, kFixedAt + 4, kAddressLengths);
  wire::put16(frame, kOperationAt, packet.operation);
  wire::put_mac(frame, kSenderMacAt, packet.sender_mac);
  wire::put32(frame, kSenderAt, packet.sender);
  wire::put_mac(frame, kTargetMacAt, packet.target_mac);
  wire::put32(frame, kTargetAt, packet.target);
}

}  // namespace millrace
