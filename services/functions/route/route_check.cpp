// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_check.hpp"

namespace millrace {
namespace {

struct Bytes {
  const std::byte* data;
  std::size_t size;

  std::uint8_t u8(std::size_t at) const { return static_cast<std::uint8_t>(data[at]); }
  std::uint16_t u16(std::size_t at) const {
    return static_cast<std::uint16_t>(u8(at) << 8 | u8(at + 1));
  }
};

}  // namespace

std::uint32_t route_check(std::span<const std::byte> frame, std::uint32_t wire_length,
                          const RouteTable& table) noexcept {
  return route::check(Bytes{frame.data(), frame.size()}, wire_length, table);
}

}  // namespace millrace
