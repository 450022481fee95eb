// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "services/functions/ids/detect/packet_view.hpp"
#include "services/functions/ids/rules/signature.hpp"

/// What a rule asks of a packet beside the bytes of buffers. What is cheapest is tested first.

namespace millrace {

/// The bytes that rules call payload: what TCP and UDP carry, of ICMP what follows its first eight
/// bytes, of SCTP its chunks, of other protocols what follows the headers of IP.
std::span<const std::byte> rule_payload(std::span<const std::byte> frame,
                                        const PacketHeaders& headers) noexcept;

/// The head of the rule and its `flow` fit: protocol of IP, state and direction of the flow, ports,
/// addresses. Not: what the flow carries; only_stream and no_stream.
bool head_fits(const Signature& signature, const PacketView& packet) noexcept;

enum class AppFit : std::uint8_t { kNo, kYes, kNotYet };
/// What the flow carries is of the rule's protocol. kNotYet: it is not known.
AppFit app_fits(const Signature& signature, AppProtocol app) noexcept;

/// Fields of headers. A field that the packet does not have passes no test.
bool headers_pass(const PacketTests& tests, const PacketView& packet) noexcept;

/// The packet as one of that direction would be: of the other one it brings no payload.
PacketView turned_to(const PacketView& packet, std::uint8_t direction) noexcept;

}  // namespace millrace
