// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// How control by TCP is addressed: "tcp://HOST:PORT".
inline constexpr std::string_view kTcpScheme = "tcp://";

/// False for nothing, for digits and dots that are no IPv4 address, and for colons that are no IPv6
/// address in brackets. Names and interfaces are not looked at.
bool is_host(std::string_view host) noexcept;

/// "HOST:PORT" of such an address, borrowed from it; nothing when it is none (is_host()), or its
/// port is not 0 to 65535.
std::optional<std::string_view> host_and_port(std::string_view address) noexcept;

/// Where a socket listens, or connects to.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  int family() const { return storage.ss_family; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};
/// Of "127.0.0.1:9090", "[::1]:9090", "[fe80::1%eth0]:0"; nothing when the host is a name or no
/// address, or when the port is not 0 to 65535. An interface that is not here has number 0.
std::optional<SocketAddress> socket_address(std::string_view text) noexcept;
/// The port that a socket of either family is bound to; 0: none.
std::uint16_t port_of(const UniqueFd& socket) noexcept;

}  // namespace millrace
