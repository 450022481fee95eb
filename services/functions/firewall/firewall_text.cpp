// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "services/functions/acl/acl_match.hpp"
#include "services/functions/firewall/firewall_negation.hpp"
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
  if (action == "synproxy") return set(AclAction::kSynproxy);
  throw AclRefusal{quoted_word(action) +
                   " is no action; there are pass, drop, reject, alert, synproxy"};
}

/// "source/24", "source/24,64" behind `per`: `bits` becomes what of an address counts.
void read_network(std::string_view word, const AclRule& rule, std::uint8_t (&bits)[2]) {
  constexpr std::uint32_t kBitsMax[2] = {32, 128};
  const bool has_family[2] = {(rule.families & kAclIpv4) != 0, (rule.families & kAclIpv6) != 0};
  const std::size_t comma = word.find(',');
  const bool two = comma != word.npos;
  if (two != (has_family[0] && has_family[1])) {
    throw AclRefusal{"per source/" + std::string(word) +
                     ": a length for each family of the rule is expected; of both: per "
                     "source/24,64"};
  }
  const std::string_view words[2] = {word.substr(0, comma), two ? word.substr(comma + 1) : word};
  for (std::size_t i = 0; i < 2; ++i) {
    if (!has_family[i]) continue;
    const std::uint32_t length = acl_number(words[i], kBitsMax[i], "per source/");
    if (length == 0) throw AclRefusal{"per source/0: all are one source; leave it out"};
    bits[i] = static_cast<std::uint8_t>(length);
  }
}

/// True: "per source" stands here.
bool take_per_source(AclLine& line, const AclRule& rule, std::uint8_t (&bits)[2]) {
  constexpr std::string_view kSource = "source";
  if (!line.take("per")) return false;
  const std::string_view word = line.word("'source'");
  if (word == kSource) return true;
  if (!word.starts_with(kSource) || word[kSource.size()] != '/') {
    throw AclRefusal{"per: 'source' is expected behind it, or 'source/LENGTH'"};
  }
  read_network(word.substr(kSource.size() + 1), rule, bits);
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
  const bool per_source = take_per_source(line, rule, rule.rate_bits);
  firewall_set_limit(count, word.substr(slash + 1), burst,
                     (over ? kRuleRateOver : 0) | (per_source ? kRuleRatePerSource : 0), rule);
}

/// "20", then perhaps "per source"; "over" in front of it.
void read_connections(AclLine& line, AclRule& rule) {
  const bool over = line.take("over");
  const std::uint32_t count =
      acl_number(line.word("a number of connections"), kConnectionsMax, "connections");
  const bool per_source = take_per_source(line, rule, rule.connection_bits);
  firewall_set_connections(
      count, (over ? kRuleConnectionsOver : 0) | (per_source ? kRuleConnectionsPerSource : 0),
      rule);
}

/// What the sender of a SYN is told: an option of a rule of synproxy. False: `option` is none.
bool read_proxy_option(AclLine& line, std::string_view option, AclRule& rule) {
  if (option == "mss") {
    firewall_set_proxy_mss(line.word("a number"), rule);
  } else if (option == "wscale") {
    firewall_set_proxy_scale(line.word("a number"), rule);
  } else if (option == "sack-perm") {
    rule.proxy |= kRuleProxySack;
  } else if (option == "timestamp") {
    rule.proxy |= kRuleProxyTimestamp;
  } else {
    return false;
  }
  return true;
}

/// Fields with a `!` in front of what they compare with.
using Negations = std::vector<FirewallField>;

void read_match(AclLine& line, AclRule& rule, Negations& negations) {
  AclNegated negated;
  acl_read_match(line, rule, &negated);
  if (negated.source) negations.push_back(FirewallField::kSource);
  if (negated.destination) negations.push_back(FirewallField::kDestination);
  if (negated.source_port) negations.push_back(FirewallField::kSourcePort);
  if (negated.destination_port) negations.push_back(FirewallField::kDestinationPort);
}

/// The words behind `in` or `state`.
std::string_view list_of(AclLine& line, const char* what, FirewallField field,
                         Negations& negations) {
  std::string_view words = line.word(what);
  if (!words.starts_with('!')) return words;
  negations.push_back(field);
  words.remove_prefix(1);
  return words;
}

/// The rule as it stands there, and what of it is negated.
AclNamedRule read_rule(AclLine line, std::span<const FirewallPort> ports, Negations& negations) {
  AclNamedRule out;
  AclRule& rule = out.rule;
  read_action(line, rule);
  read_match(line, rule, negations);
  const bool is_synproxy = rule.action == static_cast<std::uint8_t>(AclAction::kSynproxy);
  AclOptionNames seen;
  while (!line.at_end()) {
    const std::string_view option = seen.next(line);
    if (option == "in") {
      firewall_set_inputs(list_of(line, "a port", FirewallField::kInput, negations), ports, rule);
    } else if (option == "state") {
      firewall_set_states(list_of(line, "a state", FirewallField::kState, negations), rule);
    } else if (option == "limit") {
      read_limit(line, rule);
    } else if (option == "connections") {
      read_connections(line, rule);
    } else if (option == "log") {
      rule.log = 1;
    } else if (option == "name") {
      out.name = line.name();
    } else if (is_synproxy && read_proxy_option(line, option, rule)) {
      continue;
    } else if (!acl_read_option(line, option, rule)) {
      throw AclRefusal{quoted_word(option) +
                       " is no option; there are in, state, limit, connections, " +
                       std::string(kAclOptionNames) + ", log, name" +
                       (is_synproxy ? ", mss, wscale, sack-perm, timestamp" : "")};
    }
  }
  if (is_synproxy) firewall_check_synproxy(rule);
  return out;
}

/// Rules that say together what the line says. `place`: file and line. `name`: of those that have
/// none.
void add_line(const AclLine& line, std::span<const FirewallPort> ports, const std::string& place,
              const std::string& name, std::vector<AclNamedRule>& out) {
  Negations negations;
  AclNamedRule named = read_rule(line, ports, negations);
  if (named.name.empty()) named.name = name;
  const std::vector<AclRule> rules = firewall_but(named.rule, negations);
  if (out.size() + rules.size() > kAclRuleCountMax) {
    throw AclRefusal{"more than " + std::to_string(kAclRuleCountMax) + " rules"};
  }
  const std::uint32_t connections = firewall_group_of(rules, {});
  for (const AclRule& rule : rules) {
    named.rule = rule;
    if (rule.limit_interval != 0) named.rule.limit_group = firewall_group(place);
    if ((rule.limits & kRuleConnections) != 0) named.rule.connection_group = connections;
    out.push_back(named);
  }
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
      add_line(line, ports, file + place, base_name + place, out.rules);
    } catch (const AclRefusal& refusal) {
      const std::string reason = file + place + ": " + refusal.reason;
      if (!line.take("pass")) throw Error(reason);
      out.refusals.push_back(reason);
    }
  }
  return out;
}

}  // namespace millrace
