// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/ipv6_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace millrace {
namespace {

static_assert(std::endian::native == std::endian::little);

using Words = std::array<std::uint64_t, 2>;  ///< as on the wire

}  // namespace

bool parse_ipv6(std::string_view text, Ipv6Address& address) {
  // inet_pton reads up to a zero byte.
  std::array<char, INET6_ADDRSTRLEN> copy{};
  if (text.size() >= copy.size() || text.find('\0') != std::string_view::npos) return false;
  std::ranges::copy(text, copy.begin());
  Words words;
  if (inet_pton(AF_INET6, copy.data(), words.data()) != 1) return false;
  address = {__builtin_bswap64(words[0]), __builtin_bswap64(words[1])};
  return true;
}

std::string ipv6_text(Ipv6Address address) {
  const Words words = {__builtin_bswap64(address.high), __builtin_bswap64(address.low)};
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(AF_INET6, words.data(), text.data(), text.size());
  return text.data();
}

}  // namespace millrace
