// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/tcp_address.hpp"

#include <arpa/inet.h>

#include <charconv>
#include <cstdint>

namespace millrace {

bool is_host(std::string_view host) noexcept {
  if (host.empty()) return false;
  if (host.find_first_not_of("0123456789.") != std::string_view::npos) return true;
  char text[INET_ADDRSTRLEN] = {};
  in_addr address{};
  if (host.size() >= sizeof text) return false;
  host.copy(text, host.size());
  return ::inet_pton(AF_INET, text, &address) == 1;
}

std::optional<std::string_view> host_and_port(std::string_view address) noexcept {
  if (!address.starts_with(kTcpScheme)) return std::nullopt;
  const std::string_view rest = address.substr(kTcpScheme.size());
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || !is_host(rest.substr(0, colon))) return std::nullopt;
  std::uint16_t port = 0;
  const char* const end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data() + colon + 1, end, port);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return rest;
}

}  // namespace millrace
