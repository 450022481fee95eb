// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/router_vlans.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "shared/base/packet_walk.hpp"
#include "shared/config/vlan.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using packet_walk::kMacsBytes, packet_walk::kVlanTagBytes;
using packet_walk::kTypeServiceVlan, packet_walk::kTypeVlan;
constexpr std::uint16_t kIdMask = 0x0fff;

}  // namespace

RouterVlans::RouterVlans(std::span<const PlanPort> ports) {
  for (std::size_t number = 0; number < ports.size(); ++number) {
    const auto port = static_cast<std::uint8_t>(number);
    known_.push_back({.port_in = port, .outer = 0, .id = 0, .port = port});
    if (const std::optional<VlanPort> vlan = vlan_port(ports, number)) {
      known_.push_back({vlan->link, vlan->outer, vlan->id, port});
    }
  }
}

bool RouterVlans::strip(const Batch& batch, std::uint16_t packet, std::uint8_t port_in) noexcept {
  const std::span<std::byte> frame = batch.bytes(packet);
  std::size_t tag_bytes = 0;
  std::uint16_t outer = 0, id = 0;
  const auto read = [&](std::uint16_t type, std::uint16_t& to) {
    const std::size_t at = kMacsBytes + tag_bytes;
    if (frame.size() < at + kVlanTagBytes + 2 || wire_bytes::u16(frame, at) != type) return false;
    to = wire_bytes::u16(frame, at + 2) & kIdMask;
    tag_bytes += kVlanTagBytes;
    return true;
  };
  const bool has_outer = read(kTypeServiceVlan, outer);
  if (has_outer && outer == 0) return false;
  if (!read(kTypeVlan, id)) return false;
  const auto at = std::ranges::find_if(known_, [&](const Tagged& one) {
    return one.port_in == port_in && one.outer == outer && one.id == id;
  });
  if (at == known_.end() || count_ == packets_.size()) return false;
  if (!batch.grow_front(packet, -static_cast<std::int32_t>(tag_bytes))) return false;
  std::memmove(frame.data() + tag_bytes, frame.data(), kMacsBytes);
  ports_[count_] = at->port;
  packets_[count_++] = packet;
  return true;
}

RouterVlans::Group RouterVlans::next() noexcept {
  if (count_ == 0) return {};
  const std::uint8_t port = ports_[0];
  std::uint32_t taken = 0, left = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (ports_[i] == port) {
      group_[taken++] = packets_[i];
    } else {
      ports_[left] = ports_[i];
      packets_[left++] = packets_[i];
    }
  }
  count_ = left;
  return {port, {group_.data(), taken}};
}

}  // namespace millrace
