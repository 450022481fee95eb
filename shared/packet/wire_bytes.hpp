// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

/// Numbers in network order and addresses, at any offset of a packet. They lie within what they are
/// read from or written to: the caller has checked.

namespace millrace::wire_bytes {

static_assert(std::endian::native == std::endian::little);

inline std::uint8_t u8(std::span<const std::byte> bytes, std::size_t at) noexcept {
  return std::to_integer<std::uint8_t>(bytes[at]);
}

inline std::uint16_t u16(std::span<const std::byte> bytes, std::size_t at) noexcept {
  std::uint16_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return __builtin_bswap16(value);
}

inline std::uint32_t u32(std::span<const std::byte> bytes, std::size_t at) noexcept {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return __builtin_bswap32(value);
}

inline void put8(std::span<std::byte> bytes, std::size_t at, std::uint8_t value) noexcept {
  bytes[at] = std::byte{value};
}

inline void put16(std::span<std::byte> bytes, std::size_t at, std::uint16_t value) noexcept {
  value = __builtin_bswap16(value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

inline void put32(std::span<std::byte> bytes, std::size_t at, std::uint32_t value) noexcept {
  value = __builtin_bswap32(value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// `Array`: MacAddress or Ipv6Bytes.
template <typename Array>
Array array_at(std::span<const std::byte> bytes, std::size_t at) noexcept {
  Array array;
  std::memcpy(array.data(), bytes.data() + at, array.size());
  return array;
}

template <typename Array>
void put_array(std::span<std::byte> bytes, std::size_t at, const Array& array) noexcept {
  std::memcpy(bytes.data() + at, array.data(), array.size());
}

}  // namespace millrace::wire_bytes
