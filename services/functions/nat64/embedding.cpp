// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/embedding.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "services/functions/route/route_text.hpp"

namespace millrace {
namespace {

constexpr std::size_t kReservedAt = 8;  // bits 64 to 71, which are zero
constexpr std::array<std::uint8_t, 6> kLengths = {32, 40, 48, 56, 64, 96};

/// Calls `each` with the place of every byte of the IPv4 address, the first one first.
template <typename Each>
void for_places(std::uint8_t length, Each each) {
  std::size_t at = length / 8u;
  for (int byte = 0; byte < 4; ++byte) {
    if (at == kReservedAt) ++at;
    each(at++);
  }
}

bool is_in(std::uint32_t address, std::uint32_t network, int length) noexcept {
  return (address ^ network) >> (32 - length) == 0;
}

}  // namespace

std::optional<Embedding> Embedding::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  Ipv6Address prefix;
  Embedding embedding;
  if (!parse_ipv6(text.substr(0, slash), prefix)) return std::nullopt;
  if (!parse_length(text.substr(slash + 1), 96, embedding.length_)) return std::nullopt;
  embedding.prefix_ = ipv6_bytes(prefix);
  if (std::ranges::find(kLengths, embedding.length_) == kLengths.end()) return std::nullopt;
  if (!embedding.has_prefix(embedding.prefix_)) return std::nullopt;
  if (embedding.prefix_[kReservedAt] != 0) return std::nullopt;
  return embedding;
}

Ipv6Bytes Embedding::of(std::uint32_t address) const noexcept {
  Ipv6Bytes bytes = prefix_;
  for_places(length_, [&](std::size_t at) {
    bytes[at] = static_cast<std::uint8_t>(address >> 24);
    address <<= 8;
  });
  return bytes;
}

std::optional<std::uint32_t> Embedding::ipv4_of(const Ipv6Bytes& address) const noexcept {
  if (!has_prefix(address) || address[kReservedAt] != 0) return std::nullopt;
  std::uint32_t found = 0;
  for_places(length_, [&](std::size_t at) { found = found << 8 | address[at]; });
  return found;
}

bool is_private_ipv4(std::uint32_t address) noexcept {
  return is_in(address, 0x0a000000, 8) || is_in(address, 0xac100000, 12) ||
         is_in(address, 0xc0a80000, 16) || is_in(address, 0x64400000, 10) ||
         is_in(address, 0xa9fe0000, 16);
}

bool is_no_host_ipv4(std::uint32_t address) noexcept {
  return is_in(address, 0, 8) || is_in(address, 0x7f000000, 8) || address >> 28 >= 14;
}

}  // namespace millrace
