// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/firewall_limits.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <unordered_map>

#include "services/functions/lane_share.hpp"
#include "shared/base/error.hpp"
#include "shared/base/random_secret.hpp"

namespace millrace {
namespace {

bool counts_connections(const AclRule& rule) { return (rule.limits & kRuleConnections) != 0; }

SourceNetwork network_of(const AclRule& rule) noexcept {
  return {{rule.connection_bits[0], rule.connection_bits[1]}};
}

bool drops(const AclRule& rule) noexcept {
  const auto action = static_cast<AclAction>(rule.action);
  return action == AclAction::kDrop || action == AclAction::kReject;
}

/// Rates for each source need memory only where there is a rule with one.
std::uint32_t rates_for(std::span<const AclRule> rules, std::uint32_t sources) {
  return std::ranges::any_of(
             rules, [](const AclRule& rule) { return (rule.limits & kRuleRatePerSource) != 0; })
             ? sources
             : 0;
}

}  // namespace

std::vector<std::uint32_t> firewall_groups(std::span<const AclRule> rules) {
  std::vector<std::uint32_t> groups;
  for (const AclRule& rule : rules) {
    if (!counts_connections(rule)) continue;
    if (std::ranges::find(groups, rule.connection_group) != groups.end()) continue;
    groups.push_back(rule.connection_group);
  }
  if (groups.size() > ConnectionCounts::kGroupsMax) {
    throw Error("rules: " + std::to_string(groups.size()) + " rules count connections; at most " +
                std::to_string(ConnectionCounts::kGroupsMax) + " may");
  }
  return groups;
}

FirewallLimits::FirewallLimits(std::span<const AclRule> rules, std::uint32_t sources,
                               std::size_t hit_of_no_room)
    : rules_(rules),
      sources_(sources),
      hit_of_no_room_(hit_of_no_room),
      groups_(firewall_groups(rules)),
      networks_(groups_.size()),
      group_of_(rules.size()),
      limit_of_(rules.size()),
      limits_(rules.size()),
      rates_(rates_for(rules, sources)),
      secret_(random_secret()) {
  std::unordered_map<std::uint32_t, std::uint32_t> first_of;
  for (std::uint32_t number = 0; number < rules.size(); ++number) {
    const AclRule& rule = rules[number];
    limit_of_[number] = rule.limit_group == 0
                            ? number
                            : first_of.try_emplace(rule.limit_group, number).first->second;
    if (!counts_connections(rule)) continue;
    const auto found = std::ranges::find(groups_, rule.connection_group);
    group_of_[number] = static_cast<std::uint8_t>(found - groups_.begin());
    networks_[group_of_[number]] = network_of(rule);
  }
}

LaneNeeds FirewallLimits::needs_of(std::uint32_t sources, const LaneRequest& request) {
  // A packet's connection begins to be counted, and as many end: by time, by room, by its TCP, and
  // what is not kept.
  constexpr std::uint32_t kOfPacket =
      ConnectionCounts::kGroupsMax * ConnectionCounts::kLinesOfAdd +
      4 * ConnectionCounts::kSlots * ConnectionCounts::kLinesOfRemove;
  return {.state_bytes = ConnectionCounts::bytes_for(share_of_lane(sources, request.lanes)),
          .undo_lines = request.batch_capacity * kOfPacket + 1};
}

/// The lane is laid out by the first packet that asks for it.
std::optional<ConnectionCounts> FirewallLimits::counts_of(
    const FinishContext& call) const noexcept {
  return ConnectionCounts::of_lane(call.state, share_of_lane(sources_, call.facts.lane_count),
                                   secret_);
}

void FirewallLimits::begin_packet(const FinishContext& call, const PacketFlow& flow) noexcept {
  reached_ = 0;
  closed_ = false;
  if (groups_.empty() || call.flows == nullptr || flow.flow == kNoFlow) return;
  const FlowOwn& own = call.flows->own(flow.flow);
  const TcpState tcp = state_of(own.tcp);
  closed_ = tcp == TcpState::kTimeWait || tcp == TcpState::kClose;
  const std::uint32_t firewall = own.firewall;
  if (!closed_ || firewall >> kFirewallSlotShift == 0) return;
  give_back(call.state, call.flows->tuple(flow.flow, 0), firewall);
  call.flows->change_own(flow.flow).firewall = firewall & kFirewallRuleBits;
}

bool FirewallLimits::no_room(const FinishContext& call, bool matches) const noexcept {
  call.counters.hit(hit_of_no_room_);
  return matches;
}

bool FirewallLimits::match(const FinishContext& call, const PacketFlow& flow, const AclKey& key,
                           std::uint32_t number) noexcept {
  const AclRule& rule = rules_[number];
  if (counts_connections(rule) && !match_connections(call, flow, number, drops(rule))) return false;
  return rule.limit_interval == 0 || match_rate(call, key, number, drops(rule));
}

bool FirewallLimits::match_connections(const FinishContext& call, const PacketFlow& flow,
                                       std::uint32_t number, bool drops) noexcept {
  const AclRule& rule = rules_[number];
  if (call.flows == nullptr || flow.flow == kNoFlow) return drops;
  const auto counts = counts_of(call);
  if (!counts) return no_room(call, drops);
  const auto others =
      counts->count(rule.connection_group, call.flows->tuple(flow.flow, 0), network_of(rule));
  if (!others) return no_room(call, drops);
  if (!closed_) reached_ |= 1u << group_of_[number];
  const auto slot = counts->slot_of(rule.connection_group);
  const std::uint32_t own = call.flows->own(flow.flow).firewall >> kFirewallSlotShift;
  const bool counted = slot && (own >> *slot & 1) != 0;
  const std::uint64_t with_it = std::uint64_t{*others} + (counted || closed_ ? 0 : 1);
  return (with_it > rule.connections) == ((rule.limits & kRuleConnectionsOver) != 0);
}

bool FirewallLimits::match_rate(const FinishContext& call, const AclKey& key, std::uint32_t number,
                                bool drops) noexcept {
  const AclRule& rule = rules_[number];
  const bool over = (rule.limits & kRuleRateOver) != 0;
  const std::uint32_t limit = limit_of_[number];
  if ((rule.limits & kRuleRatePerSource) == 0) {
    return limits_[limit].take(rule, call.facts.now_ns) != over;
  }
  SourceRates::Source source{.group = limit, .version = key.version};
  static_assert(sizeof source.address == sizeof key.source);
  std::memcpy(source.address.data(), key.source, sizeof key.source);
  source.address =
      SourceNetwork{{rule.rate_bits[0], rule.rate_bits[1]}}.of(source.address, key.version);
  switch (rates_.take(source, rule, call.facts.now_ns)) {
    case SourceRates::Taken::kBelow:
      return !over;
    case SourceRates::Taken::kAbove:
      return over;
    case SourceRates::Taken::kNoRoom:
      break;
  }
  return no_room(call, drops);
}

bool FirewallLimits::count_reached(const FinishContext& call, const PacketFlow& flow) noexcept {
  const auto counts = counts_of(call);
  const std::uint32_t was = call.flows->own(flow.flow).firewall;
  std::uint32_t own = was;
  bool room = counts.has_value();
  for (std::uint32_t left = reached_; left != 0 && room; left &= left - 1) {
    const auto place = static_cast<std::size_t>(std::countr_zero(left));
    const std::uint32_t group = groups_[place];
    const auto has = counts->slot_of(group);
    if (has && (own >> kFirewallSlotShift >> *has & 1) != 0) continue;
    const auto slot = counts->add(group, call.flows->tuple(flow.flow, 0), networks_[place]);
    room = slot.has_value();
    if (slot) own |= 1u << (kFirewallSlotShift + *slot);
  }
  if (own != was) call.flows->change_own(flow.flow).firewall = own;
  return room || no_room(call, false);
}

void FirewallLimits::give_back(const LaneState& state, const FlowTuple& tuple,
                               std::uint32_t own) noexcept {
  const std::uint32_t slots = own >> kFirewallSlotShift;
  if (slots == 0) return;
  const auto counts = ConnectionCounts::laid_out(state);
  if (!counts) return;
  for (std::uint32_t left = slots; left != 0; left &= left - 1) {
    counts->remove(static_cast<std::uint8_t>(std::countr_zero(left)), tuple);
  }
}

}  // namespace millrace
