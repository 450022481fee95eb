// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/tcp_address.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <charconv>
#include <cstddef>
#include <cstring>

namespace millrace {
namespace {

/// Ends with a zero byte; false: it does not fit.
template <std::size_t kBytes>
bool copy_text(std::string_view from, char (&to)[kBytes]) noexcept {
  if (from.size() >= kBytes || from.find('\0') != from.npos) return false;
  to[from.copy(to, from.size())] = '\0';
  return true;
}

bool read_ipv4(std::string_view host, in_addr& address) noexcept {
  char text[INET_ADDRSTRLEN];
  return copy_text(host, text) && ::inet_pton(AF_INET, text, &address) == 1;
}

/// In its brackets, with the interface of a link-local one behind '%'.
bool read_ipv6(std::string_view host, sockaddr_in6& address) noexcept {
  if (!host.starts_with('[') || !host.ends_with(']') || host.size() < 2) return false;
  host = host.substr(1, host.size() - 2);
  const std::size_t percent = host.find('%');
  if (percent != host.npos) {
    char interface[IF_NAMESIZE];
    if (percent + 1 == host.size() || !copy_text(host.substr(percent + 1), interface)) return false;
    address.sin6_scope_id = ::if_nametoindex(interface);
  }
  char text[INET6_ADDRSTRLEN];
  return copy_text(host.substr(0, percent), text) &&
         ::inet_pton(AF_INET6, text, &address.sin6_addr) == 1;
}

bool read_port(std::string_view text, std::uint16_t& port) noexcept {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  return error == std::errc{} && stop == end;
}

}  // namespace

bool is_host(std::string_view host) noexcept {
  if (host.empty()) return false;
  sockaddr_in6 ipv6{};
  if (host.find_first_of(":[]%") != host.npos) return read_ipv6(host, ipv6);
  in_addr ipv4{};
  return host.find_first_not_of("0123456789.") != host.npos || read_ipv4(host, ipv4);
}

std::optional<std::string_view> host_and_port(std::string_view address) noexcept {
  if (!address.starts_with(kTcpScheme)) return std::nullopt;
  const std::string_view rest = address.substr(kTcpScheme.size());
  const std::size_t colon = rest.rfind(':');
  std::uint16_t port = 0;
  if (colon == rest.npos || !is_host(rest.substr(0, colon)) ||
      !read_port(rest.substr(colon + 1), port)) {
    return std::nullopt;
  }
  return rest;
}

std::optional<SocketAddress> socket_address(std::string_view text) noexcept {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return std::nullopt;
  const std::string_view host = text.substr(0, colon);
  std::uint16_t port = 0;
  if (!read_port(text.substr(colon + 1), port)) return std::nullopt;
  SocketAddress address;
  sockaddr_in ipv4{};
  sockaddr_in6 ipv6{};
  if (read_ipv4(host, ipv4.sin_addr)) {
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(port);
    address.bytes = sizeof ipv4;
    std::memcpy(&address.storage, &ipv4, sizeof ipv4);
  } else if (read_ipv6(host, ipv6)) {
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(port);
    address.bytes = sizeof ipv6;
    std::memcpy(&address.storage, &ipv6, sizeof ipv6);
  } else {
    return std::nullopt;
  }
  return address;
}

std::uint16_t port_of(const UniqueFd& socket) noexcept {
  sockaddr_storage storage{};
  socklen_t bytes = sizeof storage;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&storage), &bytes) != 0) return 0;
  sockaddr_in6 name{};  // the port lies at one place in both families
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  std::memcpy(&name, &storage, sizeof name);
  return ntohs(name.sin6_port);
}

}  // namespace millrace
