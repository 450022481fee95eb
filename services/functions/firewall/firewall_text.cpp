// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "services/functions/acl/acl_match.hpp"
#include "services/functions/firewall/firewall_rules.hpp"
#include "shared/base/error.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kConnectionsMax = 1'000'000'000;

void read_action(AclLine& line, AclRule& rule) {
  const std::string_view action = line.word("an action");
  const auto set = [&](AclAction to) { rule.action = static_cast<std::uint8_t>(to); };
  if (action == "pass") return set(AclAction::kPass);
  if (action == "drop") return set(AclAction::kDrop);
  if (action == "reject") return set(AclAction::kReject);
  if (action == "alert") return set(AclAction::kAlert);
  throw AclRefusal{quoted_word(action) + " is no action; there are pass, drop, reject, alert"};
}

bool take_per_source(AclLine& line) {
  if (!line.take("per")) return false;
  if (!line.take("source")) throw AclRefusal{"per: 'source' is expected behind it"};
  return true;
}

/// "10/second", then perhaps "burst 20" and "per source"; "over" in front of it.
void read_limit(AclLine& line, AclRule& rule) {
  constexpr std::uint32_t kBurst = 5;
  constexpr std::uint32_t kCountMax = 1'000'000;
  const bool over = line.take("over");
  const std::string_view word = line.word("a limit");
  const std::size_t slash = word.find('/');
  if (slash == word.npos)
    throw AclRefusal{"limit " + quoted_word(word) + ": NUMBER/UNIT is expected"};
  const std::uint32_t count = acl_number(word.substr(0, slash), kCountMax, "limit");
  const std::uint32_t burst =
      line.take("burst") ? acl_number(line.word("a burst"), kCountMax, "burst") : kBurst;
  const bool per_source = take_per_source(line);
  firewall_set_limit(count, word.substr(slash + 1), burst,
                     (over ? kRuleRateOver : 0) | (per_source ? kRuleRatePerSource : 0), rule);
}

/// "20", then perhaps "per source"; "over" in front of it.
void read_connections(AclLine& line, AclRule& rule) {
  const bool over = line.take("over");
  const std::uint32_t count =
      acl_number(line.word("a number of connections"), kConnectionsMax, "connections");
  const bool per_source = take_per_source(line);
  firewall_set_connections(
      count, (over ? kRuleConnectionsOver : 0) | (per_source ? kRuleConnectionsPerSource : 0),
      rule);
}

AclNamedRule read_rule(AclLine line, std::span<const FirewallPort> ports) {
  AclNamedRule out;
  AclRule& rule = out.rule;
  read_action(line, rule);
  acl_read_match(line, rule);
  AclOptionNames seen;
  while (!line.at_end()) {
    const std::string_view option = seen.next(line);
    if (option == "in") {
      firewall_set_inputs(line.word("a port"), ports, rule);
    } else if (option == "state") {
      firewall_set_states(line.word("a state"), rule);
    } else if (option == "limit") {
      read_limit(line, rule);
    } else if (option == "connections") {
      read_connections(line, rule);
    } else if (option == "log") {
      rule.log = 1;
    } else if (option == "name") {
      out.name = line.name();
    } else if (!acl_read_option(line, option, rule)) {
      throw AclRefusal{quoted_word(option) +
                       " is no option; there are in, state, limit, connections, " +
                       std::string(kAclOptionNames) + ", log, name"};
    }
  }
  if ((rule.limits & kRuleConnections) != 0) {
    rule.connection_group = firewall_group_of({&rule, 1}, {});
  }
  return out;
}

}  // namespace

FirewallRules parse_firewall_rules(std::string_view text, const std::string& file,
                                   std::span<const FirewallPort> ports) {
  FirewallRules out;
  const std::string base_name = file.substr(file.find_last_of('/') + 1);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (one.ends_with('\r')) one.remove_suffix(1);
    AclLine line(one);
    if (line.at_end()) continue;
    const std::string place = ":" + std::to_string(number);
    try {
      if (out.rules.size() == kAclRuleCountMax) {
        throw AclRefusal{"more than " + std::to_string(kAclRuleCountMax) + " rules"};
      }
      AclNamedRule rule = read_rule(line, ports);
      if (rule.name.empty()) rule.name = base_name + place;
      out.rules.push_back(std::move(rule));
    } catch (const AclRefusal& refusal) {
      const std::string reason = file + place + ": " + refusal.reason;
      if (!line.take("pass")) throw Error(reason);
      out.refusals.push_back(reason);
    }
  }
  return out;
}

}  // namespace millrace
