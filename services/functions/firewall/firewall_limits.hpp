// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "services/functions/acl/acl_rule.hpp"
#include "services/functions/firewall/connection_counts.hpp"
#include "services/functions/firewall/firewall_limit.hpp"
#include "services/functions/firewall/source_rates.hpp"
#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/function.hpp"

namespace millrace {

/// FlowOwn::firewall: the number of the rule + 1, and from this bit on the slots of
/// ConnectionCounts that count the connection.
inline constexpr std::uint32_t kFirewallSlotShift = 17;
inline constexpr std::uint32_t kFirewallRuleBits = (1u << kFirewallSlotShift) - 1;
static_assert(kAclRuleCountMax <= kFirewallRuleBits &&
              kFirewallSlotShift + ConnectionCounts::kSlots <= 32);

/// The groups of rules that count connections (AclRule::connection_group), each once. Throws Error
/// where they are more than ConnectionCounts::kGroupsMax.
std::vector<std::uint32_t> firewall_groups(std::span<const AclRule> rules);

/// What rules with `limit` and `connections` say: rates in the worker, counts in the lane's state.
/// Where a limit cannot be known (no room for one more source, no connection) a rule matches that
/// drops, and no other does.
class FirewallLimits {
 public:
  /// `rules` are borrowed. `sources`: of all lanes. `hit_of_no_room`: counts packets for which
  /// there was no room. Throws Error.
  FirewallLimits(std::span<const AclRule> rules, std::uint32_t sources, std::size_t hit_of_no_room);

  /// For 1..ConnectionCounts::kSourcesMax sources.
  static LaneNeeds needs_of(std::uint32_t sources, const LaneRequest& request);

  /// Another packet comes. A TCP connection that is closed counts no longer, although its flow is
  /// there for a while (TIME_WAIT).
  void begin_packet(const FinishContext& call, const PacketFlow& flow) noexcept;
  /// True: rule `number`, which compares as the packet is, matches it.
  bool match(const FinishContext& call, const PacketFlow& flow, const AclKey& key,
             std::uint32_t number) noexcept;
  /// The packet goes on: its connection is counted by the rules that match() was asked for. False:
  /// there is no room for that.
  bool count(const FinishContext& call, const PacketFlow& flow) noexcept {
    return reached_ == 0 || count_reached(call, flow);
  }
  /// A connection that counts no longer. `state`: of the firewall, in its lane; `own`: its
  /// FlowOwn::firewall.
  static void give_back(const LaneState& state, const FlowTuple& tuple, std::uint32_t own) noexcept;

 private:
  bool count_reached(const FinishContext& call, const PacketFlow& flow) noexcept;
  bool no_room(const FinishContext& call, bool matches) const noexcept;
  bool match_connections(const FinishContext& call, const PacketFlow& flow, std::uint32_t number,
                         bool drops) noexcept;
  bool match_rate(const FinishContext& call, const AclKey& key, std::uint32_t number,
                  bool drops) noexcept;
  std::optional<ConnectionCounts> counts_of(const FinishContext& call) const noexcept;

  std::span<const AclRule> rules_;
  std::uint32_t sources_;
  std::size_t hit_of_no_room_;
  std::vector<std::uint32_t> groups_;
  std::vector<SourceNetwork> networks_;  ///< of groups_: what is one source
  std::vector<std::uint8_t> group_of_;   ///< by rule: place in groups_
  std::vector<std::uint32_t> limit_of_;  ///< by rule: the first one of its limit_group
  std::vector<FirewallLimit> limits_;    ///< by rule
  SourceRates rates_;
  std::array<std::uint64_t, 2> secret_;
  // Of the packet:
  std::uint32_t reached_ = 0;  ///< places in groups_ that count its connection
  bool closed_ = false;        ///< its connection is
};

}  // namespace millrace
