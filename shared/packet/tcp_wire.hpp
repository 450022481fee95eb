// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "shared/base/ip_protocol.hpp"
#include "shared/packet/internet_checksum.hpp"

/// Fields of a TCP header (RFC 9293 3.1), by their offset in it.

namespace millrace::tcp_wire {

inline constexpr std::size_t kHeaderBytesMin = 20;
inline constexpr std::size_t kSourcePortAt = 0, kDestinationPortAt = 2, kSequenceAt = 4,
                             kAcknowledgmentAt = 8, kOffsetAt = 12, kFlagsAt = 13, kWindowAt = 14,
                             kUrgentAt = 18;
inline constexpr std::size_t kChecksumAt = transport_checksum_at(ip_protocol::kTcp);
/// Of the byte at kFlagsAt.
inline constexpr std::uint8_t kFin = 1, kSyn = 2, kReset = 4, kPush = 8, kAck = 16, kUrgent = 32,
                              kWindowReduced = 128;

}  // namespace millrace::tcp_wire
