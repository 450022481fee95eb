// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "shared/packet/ipv6_bytes.hpp"

namespace millrace {

/// What counts as one source: addresses with the same first bits.
struct SourceNetwork {
  std::array<std::uint8_t, 2> bits{};  ///< of IPv4, of IPv6; 0: all

  /// `address` without the other bits: of IPv4 in the first four bytes; `version`: 4 or 6.
  Ipv6Bytes of(Ipv6Bytes address, std::uint32_t version) const noexcept {
    const std::uint8_t kept = bits[version == 4 ? 0 : 1];
    if (kept == 0) return address;
    for (std::size_t i = 0; i < address.size(); ++i) {
      const std::size_t here = std::clamp<std::size_t>(kept, i * 8, i * 8 + 8) - i * 8;
      address[i] = static_cast<std::uint8_t>(address[i] & 0xff00u >> here);
    }
    return address;
  }
};

}  // namespace millrace
