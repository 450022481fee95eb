// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/firewall_elsewhere.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

using Verdict = FirewallLine::Verdict;

/// Targets of iptables that are no chains and end no packet (iptables-extensions(8)).
bool only_marks(const std::string& target) {
  constexpr std::array<std::string_view, 20> kTargets = {
      "AUDIT",   "CHECKSUM", "CLASSIFY", "CONNMARK",    "CONNSECMARK", "CT",   "DSCP",
      "ECN",     "HL",       "HMARK",    "IDLETIMER",   "LED",         "MARK", "NOTRACK",
      "RATEEST", "SECMARK",  "TCPMSS",   "TCPOPTSTRIP", "TOS",         "TTL"};
  return std::ranges::find(kTargets, target) != kTargets.end() || target == "TRACE" ||
         target == "TEE" || target == "SET";
}

class Search {
 public:
  Search(const FirewallChains& chains, const std::string& hook) : chains_(chains), hook_(hook) {}

  void look(const std::string& name) {
    const auto found = chains_.find(name);
    if (found == chains_.end() || !seen_.insert(name).second) return;
    for (const FirewallLine& line : found->second.lines) look(line);
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(what + " on " + hook_ +
                " may drop packets; only what is on forward is taken, so more would pass, and the "
                "file is refused");
  }

 private:
  void look(const FirewallLine& line) {
    switch (line.verdict) {
      case Verdict::kGoesOn:
      case Verdict::kPass:
      case Verdict::kReturn:
        return;
      case Verdict::kJump:
        if (chains_.contains(line.target)) return look(line.target);
        if (only_marks(line.target)) return;
        break;
      case Verdict::kDrop:
      case Verdict::kReject:
      case Verdict::kSynproxy:
        break;
    }
    refuse(line.where + ": a rule");
  }

  const FirewallChains& chains_;
  const std::string& hook_;
  std::set<std::string> seen_;
};

}  // namespace

void refuse_drops_elsewhere(const FirewallChains& chains, const ChainElsewhere& base,
                            const std::string& file) {
  Search search(chains, base.hook);
  if (!base.passes) search.refuse(file + ": the policy of chain '" + base.name + "'");
  search.look(base.name);
}

}  // namespace millrace
