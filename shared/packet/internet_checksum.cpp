// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/internet_checksum.hpp"

#include <bit>
#include <cstring>

namespace millrace {
namespace {

static_assert(std::endian::native == std::endian::little);

template <typename Number>
Number load(const std::byte* at) noexcept {
  Number number = 0;
  std::memcpy(&number, at, sizeof number);
  return number;
}

std::uint16_t folded(std::uint64_t sum) noexcept {
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

}  // namespace

// Sums in host byte order: swapping the result is the same as swapping every word (RFC 1071 2 (B)).
std::uint16_t internet_sum(std::span<const std::byte> bytes, std::uint32_t initial) noexcept {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t sum = 0;
  for (; left >= 8; at += 8, left -= 8) {
    const auto word = load<std::uint64_t>(at);
    sum += (word & 0xffffffff) + (word >> 32);  // no carry is lost in 16 GiB
  }
  // By parts: a copy of `left` bytes would be a call, which costs more than all of a header.
  if ((left & 4) != 0) sum += load<std::uint32_t>(at);
  if ((left & 2) != 0) sum += load<std::uint16_t>(at + (left & 4));
  if ((left & 1) != 0) sum += load<std::uint8_t>(at + (left & 6));
  return folded(std::uint64_t{initial} + __builtin_bswap16(folded(sum)));
}

std::uint16_t pseudo_sum(std::uint32_t source, std::uint32_t destination, std::uint8_t protocol,
                         std::uint16_t length) noexcept {
  return folded(std::uint64_t{source} + destination + protocol + length);
}

std::uint16_t pseudo_sum(std::span<const std::byte, 16> source,
                         std::span<const std::byte, 16> destination, std::uint8_t next_header,
                         std::uint32_t length) noexcept {
  const std::uint16_t numbers = folded(std::uint64_t{length} + next_header);
  return internet_sum(destination, internet_sum(source, numbers));
}

}  // namespace millrace
