// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as rules of firewall, as the output of nft and of iptables-save: it is read or refused,
// and what was read keeps the limits. The first byte says as which.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/firewall/firewall_chains.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"

namespace {

using millrace::AclAction;
using millrace::AclRule;

const std::vector<millrace::FirewallPort> kPorts = {{"lan", "eth1"}, {"wan", ""}};

millrace::FirewallRules read(char how, const std::string& text) {
  if (how == 'n') return millrace::read_nft_ruleset(text, "f", kPorts);
  if (how == '4') return millrace::read_iptables(text, "f", millrace::kAclIpv4, kPorts);
  if (how == '6') return millrace::read_iptables(text, "f", millrace::kAclIpv6, kPorts);
  return millrace::parse_firewall_rules(text, "f", kPorts);
}

void check_rule(const millrace::AclNamedRule& named) {
  const AclRule& rule = named.rule;
  MILLRACE_CHECK(!named.name.empty() && named.name.size() <= millrace::kAclNameBytesMax);
  MILLRACE_CHECK(rule.action <= static_cast<std::uint8_t>(AclAction::kReject) &&
                 rule.action != static_cast<std::uint8_t>(AclAction::kClass));
  MILLRACE_CHECK(rule.families >= 1 && rule.families <= 3);
  MILLRACE_CHECK(rule.source_port_low <= rule.source_port_high &&
                 rule.destination_port_low <= rule.destination_port_high);
  MILLRACE_CHECK(rule.vlan_low <= rule.vlan_high && rule.icmp_low <= rule.icmp_high);
  MILLRACE_CHECK((rule.marks & ~rule.marks_mask) == 0 && (rule.flags & ~rule.flags_mask) == 0);
  MILLRACE_CHECK((rule.limit_interval == 0) == (rule.limit_burst == 0));
  const bool counts = (rule.limits & millrace::kRuleConnections) != 0;
  const unsigned limits = rule.limits & ~millrace::kRuleNanoseconds;
  MILLRACE_CHECK(limits < 32 && (counts || limits < millrace::kRuleConnections));
  MILLRACE_CHECK(!counts || rule.connection_group != 0);
  const bool per_source = (rule.limits & millrace::kRuleConnectionsPerSource) != 0;
  MILLRACE_CHECK(!counts || (rule.connection_group & 1) == (per_source ? 1 : 0));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const auto rules = read(static_cast<char>(data[0]), text);
    MILLRACE_CHECK(rules.rules.size() <= millrace::kAclRuleCountMax);
    for (const millrace::AclNamedRule& rule : rules.rules) check_rule(rule);
  } catch (const millrace::Error&) {  // refused
  }
  return 0;
}
