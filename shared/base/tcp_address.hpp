// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace millrace {

/// How control by TCP is addressed: "tcp://HOST:PORT".
inline constexpr std::string_view kTcpScheme = "tcp://";

/// False for nothing, and for digits and dots that are no IPv4 address. Names, interfaces and IPv6
/// are not looked at.
bool is_host(std::string_view host) noexcept;

/// "HOST:PORT" of such an address, borrowed from it; nothing when it is none (is_host()), or its
/// port is not 0 to 65535.
std::optional<std::string_view> host_and_port(std::string_view address) noexcept;

}  // namespace millrace
