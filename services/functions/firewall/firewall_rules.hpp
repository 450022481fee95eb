// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/acl/acl_text.hpp"
#include "services/functions/function.hpp"

/// Rules of `firewall` in the form in which `acl` keeps its own, and what all readers of rules use.
/// AclAction::kAlert goes on to the next rule here; kClass does not come.

namespace millrace {

/// A port of the topology, as rules name it.
struct FirewallPort {
  std::string name;
  std::string interface;  ///< of its device; empty: it has none
};

struct FirewallRules {
  std::vector<AclNamedRule> rules;
  std::vector<std::string>
      refusals;                    ///< rules that let packets pass and are left out, with reasons
  std::vector<TableFile> files{};  ///< that they are of
};

/// A rule that matches every IP packet.
AclRule firewall_any();
/// It has `limit` or `connections`.
constexpr bool firewall_has_limits(const AclRule& rule) {
  return rule.limit_interval != 0 || (rule.limits & kRuleConnections) != 0;
}
/// What matches both; none: nothing does. Action, log and class are those of `inner`; limits too.
std::optional<AclRule> firewall_both(const AclRule& outer, const AclRule& inner);
/// Leaves out ports of TCP flags and the like: true when all that the rule asks for is in `rule`.
bool firewall_is_any(const AclRule& rule);

/// "new,established": of AclRule::marks. Throws AclRefusal.
void firewall_set_states(std::string_view words, AclRule& rule);
/// A name of a port or of its interface, `+` or `*` at the end: all that begin so. Several: with
/// commas between them. Throws AclRefusal.
void firewall_set_inputs(std::string_view words, std::span<const FirewallPort> ports,
                         AclRule& rule);
/// So many a "second", "minute", "hour" or "day"; `burst` at once. `bits`: of kRuleRateOver and
/// kRuleRatePerSource. Throws AclRefusal.
void firewall_set_limit(std::uint64_t count, std::string_view unit, std::uint32_t burst,
                        std::uint8_t bits, AclRule& rule);
/// So many connections at a time. `bits`: of kRuleConnectionsOver and kRuleConnectionsPerSource.
void firewall_set_connections(std::uint32_t count, std::uint8_t bits, AclRule& rule);
/// What a rule of synproxy tells the sender of a SYN: its MSS, 88 to 65535, and the shift of its
/// window, 0 to 14. Throws AclRefusal.
void firewall_set_proxy_mss(std::string_view word, AclRule& rule);
void firewall_set_proxy_scale(std::string_view word, AclRule& rule);
/// Throws AclRefusal for a rule of synproxy of more than TCP, one that looks at flags or counts
/// connections, and window scale or SACK without timestamps, which carry them.
void firewall_check_synproxy(const AclRule& rule);
/// The number of a group of that name; not 0.
std::uint32_t firewall_group(std::string_view name);
/// The same for AclRule::connection_group of a rule with these matches, which stands in `chain`: it
/// stays as it is when rules come or go beside it, and when its number of connections changes.
std::uint32_t firewall_group_of(std::span<const AclRule> matches, std::string_view chain);

/// The rule file of `firewall` (README.md). Throws Error "file:line: reason" for a line that is
/// wrong, unless it would let packets pass: then the others load.
FirewallRules parse_firewall_rules(std::string_view text, const std::string& file,
                                   std::span<const FirewallPort> ports);

}  // namespace millrace
