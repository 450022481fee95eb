// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/firewall_notrack.hpp"

#include <algorithm>
#include <cstdint>

#include "services/functions/acl/acl_conditions.hpp"
#include "services/functions/acl/acl_words.hpp"
#include "services/functions/firewall/firewall_negation.hpp"
#include "services/functions/flow/flow_batch.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/packet/tcp_wire.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t bit_of(FlowState state) {
  return std::uint32_t{1} << (kAclStateShift + static_cast<std::uint32_t>(state));
}

/// States that the rule allows.
std::uint32_t states_of(const AclRule& rule) {
  return kAclStateBits & ~(rule.marks_mask & ~rule.marks);
}

/// Of SYNs, or of all segments, and of any state.
bool is_of_syns(const AclRule& rule) {
  return (tcp_wire::kSyn & rule.flags_mask) == rule.flags && states_of(rule) == kAclStateBits &&
         !firewall_has_limits(rule);
}

bool asks_for_syns(const AclRule& rule) {
  return rule.protocol == ip_protocol::kTcp && rule.protocol_mask == UINT8_MAX &&
         (rule.flags & rule.flags_mask & tcp_wire::kSyn) != 0;
}

}  // namespace

void FirewallNotrack::add(const FirewallLine& line, bool is_notrack) {
  if (is_notrack && !std::ranges::all_of(line.matches, asks_for_syns)) {
    left_out_.push_back(line.where +
                        ": notrack of other packets than SYNs, which are tracked here");
  }
  closed_ = closed_ || !is_notrack || !line.refusal.empty();
  if (closed_) return;
  for (const AclRule& match : line.matches) {
    if (!is_of_syns(match)) continue;
    matches_.push_back(firewall_without(FirewallField::kFlags, match));
  }
}

void FirewallNotrack::apply(FirewallLine& line) const {
  constexpr std::uint32_t kAsked = bit_of(FlowState::kUntracked) | bit_of(FlowState::kInvalid);
  std::vector<AclRule> asked;
  for (const AclRule& match : line.matches) {
    const std::uint32_t states = states_of(match);
    if ((states & ~kAsked) != 0) {
      throw AclRefusal{"a SYN proxy of other packets than those of state invalid or untracked"};
    }
    if ((states & bit_of(FlowState::kUntracked)) == 0) continue;  // they stand beside others
    asked.push_back(firewall_without(FirewallField::kState, match));
  }
  line.matches = matches_;
  firewall_narrow(line.matches, asked);
  if (line.matches.empty()) {
    throw AclRefusal{"a SYN proxy of SYNs that no rule on prerouting leaves untracked"};
  }
  for (AclRule& match : line.matches) {
    acl_allow_marks(kAclStateBits, kAsked | bit_of(FlowState::kNew), match);
    match.proxy = line.told.proxy;
    match.proxy_mss = line.told.proxy_mss;
    firewall_check_synproxy(match);
  }
}

void FirewallNotrack::apply_to(FirewallChains& chains) const {
  for (auto& [name, chain] : chains) {
    for (FirewallLine& line : chain.lines) {
      if (line.verdict != FirewallLine::Verdict::kSynproxy || !line.refusal.empty()) continue;
      try {
        apply(line);
      } catch (const AclRefusal& refusal) {
        line.refusal = refusal.reason;
      }
    }
  }
}

}  // namespace millrace
