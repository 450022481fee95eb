// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "shared/packet/ipv6_bytes.hpp"

namespace millrace {

/// An address, or all addresses that begin alike.
struct AddressPrefix {
  static constexpr std::string_view kAllowed =
      "an address or a prefix, like 10.0.0.0/8 or 2001:db8::1";

  std::uint8_t version = 0;  ///< 4: the address has the first four bytes; 6
  Ipv6Bytes address{};
  unsigned bits = 0;  ///< of it that count

  /// Nothing: `text` is not kAllowed.
  static std::optional<AddressPrefix> parse(std::string_view text);
  bool contains(std::uint8_t other_version, const Ipv6Bytes& other) const noexcept;
  /// The same of an address as text; what is none is not in it.
  bool contains(std::string_view other) const;
};

}  // namespace millrace
