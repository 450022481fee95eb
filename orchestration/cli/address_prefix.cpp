// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/address_prefix.hpp"

#include <arpa/inet.h>

#include <charconv>
#include <string>

namespace millrace {

std::optional<AddressPrefix> AddressPrefix::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string host(text.substr(0, slash));
  AddressPrefix prefix;
  if (::inet_pton(AF_INET, host.c_str(), prefix.address.data()) == 1) prefix.version = 4;
  if (::inet_pton(AF_INET6, host.c_str(), prefix.address.data()) == 1) prefix.version = 6;
  if (prefix.version == 0) return std::nullopt;
  const unsigned most = prefix.version == 4 ? 32 : 128;
  prefix.bits = most;
  if (slash == std::string_view::npos) return prefix;
  const std::string_view bits = text.substr(slash + 1);
  const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), prefix.bits);
  if (error != std::errc{} || end != bits.data() + bits.size() || prefix.bits > most) {
    return std::nullopt;
  }
  return prefix;
}

bool AddressPrefix::contains(std::uint8_t other_version, const Ipv6Bytes& other) const noexcept {
  if (other_version != version) return false;
  for (unsigned bit = 0; bit < bits; ++bit) {
    const unsigned mask = 0x80u >> bit % 8;
    if (((other[bit / 8] ^ address[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

bool AddressPrefix::contains(std::string_view other) const {
  if (other.find('/') != std::string_view::npos) return false;
  const auto single = parse(other);
  return single && contains(single->version, single->address);
}

}  // namespace millrace
