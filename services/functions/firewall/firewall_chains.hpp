// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "services/functions/firewall/firewall_rules.hpp"

/// Rules of the kernel's packet filter, as nft and iptables keep them: chains that jump to each
/// other. Made into one list here.

namespace millrace {

struct FirewallLine {
  enum class Verdict : std::uint8_t { kGoesOn, kPass, kDrop, kReject, kSynproxy, kJump, kReturn };

  std::string where;             ///< for messages
  std::string name;              ///< of the rule; empty: `where`
  std::vector<AclRule> matches;  ///< any of them; their action and name are not set
  Verdict verdict = Verdict::kGoesOn;
  std::string target;  ///< of a jump
  AclRule told{};      ///< of kSynproxy: AclRule::proxy and proxy_mss; of kReject: AclRule::reject
  bool log = false;
  std::string refusal;  ///< what of it is not understood; empty: nothing
};

struct FirewallChain {
  std::vector<FirewallLine> lines;
};
using FirewallChains = std::map<std::string, FirewallChain>;

/// Appends what `chain` and those that it jumps to say of packets of `families`, then its `policy`.
/// Lines that are not understood and pass packets, or only count them, are left out and told of.
/// Throws Error for others, and for what no list can say.
void flatten_chain(const FirewallChains& chains, const std::string& chain, std::uint8_t families,
                   bool policy_passes, FirewallRules& out);

/// `matches` becomes what is in one of them and in one of `more`. Throws AclRefusal above
/// kAclRuleCountMax. Limits are those of `more`.
void firewall_narrow(std::vector<AclRule>& matches, const std::vector<AclRule>& more);
/// The last of all: the line has the limits of `limits`, which all of its matches share, and
/// matches no more than that does. `chain`: where it stands. Throws AclRefusal.
void firewall_limit(const AclRule& limits, const std::string& chain, FirewallLine& line);

/// The output of `nft -j list ruleset`: the chains of type filter on the hook forward. `file`: for
/// messages. Throws Error.
FirewallRules read_nft_ruleset(const std::string& json, const std::string& file,
                               std::span<const FirewallPort> ports);

/// The output of `iptables-save` or `ip6tables-save`: the chain FORWARD of its table filter.
/// `family`: kAclIpv4 or kAclIpv6. Throws Error.
FirewallRules read_iptables(const std::string& text, const std::string& file, std::uint8_t family,
                            std::span<const FirewallPort> ports);

}  // namespace millrace
