// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/icmp_counterpart.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace millrace {
namespace {

constexpr std::uint32_t kHeadersDiffer = 20;  // 40 - 20
constexpr std::uint32_t kIpv6MtuMin = 1280;

/// The largest plateau below a length that was too long (RFC 1191 7.1).
std::uint32_t plateau_below(std::uint32_t bytes) noexcept {
  constexpr std::array<std::uint32_t, 10> kPlateaus = {32000, 17914, 8166, 4352, 2002,
                                                       1492,  1006,  508,  296,  68};
  const auto found =
      std::ranges::find_if(kPlateaus, [&](std::uint32_t plateau) { return plateau < bytes; });
  return found == kPlateaus.end() ? kPlateaus.back() : *found;
}

/// RFC 7915 figure 3: of a byte of the IPv4 header, the field of IPv6.
std::optional<std::uint32_t> ipv6_pointer(std::uint32_t pointer) noexcept {
  constexpr std::array<int, 20> kFields = {0,  1,  4, 4, -1, -1, -1, -1, 7,  6,
                                           -1, -1, 8, 8, 8,  8,  24, 24, 24, 24};
  if (pointer >= kFields.size() || kFields[pointer] < 0) return std::nullopt;
  return static_cast<std::uint32_t>(kFields[pointer]);
}

/// RFC 7915 figure 6.
std::optional<std::uint32_t> ipv4_pointer(std::uint32_t pointer) noexcept {
  constexpr std::array<int, 8> kFields = {0, 1, -1, -1, 2, 2, 9, 8};
  if (pointer < kFields.size()) {
    if (kFields[pointer] < 0) return std::nullopt;
    return static_cast<std::uint32_t>(kFields[pointer]);
  }
  if (pointer < 24) return 12;
  if (pointer < 40) return 16;
  return std::nullopt;
}

std::optional<Icmpv6Error> of_unreachable(IcmpError error, std::uint16_t quoted_bytes) noexcept {
  switch (error.code) {
    case 2:  // protocol
      return Icmpv6Error::unknown_next_header(6);
    case 3:
      return Icmpv6Error::port_unreachable();
    case 4: {
      const std::uint32_t said = error.rest & 0xffff;
      const std::uint32_t mtu = (said != 0 ? said : plateau_below(quoted_bytes)) + kHeadersDiffer;
      return Icmpv6Error::packet_too_big(std::max(mtu, kIpv6MtuMin));
    }
    case 9:
    case 10:
    case 13:
    case 15:
      return Icmpv6Error::admin_prohibited();
    case 14:
      return std::nullopt;
    default:
      if (error.code > 15) return std::nullopt;
      return Icmpv6Error::no_route();
  }
}

}  // namespace

std::optional<Icmpv6Error> icmpv6_counterpart(IcmpError error,
                                              std::uint16_t quoted_bytes) noexcept {
  switch (error.type) {
    case 3:
      return of_unreachable(error, quoted_bytes);
    case 11:
      return Icmpv6Error{3, error.code, 0};
    case 12: {
      if (error.code != 0 && error.code != 2) return std::nullopt;
      const auto pointer = ipv6_pointer(error.rest >> 24);
      if (!pointer) return std::nullopt;
      return Icmpv6Error::erroneous_field(*pointer);
    }
    default:
      return std::nullopt;
  }
}

std::optional<IcmpError> icmp_counterpart(Icmpv6Error error) noexcept {
  switch (error.type) {
    case 1: {
      constexpr std::array<std::uint8_t, 5> kCodes = {1, 10, 1, 1, 3};
      if (error.code >= kCodes.size()) return std::nullopt;
      return IcmpError{3, kCodes[error.code]};
    }
    case 2: {
      const std::uint32_t mtu = std::max(error.rest, kIpv6MtuMin) - kHeadersDiffer;
      return icmp_fragmentation_needed(static_cast<std::uint16_t>(std::min(mtu, 0xffffu)));
    }
    case 3:
      return IcmpError{11, error.code};
    case 4: {
      if (error.code == 1) return kIcmpProtocolUnreachable;
      const auto pointer = ipv4_pointer(error.rest);
      if (error.code != 0 || !pointer) return std::nullopt;
      return icmp_parameter_problem(static_cast<std::uint8_t>(*pointer));
    }
    default:
      return std::nullopt;
  }
}

}  // namespace millrace
