// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall_chains.hpp"

#include <algorithm>
#include <utility>

#include "services/functions/acl/acl_words.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

using Verdict = FirewallLine::Verdict;

constexpr unsigned kDepthMax = 16;  ///< of jumps; the kernel's limit

AclAction action_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return AclAction::kPass;
    case Verdict::kDrop:
      return AclAction::kDrop;
    case Verdict::kReject:
      return AclAction::kReject;
    case Verdict::kSynproxy:
      return AclAction::kSynproxy;
    default:
      return AclAction::kAlert;
  }
}

std::string name_of(const FirewallLine& line) {
  std::string name = line.name.empty() ? line.where : line.name;
  if (name.size() > kAclNameBytesMax) name = name.substr(name.size() - kAclNameBytesMax);
  for (char& byte : name) {
    if (byte < 0x20 || byte > 0x7e) byte = '?';
  }
  return name;
}

class Flattening {
 public:
  Flattening(const FirewallChains& chains, FirewallRules& out) : chains_(chains), out_(out) {}

  void add_chain(const std::string& name, const AclRule& outer, unsigned depth) {
    const auto found = chains_.find(name);
    if (found == chains_.end()) throw Error("no chain '" + name + "', which a rule jumps to");
    if (depth > kDepthMax) throw Error("chain '" + name + "': jumps that go too deep");
    for (const FirewallLine& line : found->second.lines) {
      if (!line.refusal.empty()) {
        leave_out(line);
        continue;
      }
      if (line.verdict == Verdict::kReturn) {
        const bool always = line.matches.size() == 1 && firewall_is_any(line.matches[0]);
        if (always && depth > 0) {
          if (line.log) add_rule(line, outer, AclAction::kAlert);
          return;
        }
        throw Error(line.where + ": return under a condition cannot be said in one list");
      }
      for (const AclRule& match : line.matches) add_match(line, match, outer, depth);
    }
  }

  void add(AclNamedRule rule) {
    if (out_.rules.size() == kAclRuleCountMax) {
      throw Error("more than " + std::to_string(kAclRuleCountMax) + " rules");
    }
    out_.rules.push_back(std::move(rule));
  }

 private:
  void leave_out(const FirewallLine& line) {
    if (line.verdict != Verdict::kPass && line.verdict != Verdict::kGoesOn) {
      throw Error(line.where + ": " + line.refusal +
                  "; without this rule more would pass, so the file is refused");
    }
    out_.refusals.push_back(line.where + ": " + line.refusal);
  }

  void add_match(const FirewallLine& line, const AclRule& match, const AclRule& outer,
                 unsigned depth) {
    const std::optional<AclRule> both = firewall_both(outer, match);
    if (!both) return;
    if (line.verdict == Verdict::kJump) {
      if (firewall_has_limits(match)) throw Error(line.where + ": a jump with a limit");
      if (line.log) add_rule(line, *both, AclAction::kAlert);
      return add_chain(line.target, *both, depth + 1);
    }
    if (line.verdict == Verdict::kGoesOn && !line.log) return;  // it only counts
    add_rule(line, *both, action_of(line.verdict));
  }

  void add_rule(const FirewallLine& line, const AclRule& match, AclAction action) {
    AclNamedRule rule{.rule = match, .name = name_of(line)};
    rule.rule.action = static_cast<std::uint8_t>(action);
    rule.rule.log = line.log ? 1 : 0;
    if (action == AclAction::kReject) rule.rule.reject = line.told.reject;
    add(std::move(rule));
  }

  const FirewallChains& chains_;
  FirewallRules& out_;
};

}  // namespace

void flatten_chain(const FirewallChains& chains, const std::string& chain, std::uint8_t families,
                   bool policy_passes, FirewallRules& out) {
  Flattening flattening(chains, out);
  AclRule all = firewall_any();
  all.families = families;
  flattening.add_chain(chain, all, 0);
  all.action = static_cast<std::uint8_t>(policy_passes ? AclAction::kPass : AclAction::kDrop);
  flattening.add({.rule = all, .name = policy_passes ? "policy accept" : "policy drop"});
}

void firewall_narrow(std::vector<AclRule>& matches, const std::vector<AclRule>& more) {
  std::vector<AclRule> out;
  for (const AclRule& one : matches) {
    for (const AclRule& other : more) {
      const std::optional<AclRule> both = firewall_both(one, other);
      if (!both) continue;
      out.push_back(*both);
      if (out.size() > kAclRuleCountMax) throw AclRefusal{"its sets make too many rules"};
    }
  }
  matches = std::move(out);
}

void firewall_limit(const AclRule& limits, const std::string& chain, FirewallLine& line) {
  if (!firewall_has_limits(limits)) return;
  firewall_narrow(line.matches, {limits});
  const std::uint32_t of_connections = firewall_group_of(line.matches, chain);
  for (AclRule& rule : line.matches) {
    if (rule.limit_group == 0) rule.limit_group = firewall_group(line.where);
    if (rule.connection_group == 0) rule.connection_group = of_connections;
  }
}

}  // namespace millrace
