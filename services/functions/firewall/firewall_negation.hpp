// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "services/functions/firewall/firewall_rules.hpp"

/// What a negation matches, said by rules that know none: the other addresses as prefixes, the
/// other ports as ranges.

namespace millrace {

/// What of a rule is negated.
enum class FirewallField : std::uint8_t {
  kSource,
  kDestination,
  kSourcePort,
  kDestinationPort,
  kProtocol,
  kFlags,
  kIcmp,
  kState,
  kInput,
};

inline constexpr std::size_t kNegatedMembersMax = 256;  ///< of a set
inline constexpr std::size_t kNegationRulesMax = 4096;  ///< that one negation may become

/// What is as one of `members` in all but `field`, and in that as none of them. They differ in that
/// field alone. Throws AclRefusal above the limits.
std::vector<AclRule> firewall_all_but(FirewallField field, const std::vector<AclRule>& members);

/// What is as `rule` in all but `fields`, and in each of these not as that. Throws AclRefusal above
/// the limits, and where nothing is left.
std::vector<AclRule> firewall_but(const AclRule& rule, std::span<const FirewallField> fields);

/// The same without what it asks for in `field`.
AclRule firewall_without(FirewallField field, const AclRule& rule);

}  // namespace millrace
