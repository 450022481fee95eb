// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/packet_function.hpp"

#include "shared/base/packet_walk.hpp"

namespace millrace {
namespace {

enum class Event : std::uint8_t { kEthernet, kIp, kUdp, kTcp };

Event event_of(const PacketHeaders& headers) noexcept {
  const bool walked_ip = headers.transport_offset != 0 || headers.payload_offset != 0;
  if (headers.ip_version == 0) return Event::kEthernet;
  if (headers.ip_version == 4 && !walked_ip) return Event::kEthernet;
  if (headers.transport_offset == 0 || headers.payload_offset == 0) return Event::kIp;
  if (headers.protocol == packet_walk::kUdp) return Event::kUdp;
  if (headers.protocol == packet_walk::kTcp) return Event::kTcp;
  return Event::kIp;
}

void call_event(PacketFunction& function, Packet& packet) noexcept {
  switch (event_of(packet.headers())) {
    case Event::kEthernet:
      return function.ethernet(packet);
    case Event::kIp:
      return function.ip(packet);
    case Event::kUdp:
      return function.udp(packet);
    case Event::kTcp:
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
