// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "shared/base/packet.hpp"

/// What functions over streams read of a TCP segment, and change in it (RFC 9293 3.1). `headers`:
/// of the frame, with a whole TCP header: status kOk, protocol 6, no fragment.

namespace millrace {

std::uint32_t tcp_sequence(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept;
/// The flag SYN.
bool is_tcp_syn(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept;
/// The flag FIN.
bool is_tcp_fin(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept;
/// The flag RST: its data are a text about the reason (RFC 9293 3.5.3), and of no stream.
bool is_tcp_reset(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept;
/// The flag URG.
bool is_tcp_urgent(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept;
/// Nothing without the flag ACK.
std::optional<std::uint32_t> tcp_acknowledgment(std::span<const std::byte> frame,
                                                const PacketHeaders& headers) noexcept;
/// Empty: it has none.
std::span<const std::byte> tcp_data(std::span<const std::byte> frame,
                                    const PacketHeaders& headers) noexcept;
/// A receiver takes no segment with another one.
bool has_good_tcp_checksum(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept;
/// Without the flag URG all receivers read the same bytes (RFC 6093 3.1: they differ in where the
/// urgent byte is, and whether it is in the stream). The checksum stays right. True: it had the
/// flag.
bool clear_urgent(std::span<std::byte> frame, const PacketHeaders& headers) noexcept;

}  // namespace millrace
