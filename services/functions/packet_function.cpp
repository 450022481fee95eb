// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/packet_function.hpp"

#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

enum class PacketEvent : std::uint8_t { kEthernet, kIp, kUdp, kTcp };

PacketEvent packet_event_of(const PacketHeaders& headers) noexcept {
  const bool walked_ip = headers.transport_offset != 0 || headers.payload_offset != 0;
  if (headers.ip_version == 0) return PacketEvent::kEthernet;
  if (headers.ip_version == 4 && !walked_ip) return PacketEvent::kEthernet;
  if (headers.transport_offset == 0 || headers.payload_offset == 0) return PacketEvent::kIp;
  if (headers.protocol == ip_protocol::kUdp) return PacketEvent::kUdp;
  if (headers.protocol == ip_protocol::kTcp) return PacketEvent::kTcp;
  return PacketEvent::kIp;
}

void call_event(PacketFunction& function, Packet& packet) noexcept {
  switch (packet_event_of(packet.headers())) {
    case PacketEvent::kEthernet:
      return function.ethernet(packet);
    case PacketEvent::kIp:
      return function.ip(packet);
    case PacketEvent::kUdp:
      return function.udp(packet);
    case PacketEvent::kTcp:
      return function.tcp(packet);
  }
}

}  // namespace

void PacketFunction::compute(const Batch&, Selection selected,
                             std::span<std::uint32_t> results) noexcept {
  for (const std::uint16_t packet : selected.packets) results[packet] = 0;
}

void PacketFunction::finish(const FinishContext& call) noexcept {
  for (const std::uint16_t number : call.selected.packets) {
    Packet packet(call, number);
    if (walks_) {
      call_event(*this, packet);
    } else {
      ethernet(packet);
    }
  }
}

}  // namespace millrace
