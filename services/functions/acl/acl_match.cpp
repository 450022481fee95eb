// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_match.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "services/functions/acl/acl_conditions.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

struct Protocol {
  std::string_view name;
  std::uint8_t number;
};
constexpr std::array kProtocols = {
    Protocol{"icmp", 1},  Protocol{"tcp", 6},    Protocol{"udp", 17},     Protocol{"gre", 47},
    Protocol{"esp", 50},  Protocol{"ah", 51},    Protocol{"icmp6", 58},   Protocol{"ospf", 89},
    Protocol{"dccp", 33}, Protocol{"sctp", 132}, Protocol{"udplite", 136}};

constexpr std::string_view kFlagLetters = "FSRPAUEW";  ///< bit 0 first

/// Returns the families that the word leaves.
std::uint8_t read_protocol(AclLine& line, AclRule& rule) {
  const std::string_view word = line.word("a protocol");
  if (word == "ip" || word == "any") return kAclIpv4 | kAclIpv6;
  if (word == "ip4") return kAclIpv4;
  if (word == "ip6") return kAclIpv6;
  if (const std::uint8_t number = acl_protocol_of(word); number != 0) {
    rule.protocol = number;
    rule.protocol_mask = 0xff;
    return kAclIpv4 | kAclIpv6;
  }
  if (word.front() < '0' || word.front() > '9') {
    std::string names = "ip, ip4, ip6";
    for (const Protocol& known : kProtocols) names += ", " + std::string(known.name);
    throw AclRefusal{quoted_word(word) + " is no protocol; there are " + names +
                     ", NUMBER, NUMBER/MASK"};
  }
  acl_masked_protocol(word, rule);
  return kAclIpv4 | kAclIpv6;
}

/// An address, perhaps with `port RANGE`.
/// True: there was a `!` in front of the word, which is gone.
bool take_negation(std::string_view& word) {
  if (!word.starts_with('!')) return false;
  word.remove_prefix(1);
  return true;
}

struct Side {
  AclPrefix prefix;
  AclPortRange ports;
  bool negated = false, port_negated = false;
};

/// `negations`: a `!` may stand there.
Side read_side(AclLine& line, const char* what, bool negations) {
  Side side;
  std::string_view address = line.word(what);
  side.negated = negations && take_negation(address);
  side.prefix = acl_prefix(address, false);
  if (!line.take("port")) return side;
  std::string_view word = line.word("a port");
  if (word == "->") throw AclRefusal{"a port is missing"};
  side.port_negated = negations && take_negation(word);
  if (word == "any") return side;
  const std::size_t dash = word.find('-');
  side.ports = dash == std::string_view::npos
                   ? acl_port_range(word, word)
                   : acl_port_range(word.substr(0, dash), word.substr(dash + 1));
  return side;
}

std::uint8_t flag_bits(std::string_view letters) {
  unsigned bits = 0;
  if (letters == "0") return 0;
  for (const char letter : letters) {
    const std::size_t bit = kFlagLetters.find(letter);
    if (bit == std::string_view::npos) {
      throw AclRefusal{quoted_word(letters) + " are no TCP flags; there are " +
                       std::string(kFlagLetters)};
    }
    bits |= 1u << bit;
  }
  return static_cast<std::uint8_t>(bits);
}

}  // namespace

std::uint8_t acl_protocol_of(std::string_view name) {
  const auto* const found = std::ranges::find(kProtocols, name, &Protocol::name);
  return found == kProtocols.end() ? std::uint8_t{0} : found->number;
}

void acl_masked_protocol(std::string_view word, AclRule& rule) {
  const std::size_t slash = word.find('/');
  rule.protocol_mask = 0xff;
  if (slash != std::string_view::npos) {
    rule.protocol_mask =
        static_cast<std::uint8_t>(acl_number(word.substr(slash + 1), 255, "protocol mask"));
  }
  rule.protocol =
      static_cast<std::uint8_t>(acl_number(word.substr(0, slash), 255, "protocol number"));
  rule.protocol &= rule.protocol_mask;
}

AclPortRange acl_port_range(std::string_view low, std::string_view high) {
  const AclPortRange range{static_cast<std::uint16_t>(acl_number(low, UINT16_MAX, "port")),
                           static_cast<std::uint16_t>(acl_number(high, UINT16_MAX, "port"))};
  if (range.low > range.high) {
    throw AclRefusal{"ports " + std::string(low) + " to " + std::string(high) +
                     ": the first is above the last"};
  }
  return range;
}

void acl_set_ports(const AclPortRange& source, const AclPortRange& destination, AclRule& rule) {
  rule.source_port_low = source.low;
  rule.source_port_high = source.high;
  rule.destination_port_low = destination.low;
  rule.destination_port_high = destination.high;
}

void acl_set_flags(std::string_view word, AclRule& rule) {
  if (rule.protocol != 6 || rule.protocol_mask != 0xff) {
    throw AclRefusal{"flags are TCP's: the protocol has to be tcp"};
  }
  const std::size_t slash = word.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == word.size()) {
    throw AclRefusal{"flags " + quoted_word(word) + ": SET/OF is expected, as S/SA"};
  }
  rule.flags = flag_bits(word.substr(0, slash));
  rule.flags_mask = flag_bits(word.substr(slash + 1));
  if ((rule.flags & ~rule.flags_mask) != 0 || rule.flags_mask == 0) {
    throw AclRefusal{"flags " + quoted_word(word) + ": those in front are among those behind"};
  }
}

void acl_read_match(AclLine& line, AclRule& rule, AclNegated* negated) {
  const std::uint8_t families = read_protocol(line, rule);
  const Side source = read_side(line, "a source", negated != nullptr);
  if (!line.take("->")) throw AclRefusal{"'->' is expected between source and destination"};
  const Side destination = read_side(line, "a destination", negated != nullptr);
  acl_set_addresses(source.prefix, destination.prefix, families, rule);
  acl_set_ports(source.ports, destination.ports, rule);
  if (negated != nullptr) {
    *negated = {.source = source.negated,
                .destination = destination.negated,
                .source_port = source.port_negated,
                .destination_port = destination.port_negated};
  }
  if (acl_asks_for_ports(rule) && rule.protocol_mask == 0xff &&
      !acl_protocol_has_ports(rule.protocol)) {
    throw AclRefusal{"protocol " + std::to_string(rule.protocol) + " has no ports"};
  }
}

bool acl_read_option(AclLine& line, std::string_view option, AclRule& rule) {
  if (option != "flags") return acl_read_condition(line, option, rule);
  acl_set_flags(line.word("flags"), rule);
  return true;
}

std::string_view AclOptionNames::next(AclLine& line) {
  const std::string_view option = line.word("an option");
  if (std::ranges::find(seen_, option) != seen_.end()) {
    throw AclRefusal{quoted_word(option) + " stands twice"};
  }
  seen_.push_back(option);
  return option;
}

}  // namespace millrace
