// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/firewall/proxied_flows.hpp"
#include "shared/base/packet.hpp"

namespace millrace {

/// Which host of a proxied connection an ICMP error tells of what that host has sent.
enum class ProxyError : std::uint8_t { kToServer, kToClient };

/// The quote gets the numbers that its sender knows: hosts ignore an error about numbers that they
/// have not sent (RFC 5927 4.1). That is the sequence number of the server's segments; of the
/// client's the acknowledgment and the blocks of SACK; timestamps of both. A quoted SYN to the
/// server becomes the ACK that the client has sent in its place, with its longer header. As much is
/// changed as the quote has, options where it has all of them; the ICMP checksum follows, and that
/// of TCP where it is quoted. Windows stay: they are no number that a host looks for.
///
/// `headers`: parse_headers() of the frame. A frame that is no error about TCP stays as it is.
void translate_error(const ProxiedFlow& flow, ProxyError to, std::span<std::byte> frame,
                     const PacketHeaders& headers) noexcept;

/// The same of a segment itself, from its TCP header on: that it can be quoted, or answered.
void revert_segment(const ProxiedFlow& flow, ProxyError to, std::span<std::byte> segment) noexcept;

}  // namespace millrace
