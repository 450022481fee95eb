// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "shared/base/packet.hpp"
#include "shared/packet/ipv6_bytes.hpp"

/// What packets of one direction of a flow have in common.

namespace millrace {

/// Addresses as on the wire, of IPv4 in the first four bytes; what a packet does not have is 0. The
/// ports of a question of ICMP are its identifier and its type, of the answer to it the type of the
/// question and the identifier: so the answer's tuple is the question's reversed, as of all others.
struct FlowTuple {
  Ipv6Bytes source{}, destination{};
  std::uint16_t source_port = 0, destination_port = 0;
  std::uint8_t protocol = 0;
  std::uint8_t version = 0;  ///< 4 or 6; 0: none
  std::uint16_t zone = 0;    ///< tells flows apart that have equal addresses in two networks

  friend bool operator==(const FlowTuple&, const FlowTuple&) = default;
};
static_assert(sizeof(FlowTuple) == 40 && alignof(FlowTuple) == 2);
static_assert(std::has_unique_object_representations_v<FlowTuple>);

/// That of packets the other way.
constexpr FlowTuple reversed(const FlowTuple& tuple) noexcept {
  FlowTuple other = tuple;
  other.source = tuple.destination;
  other.destination = tuple.source;
  other.source_port = tuple.destination_port;
  other.destination_port = tuple.source_port;
  return other;
}

/// Sets both addresses from a whole header of IP at the start of `ip`, of the tuple's version.
void set_addresses(std::span<const std::byte> ip, FlowTuple& tuple) noexcept;

/// Of a frame with its parsed headers. Nothing where the packet alone does not say it: no
/// IP, a header that is cut or contradicts itself, a fragment other than the first (it has no
/// ports), ICMP that is neither a question nor an answer (an error is about the flow that it
/// quotes). TCP, UDP, SCTP, DCCP and UDP-Lite have ports; of other protocols, as ESP and GRE, a
/// flow is what goes between two addresses.
std::optional<FlowTuple> flow_tuple_of(std::span<const std::byte> frame,
                                       const PacketHeaders& headers) noexcept;

}  // namespace millrace
