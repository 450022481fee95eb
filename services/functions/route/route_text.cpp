// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_text.hpp"

#include <algorithm>
#include <charconv>

#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

constexpr std::string_view kSpace = " \t\r";
constexpr std::size_t kFieldCountMax = 5;  ///< one more than a line can have

/// Fields of the line up to a comment; at most kFieldCountMax.
std::size_t split(std::string_view line, std::array<std::string_view, kFieldCountMax>& fields) {
  line = line.substr(0, line.find('#'));
  std::size_t count = 0;
  while (count < kFieldCountMax) {
    const std::size_t start = line.find_first_not_of(kSpace);
    if (start == std::string_view::npos) break;
    line.remove_prefix(start);
    const std::size_t end = std::min(line.find_first_of(kSpace), line.size());
    fields[count++] = line.substr(0, end);
    line.remove_prefix(end);
  }
  return count;
}

bool parse_number(std::string_view text, std::uint32_t limit, std::uint32_t& value) {
  if (text.empty() || text.size() > 3 || (text.size() > 1 && text[0] == '0')) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value <= limit;
}

std::string parse_ipv4_prefix(std::string_view text, RouteLine& route) {
  const std::uint32_t mask = ipv4_mask(route.length);
  const std::uint32_t given = route.prefix;
  route.prefix &= mask;
  if (route.prefix != given) {
    return quoted_word(text) + " has bits behind its length; " + prefix_text(route) + "?";
  }
  if (never_routed(given) && never_routed(given | ~mask) && route.length >= 4) {
    return quoted_word(text) + " is never routed (RFC 1812, 5.3.7)";
  }
  return {};
}

std::string parse_ipv6_prefix(std::string_view text, RouteLine& route) {
  const Ipv6Address given = route.ipv6_prefix;
  const Ipv6Address mask = ipv6_mask(route.length);
  route.ipv6_prefix = given & mask;
  if (route.ipv6_prefix != given) {
    return quoted_word(text) + " has bits behind its length; " + prefix_text(route) + "?";
  }
  // Prefixes that are not too short lie whole in what is never routed when both their ends do.
  const Ipv6Address last = {given.high | ~mask.high, given.low | ~mask.low};
  const std::uint8_t shortest = given.high == 0 ? 96 : 8;
  if (route.length >= shortest && never_routed(given) && never_routed(last)) {
    return quoted_word(text) + " is never routed (RFC 4291, RFC 6890)";
  }
  return {};
}

std::string parse_prefix(std::string_view text, RouteLine& route) {
  const std::size_t slash = text.find('/');
  const std::string_view address = text.substr(0, slash);
  route.is_ipv6 = address.find(':') != std::string_view::npos;
  const bool good = slash != std::string_view::npos &&
                    (route.is_ipv6 ? parse_ipv6(address, route.ipv6_prefix)
                                   : parse_ipv4(address, route.prefix)) &&
                    parse_length(text.substr(slash + 1), route.is_ipv6 ? 128 : 32, route.length);
  if (!good) {
    return quoted_word(text) + " is no prefix; expected one like 10.0.0.0/8 or 2001:db8::/32";
  }
  return route.is_ipv6 ? parse_ipv6_prefix(text, route) : parse_ipv4_prefix(text, route);
}

/// The next hop's address, of the prefix's family.
std::string parse_gateway(std::string_view text, RouteLine& route) {
  const std::string expected =
      route.is_ipv6 ? "an address of IPv6 like fe80::1" : "an address of IPv4 like 192.0.2.1";
  std::uint32_t ipv4 = 0;
  Ipv6Address ipv6;
  if (!(route.is_ipv6 ? parse_ipv6(text, ipv6) : parse_ipv4(text, ipv4))) {
    return quoted_word(text) + " is no next hop; expected " + expected;
  }
  const bool link_local = route.is_ipv6 && is_link_local(ipv6);
  if (!link_local && (route.is_ipv6 ? never_routed(ipv6) : never_routed(ipv4))) {
    return quoted_word(text) + " is not the address of one host; expected " + expected;
  }
  if (route.is_ipv6) {
    route.kind = RouteHopKind::kGateway6;
    route.gateway = ipv6_bytes(ipv6);
    return {};
  }
  route.kind = RouteHopKind::kGateway4;
  for (std::uint32_t i = 0; i < 4; ++i) {
    route.gateway[i] = static_cast<std::uint8_t>(ipv4 >> (24 - 8 * i));
  }
  return {};
}

std::string parse_target(std::string_view port, std::string_view mac, RouteLine& route) {
  route.port = port;
  if (!parse_mac(mac, route.mac)) {
    return quoted_word(mac) + " is no MAC address; expected one like 02:00:00:00:00:02";
  }
  if (!is_station(route.mac)) {
    return quoted_word(mac) + " is not the address of one station";
  }
  return {};
}

}  // namespace

bool parse_ipv4(std::string_view text, std::uint32_t& address) {
  address = 0;
  for (int octet = 0; octet < 4; ++octet) {
    const std::size_t end = octet == 3 ? text.size() : text.find('.');
    std::uint32_t value = 0;
    if (end == std::string_view::npos || !parse_number(text.substr(0, end), 255, value)) {
      return false;
    }
    address = address << 8 | value;
    text.remove_prefix(octet == 3 ? end : end + 1);
  }
  return true;
}

std::string ipv4_text(std::uint32_t address) {
  return std::to_string(address >> 24) + "." + std::to_string(address >> 16 & 255) + "." +
         std::to_string(address >> 8 & 255) + "." + std::to_string(address & 255);
}

bool parse_length(std::string_view text, std::uint8_t most, std::uint8_t& length) {
  std::uint32_t number = 0;
  if (!parse_number(text, most, number)) return false;
  length = static_cast<std::uint8_t>(number);
  return true;
}

std::string prefix_text(const RouteLine& route) {
  return (route.is_ipv6 ? ipv6_text(route.ipv6_prefix) : ipv4_text(route.prefix)) + "/" +
         std::to_string(route.length);
}

RouteLineKind parse_route_line(std::string_view line, RouteLine& route, std::string& reason) {
  std::array<std::string_view, kFieldCountMax> fields;
  const std::size_t count = split(line, fields);
  if (count == 0) return RouteLineKind::kEmpty;
  route = {};
  reason = parse_prefix(fields[0], route);
  if (reason.empty()) {
    if (count == 2 && fields[1] == "drop") {
      route.drop = true;
    } else if (count == 2) {
      route.port = fields[1];
      route.kind = RouteHopKind::kOnLink;
    } else if (count == 3 && fields[2] != "via") {
      reason = parse_target(fields[1], fields[2], route);
    } else if (count == 4 && fields[2] == "via") {
      route.port = fields[1];
      reason = parse_gateway(fields[3], route);
    } else {
      reason =
          "expected 'prefix/length port via address', 'prefix/length port', "
          "'prefix/length port mac' or 'prefix/length drop'";
    }
  }
  return reason.empty() ? RouteLineKind::kRoute : RouteLineKind::kRefused;
}

}  // namespace millrace
