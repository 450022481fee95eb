// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/packet/ipv6_bytes.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {

/// An IPv4 address of a FlowTuple, in host order, and back.
inline std::uint32_t nat_address(const Ipv6Bytes& bytes) noexcept {
  return wire_bytes::u32(std::as_bytes(std::span(bytes)), 0);
}
inline Ipv6Bytes nat_bytes(std::uint32_t address) noexcept {
  Ipv6Bytes bytes{};
  wire_bytes::put32(std::as_writable_bytes(std::span(bytes)), 0, address);
  return bytes;
}

}  // namespace millrace
