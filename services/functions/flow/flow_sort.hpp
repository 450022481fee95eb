// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/flow/flow_tuple.hpp"
#include "shared/base/packet.hpp"

namespace millrace {

/// What a packet is before its flow is looked up.
struct SortedPacket {
  enum class Kind : std::uint8_t {
    kUntracked,  ///< of no flow
    kInvalid,    ///< of none that there can be
    kFlow,       ///< of the flow of `tuple`
    kAnswer,     ///< the same; it begins none
    kError,      ///< ICMP that quotes a packet; its answers have `tuple`
    kRest,       ///< a later fragment; its tuple is that of the first one
  } kind = Kind::kUntracked;
  FlowTuple tuple;
  PacketHeaders headers;       ///< its own
  std::uint32_t ip_bytes = 0;  ///< as the IP header announces; 0: no IP
};

SortedPacket sort_packet(std::span<const std::byte> frame) noexcept;

}  // namespace millrace
