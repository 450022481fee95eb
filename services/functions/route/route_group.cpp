// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_group.hpp"

#include <algorithm>
#include <string>

#include "shared/base/flow_hash.hpp"
#include "shared/base/fnv.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet_walk.hpp"

namespace millrace {
namespace {

/// The finalizer of MurmurHash3: each bit of the result depends on all.
constexpr std::uint64_t mix(std::uint64_t value) noexcept {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccd;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53;
  return value ^ value >> 33;
}

std::uint64_t add_text(std::uint64_t hash, const std::string& text) noexcept {
  for (const char letter : text) hash = fnv1a_add(hash, static_cast<std::uint8_t>(letter));
  return fnv1a_add(hash, 0);
}

/// The hash that chooses lanes, and of IPv6 without ports the flow label above it.
std::uint64_t ipv6_flow(std::span<const std::byte> frame) noexcept {
  const PacketHeaders headers = parse_headers(frame);
  const std::uint64_t flow = flow_hash(frame, headers);
  const bool has_ports = !headers.fragment && (headers.protocol == ip_protocol::kTcp ||
                                               headers.protocol == ip_protocol::kUdp);
  if (has_ports) return flow;
  const FrameBytes bytes{frame.data(), frame.size()};
  const std::size_t ip = packet_walk::kEthernetBytes;
  const std::uint64_t label = (bytes.u8(ip + 1) & 15ull) << 16 | bytes.u16(ip + 2);
  return flow | label << 32;
}

}  // namespace

std::uint32_t route_flow_hash(std::span<const std::byte> frame, std::uint64_t seed) noexcept {
  const bool is_ipv6 = FrameBytes{frame.data(), frame.size()}.u16(12) == packet_walk::kTypeIpv6;
  const std::uint64_t flow = is_ipv6 ? ipv6_flow(frame) : flow_hash_of(frame);
  return static_cast<std::uint32_t>(mix(flow ^ seed) >> 32);
}

std::uint64_t route_flow_seed(std::span<const PlanPort> ports) noexcept {
  std::uint64_t seed = kFnvBasis;
  for (const PlanPort& port : ports) {
    seed = add_text(seed, port.mac);
    for (const std::string& address : port.addresses) seed = add_text(seed, address);
  }
  return seed;
}

std::uint32_t RouteGroups::member_of(std::uint32_t number,
                                     std::span<const std::byte> frame) const noexcept {
  if (number >= hops_.size() ||
      hops_[number].kind != static_cast<std::uint8_t>(RouteHopKind::kGroup)) {
    return kNone;
  }
  const RouteHop& group = hops_[number];
  const std::uint32_t hash = route_flow_hash(frame, seed_);
  const auto members = members_.subspan(group.first_member, group.member_count);
  return std::ranges::find_if(members,
                              [hash](const RouteMember& member) { return hash <= member.last; })
      ->hop;
}

}  // namespace millrace
