// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_addresses.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "services/functions/ids/rules/range_list.hpp"
#include "services/functions/ids/rules/rule_words.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

constexpr unsigned kIpv4Bits = 32, kIpv6Bits = 128, kByteBits = 8;
constexpr std::uint8_t kIpv4 = 4, kIpv6 = 6;

[[noreturn]] void refuse(std::string reason) { throw RuleRefused{"", std::move(reason)}; }

using Addresses = RangeList<Ipv6Bytes>;
/// Addresses of IPv4 are the first four bytes; a range of them goes from zeros to ones behind
/// these, so that both versions are numbers of 16 bytes.
struct BothVersions {
  Addresses ipv4, ipv6;
};

std::optional<Ipv6Bytes> next_address(Ipv6Bytes address) {
  for (auto at = address.rbegin(); at != address.rend(); ++at) {
    if (++*at != 0) return address;
  }
  return std::nullopt;
}
std::optional<Ipv6Bytes> previous_address(Ipv6Bytes address) {
  for (auto at = address.rbegin(); at != address.rend(); ++at) {
    if ((*at)-- != 0) return address;
  }
  return std::nullopt;
}

/// `address` with all bits behind the first `length` set.
Ipv6Bytes last_of(Ipv6Bytes address, unsigned length) {
  for (unsigned bit = length; bit < kIpv6Bits; ++bit) {
    address.at(bit / kByteBits) |=
        static_cast<std::uint8_t>(1u << (kByteBits - 1 - bit % kByteBits));
  }
  return address;
}

struct Address {
  std::uint8_t version;
  Ipv6Bytes bytes;
  unsigned bits() const { return version == kIpv4 ? kIpv4Bits : kIpv6Bits; }
};

std::optional<Address> parse_address(std::string_view word) {
  const std::string text(without_blanks(word));
  // A zero byte would end what inet_pton() sees.
  if (text.find('\0') != std::string::npos) return std::nullopt;
  Address address{kIpv4, {}};
  if (::inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) return address;
  address.version = kIpv6;
  if (::inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) return address;
  return std::nullopt;
}

/// "24" or, of IPv4, "255.255.255.0".
std::optional<unsigned> parse_length(std::string_view word, const Address& address) {
  if (const auto mask = parse_address(word)) {
    if (mask->version != kIpv4 || address.version != kIpv4) return std::nullopt;
    std::uint32_t bits = 0;
    std::memcpy(&bits, mask->bytes.data(), sizeof bits);
    bits = ntohl(bits);
    const auto length = static_cast<unsigned>(std::countl_one(bits));
    const bool is_prefix = length == kIpv4Bits || (bits << length) == 0;
    return is_prefix ? std::optional(length) : std::nullopt;
  }
  unsigned length = 0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, length);
  if (error != std::errc() || end != last || length > address.bits()) return std::nullopt;
  return length;
}

void add_address(std::string_view word, BothVersions& into) {
  if (word == "any") {
    const Range<Ipv6Bytes> all{Ipv6Bytes{}, last_of({}, 0)};
    into.ipv4.push_back(all);
    into.ipv6.push_back(all);
    return;
  }
  const std::size_t dash = std::min(word.find('-'), word.size());
  const std::size_t slash = std::min(word.find('/'), dash);
  const auto none = [&] {
    refuse(quoted_word(word) + " is no address, network or range of addresses");
  };
  const auto first = parse_address(word.substr(0, slash));
  if (!first) none();
  unsigned length = first->bits();
  Address high = *first;
  if (dash < word.size()) {
    // "1.1.1.1/8-2.2.2.2" has both.
    const auto end = parse_address(word.substr(dash + 1));
    if (!end || end->version != first->version || slash < dash) none();
    high = *end;
  } else if (slash < dash) {
    const auto found = parse_length(word.substr(slash + 1), *first);
    if (!found) none();
    length = *found;
  }
  const Range<Ipv6Bytes> range{ipv6_prefix_of(first->bytes, static_cast<std::uint8_t>(length)),
                               last_of(high.bytes, length)};
  if (range.second < range.first) refuse(quoted_word(word) + " ends in front of its start");
  (first->version == kIpv4 ? into.ipv4 : into.ipv6).push_back(range);
}

BothVersions joined_addresses(const BothVersions& both) {
  return {joined(both.ipv4, next_address), joined(both.ipv6, next_address)};
}

BothVersions read_addresses(const std::vector<RuleListItem>& items) {
  BothVersions wanted, unwanted;
  bool is_negation = true;
  for (const RuleListItem& item : items) {
    is_negation = is_negation && item.negated;
    BothVersions& into = item.negated ? unwanted : wanted;
    if (!item.word.empty()) {
      add_address(item.word, into);
      continue;
    }
    const BothVersions list = read_addresses(item.list);
    into.ipv4.insert(into.ipv4.end(), list.ipv4.begin(), list.ipv4.end());
    into.ipv6.insert(into.ipv6.end(), list.ipv6.begin(), list.ipv6.end());
  }
  if (is_negation) add_address("any", wanted);
  wanted = joined_addresses(wanted);
  unwanted = joined_addresses(unwanted);
  return {difference(wanted.ipv4, unwanted.ipv4, next_address, previous_address),
          difference(wanted.ipv6, unwanted.ipv6, next_address, previous_address)};
}

using Port = std::uint16_t;
std::optional<Port> next_port(Port port) {
  return port == UINT16_MAX ? std::nullopt : std::optional(static_cast<Port>(port + 1));
}
std::optional<Port> previous_port(Port port) {
  return port == 0 ? std::nullopt : std::optional(static_cast<Port>(port - 1));
}

Port parse_port(std::string_view word, std::string_view whole) {
  word = without_blanks(word);
  Port port = 0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, port);
  if (error != std::errc() || end != last) {
    refuse(quoted_word(whole) + " is no port from 0 to 65535 or range of ports");
  }
  return port;
}

Range<Port> parse_ports(std::string_view word) {
  if (word == "any") return {0, UINT16_MAX};
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) {
    const Port port = parse_port(word, word);
    return {port, port};
  }
  if (word.size() == 1) refuse("':' is no range of ports");
  const bool has_end = colon + 1 < word.size();
  const Range<Port> range{colon == 0 ? Port{0} : parse_port(word.substr(0, colon), word),
                          has_end ? parse_port(word.substr(colon + 1), word) : Port{UINT16_MAX}};
  if (range.second < range.first) refuse(quoted_word(word) + " ends in front of its start");
  return range;
}

RangeList<Port> read_ports(const std::vector<RuleListItem>& items) {
  RangeList<Port> wanted, unwanted;
  bool is_negation = true;
  for (const RuleListItem& item : items) {
    is_negation = is_negation && item.negated;
    RangeList<Port>& into = item.negated ? unwanted : wanted;
    if (!item.word.empty()) {
      into.push_back(parse_ports(item.word));
      continue;
    }
    const RangeList<Port> list = read_ports(item.list);
    into.insert(into.end(), list.begin(), list.end());
  }
  if (is_negation) wanted.emplace_back(0, UINT16_MAX);
  return difference(joined(wanted, next_port), joined(unwanted, next_port), next_port,
                    previous_port);
}

void add_ranges(std::uint8_t version, const Addresses& addresses, AddressSet& set) {
  for (const auto& [low, high] : addresses) set.ranges.push_back({version, low, high});
}

}  // namespace

AddressSet read_rule_addresses(std::string_view text, const RuleVariables& variables) {
  const BothVersions both = read_addresses(read_rule_list(text, variables));
  const Range<Ipv6Bytes> all{Ipv6Bytes{}, last_of({}, 0)};
  AddressSet set;
  set.is_any = both.ipv4 == Addresses{all} && both.ipv6 == Addresses{all};
  if (set.is_any) return set;
  add_ranges(kIpv4, both.ipv4, set);
  add_ranges(kIpv6, both.ipv6, set);
  if (set.ranges.empty()) refuse("no address is left of " + quoted_word(text));
  return set;
}

PortSet read_rule_ports(std::string_view text, const RuleVariables& variables) {
  PortSet set;
  set.ranges = read_ports(read_rule_list(text, variables));
  if (set.ranges.empty()) refuse("no port is left of " + quoted_word(text));
  set.is_any = set.ranges.front() == Range<Port>{0, UINT16_MAX};
  if (set.is_any) set.ranges.clear();
  return set;
}

AddressSet addresses_of_version(const AddressSet& addresses, std::uint8_t version) {
  AddressSet set{false, {}};
  if (addresses.is_any) set.ranges.push_back({version, Ipv6Bytes{}, last_of({}, 0)});
  for (const AddressRange& range : addresses.ranges) {
    if (range.version == version) set.ranges.push_back(range);
  }
  return set;
}

}  // namespace millrace
