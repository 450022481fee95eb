// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "services/functions/ids/protocols/transaction.hpp"

/// What a flow carries, by its first bytes. Direction 0 is the client's.

namespace millrace {

/// A direction whose first bytes, so many, say nothing does not say anything later.
inline constexpr std::size_t kAppProbeBytes = 256;

/// Of a TCP flow of which `begins` are the first bytes by direction, at most kAppProbeBytes each.
/// kUnknown: more bytes may tell. What has been recognised stays so with more bytes.
/// `server_port`: FTP, SMTP and DNS are recognised at their ports only, where their bytes alone
/// are those of several protocols.
AppProtocol probe_stream(const std::array<std::string_view, 2>& begins,
                         std::uint16_t server_port) noexcept;

/// Of a UDP flow by one datagram: kDns, or kUnknown where another one may tell, or kNone.
AppProtocol probe_datagram(std::uint8_t direction, std::span<const std::byte> bytes,
                           std::uint16_t server_port) noexcept;

}  // namespace millrace
