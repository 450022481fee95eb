// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shared/packet/ipv6_bytes.hpp"

/// IPv6 addresses that stand for IPv4 ones (RFC 6052). IPv4 addresses in host order.

namespace millrace {

class Embedding {
 public:
  /// 64:ff9b::/96, the well-known prefix (RFC 6052 2.1).
  static constexpr Ipv6Bytes kWellKnown = {0, 0x64, 0xff, 0x9b};

  Embedding() = default;
  /// "PREFIX/LENGTH" with a length of 32, 40, 48, 56, 64 or 96, no bits behind it, and bits 64 to
  /// 71 zero (RFC 6052 2.2). Nothing: it is none of these.
  static std::optional<Embedding> parse(std::string_view text);

  /// The address that stands for `address`; its suffix is 0.
  Ipv6Bytes of(std::uint32_t address) const noexcept;
  /// What `address` stands for; nothing: it has another prefix, or bits 64 to 71 are not zero. The
  /// suffix is not looked at (RFC 6052 2.3).
  std::optional<std::uint32_t> ipv4_of(const Ipv6Bytes& address) const noexcept;
  bool is_well_known() const noexcept { return length_ == 96 && prefix_ == kWellKnown; }
  bool has_prefix(const Ipv6Bytes& address) const noexcept {
    return ipv6_prefix_of(address, length_) == prefix_;
  }

 private:
  Ipv6Bytes prefix_ = kWellKnown;
  std::uint8_t length_ = 96;
};

/// Addresses of hosts of IPv4 that others cannot reach: private ones (RFC 1918), shared address
/// space (RFC 6598), link-local ones (RFC 3927). The well-known prefix must not stand for them
/// (RFC 6052 3.1).
bool is_private_ipv4(std::uint32_t address) noexcept;
/// No address of one host: 0/8, 127/8, multicast, class E and broadcast.
bool is_no_host_ipv4(std::uint32_t address) noexcept;

}  // namespace millrace
