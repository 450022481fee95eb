// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_text.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

constexpr std::string_view kSpace = " \t\r";
constexpr std::size_t kFieldCountMax = 6;  ///< one more than a next hop can have
constexpr std::string_view kExpected =
    "expected 'prefix/length port via address', 'prefix/length port', 'prefix/length port mac' or "
    "'prefix/length drop'; several next hops are separated by ',', each with 'weight N' if wanted";

using Fields = std::array<std::string_view, kFieldCountMax>;

/// Words of a text; at most kFieldCountMax, behind which they are empty.
std::size_t split(std::string_view line, Fields& fields) {
  fields = {};
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
    return quoted_word(text) + " is never routed (RFC 1812 5.3.7, RFC 3927 7)";
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
std::string parse_gateway(std::string_view text, bool is_ipv6, RouteLineHop& hop) {
  const std::string expected =
      is_ipv6 ? "an address of IPv6 like fe80::1" : "an address of IPv4 like 192.0.2.1";
  std::uint32_t ipv4 = 0;
  Ipv6Address ipv6;
  if (!(is_ipv6 ? parse_ipv6(text, ipv6) : parse_ipv4(text, ipv4))) {
    return quoted_word(text) + " is no next hop; expected " + expected;
  }
  const bool link_local = is_ipv6 && is_link_local(ipv6);
  if (!link_local && (is_ipv6 ? never_routed(ipv6) : never_routed(ipv4))) {
    return quoted_word(text) + " is not the address of one host; expected " + expected;
  }
  if (is_ipv6) {
    hop.kind = RouteHopKind::kGateway6;
    hop.gateway = ipv6_bytes(ipv6);
    return {};
  }
  hop.kind = RouteHopKind::kGateway4;
  for (std::uint32_t i = 0; i < 4; ++i) {
    hop.gateway[i] = static_cast<std::uint8_t>(ipv4 >> (24 - 8 * i));
  }
  return {};
}

std::string parse_target(std::string_view mac, RouteLineHop& hop) {
  hop.kind = RouteHopKind::kStatic;
  if (!parse_mac(mac, hop.mac)) {
    return quoted_word(mac) + " is no MAC address; expected one like 02:00:00:00:00:02";
  }
  if (!is_station(hop.mac)) {
    return quoted_word(mac) + " is not the address of one station";
  }
  return {};
}

/// "port", "port mac" or "port via address", and its weight.
std::string parse_hop(std::string_view text, bool is_ipv6, RouteLineHop& hop) {
  Fields fields;
  std::size_t count = split(text, fields);
  if (count >= 3 && fields[count - 2] == "weight") {
    const std::string_view weight = fields[count - 1];
    if (!parse_number(weight, kRouteWeightMax, hop.weight) || hop.weight == 0) {
      return quoted_word(weight) + " is no weight; expected 1 to " +
             std::to_string(kRouteWeightMax);
    }
    count -= 2;
  }
  hop.port = fields[0];
  if (count == 1 && hop.port != "drop") {
    hop.kind = RouteHopKind::kOnLink;
    return {};
  }
  if (count == 1) return "'drop' is no next hop; expected it alone behind the prefix";
  if (count == 2 && fields[1] != "via") return parse_target(fields[1], hop);
  if (count == 3 && fields[1] == "via") return parse_gateway(fields[2], is_ipv6, hop);
  return std::string(kExpected);
}

bool is_same(const RouteLineHop& one, const RouteLineHop& other) {
  return one.port == other.port && one.kind == other.kind && one.mac == other.mac &&
         one.gateway == other.gateway;
}

/// What is said of the last of several next hops.
std::string check_member(const RouteLine& route) {
  const RouteLineHop& last = route.hops.back();
  if (route.hops.size() > kRouteMembersMax) {
    return "more than " + std::to_string(kRouteMembersMax) + " next hops of one route";
  }
  for (const RouteLineHop& hop : route.hops) {
    if (hop.kind == RouteHopKind::kOnLink) {
      return quoted_word(hop.port) +
             " stands alone, but hosts are neighbours at one port only; expected 'port via "
             "address' or 'port mac' for each of several next hops";
    }
    if (&hop != &last && is_same(hop, last)) {
      return "next hop " + std::to_string(route.hops.size()) + ", at port " +
             quoted_word(last.port) +
             ", is the same as one before it; expected it once, with a weight";
    }
  }
  return {};
}

/// `text`: "drop", or next hops, separated by commas.
std::string parse_hops(std::string_view text, RouteLine& route) {
  if (Fields fields; split(text, fields) == 1 && fields[0] == "drop") return {};
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    const std::string_view part = text.substr(0, comma);
    if (part.find_first_not_of(kSpace) == std::string_view::npos) return std::string(kExpected);
    route.hops.emplace_back();
    std::string reason = parse_hop(part, route.is_ipv6, route.hops.back());
    if (reason.empty() && (more || route.hops.size() > 1)) reason = check_member(route);
    if (!reason.empty()) return reason;
    text.remove_prefix(more ? comma + 1 : text.size());
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
  line = line.substr(0, line.find('#'));
  line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
  if (line.empty()) return RouteLineKind::kEmpty;
  std::vector<RouteLineHop> hops = std::move(route.hops);  // their memory is used again
  hops.clear();
  route = {.hops = std::move(hops)};
  const std::size_t end = std::min(line.find_first_of(kSpace), line.size());
  reason = parse_prefix(line.substr(0, end), route);
  if (reason.empty()) reason = parse_hops(line.substr(end), route);
  return reason.empty() ? RouteLineKind::kRoute : RouteLineKind::kRefused;
}

}  // namespace millrace
