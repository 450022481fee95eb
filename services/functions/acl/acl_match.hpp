// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "services/functions/acl/acl_rule.hpp"
#include "services/functions/acl/acl_words.hpp"

/// What a rule compares, in the words of a rule file: `PROTOCOL SIDE -> SIDE`, and its options.

namespace millrace {

/// Which words of a rule have a `!` in front: all but that is meant.
struct AclNegated {
  bool source = false, destination = false, source_port = false, destination_port = false;
};

/// Reads protocol, source and destination into `rule`. `negated`: null: a `!` is refused. Throws
/// AclRefusal.
void acl_read_match(AclLine& line, AclRule& rule, AclNegated* negated = nullptr);

/// The names of the options of acl_read_option().
inline constexpr std::string_view kAclOptionNames = "flags, vlan, dscp, fragment, icmp";

/// Reads what stands behind `option`, one of kAclOptionNames, and returns true; false: it is none
/// of them. Throws AclRefusal.
bool acl_read_option(AclLine& line, std::string_view option, AclRule& rule);

/// Options of a line: each stands once.
class AclOptionNames {
 public:
  /// The next word. Throws AclRefusal when it has been there.
  std::string_view next(AclLine& line);

 private:
  std::vector<std::string_view> seen_;
};

/// The number of a protocol by its name, or 0.
std::uint8_t acl_protocol_of(std::string_view name);
/// "0x06/0xff": value and mask.
void acl_masked_protocol(std::string_view word, AclRule& rule);

struct AclPortRange {
  std::uint16_t low = 0, high = UINT16_MAX;
};
/// Throws AclRefusal for no ports, or a `low` above `high`.
AclPortRange acl_port_range(std::string_view low, std::string_view high);
void acl_set_ports(const AclPortRange& source, const AclPortRange& destination, AclRule& rule);

/// "S/SA": of S and A, S alone is set.
void acl_set_flags(std::string_view word, AclRule& rule);

}  // namespace millrace
