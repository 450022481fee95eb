// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/hop_numbers.hpp"

#include <algorithm>
#include <string_view>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr auto kGroup = static_cast<std::uint8_t>(RouteHopKind::kGroup);

RouteHop fixed(RouteReason why) {
  RouteHop hop{};
  hop.reason = static_cast<std::uint8_t>(why);
  return hop;
}

std::string key_of(const RouteHop& hop) {
  return {reinterpret_cast<const char*>(&hop), sizeof hop};
}

/// Longer or shorter than that of a single next hop.
std::string key_of(std::span<const RouteMember> members) {
  std::string key = "group";
  key.append(reinterpret_cast<const char*>(members.data()), members.size() * sizeof(RouteMember));
  return key;
}

std::string found(std::uint32_t number, std::uint32_t& hop) {
  hop = number;
  if (hop != HopNumbers::kNone) return {};
  return "more than " + std::to_string(kHopCountMax) + " different next hops";
}

}  // namespace

HopNumbers::HopNumbers(std::span<const PlanPort> ports, bool answers)
    : any_port_(ports.empty()), answers_(answers) {
  if (ports.size() > kPortCountMax) throw Error("more ports than a topology can have");
  for (const PlanPort& port : ports) {
    if (port.name.size() >= kPortNameBytes) throw Error("port name too long: " + port.name);
    ports_.push_back(port.name);
  }
  hops_ = {fixed(RouteReason::kNoRoute),     // kHopDefault, until 0.0.0.0/0 is found
           fixed(RouteReason::kOwnAddress),  // kHopOwn
           fixed(RouteReason::kNotUnicast),  // kHopBroadcast
           fixed(RouteReason::kNoRoute),     // kHopNowhere
           fixed(RouteReason::kNoRoute)};    // kHopDefaultIpv6
}

HopNumbers::HopNumbers(std::span<const PlanPort> ports, bool answers,
                       std::span<const RouteHop> hops, std::span<const RouteMember> members)
    : HopNumbers(ports, answers) {
  for (const RouteHop& hop : hops.subspan(std::min<std::size_t>(hops.size(), kHopFirst))) {
    const bool is_group = hop.kind == kGroup;
    const std::string key =
        is_group ? key_of(members.subspan(hop.first_member, hop.member_count)) : key_of(hop);
    numbers_.try_emplace(key, static_cast<std::uint32_t>(hops_.size()));
    hops_.push_back(hop);
  }
  members_.assign(members.begin(), members.end());
}

std::string HopNumbers::find(const RouteLine& line, std::uint32_t& number) {
  if (line.refusal != RouteRefusal::kNone) {
    return found(
        number_of(fixed(line.refusal == RouteRefusal::kProhibited ? RouteReason::kProhibited
                                                                  : RouteReason::kUnreachable)),
        number);
  }
  if (line.hops.empty()) {
    number = kHopNowhere;
    return {};
  }
  wanted_.clear();
  for (const RouteLineHop& given : line.hops) {
    std::string reason = add_wanted(given, line.mtu);
    if (!reason.empty()) return reason;
  }
  return found(wanted_.size() == 1 ? number_of(wanted_.front()) : group_of(line.hops), number);
}

std::string HopNumbers::add_wanted(const RouteLineHop& given, std::uint16_t mtu) {
  const auto at = std::ranges::find(ports_, given.port);
  const auto port = static_cast<std::size_t>(at - ports_.begin());
  if (at == ports_.end()) {
    if (!any_port_) return "no port '" + std::string(given.port) + "' in the topology";
    if (port == kPortCountMax || given.port.size() >= kPortNameBytes) {
      return "port '" + std::string(given.port) + "' is one too many, or its name too long";
    }
    ports_.emplace_back(given.port);
  }
  if (given.kind != RouteHopKind::kStatic && !answers_) {
    return "its next hop has to be asked for, which a route with 'answers: false' does not do; "
           "expected its MAC address";
  }
  RouteHop wanted{};
  wanted.port = static_cast<std::uint8_t>(port);
  wanted.kind = static_cast<std::uint8_t>(given.kind);
  wanted.mtu = mtu;
  std::ranges::copy(given.mac, wanted.mac);
  std::ranges::copy(given.gateway, wanted.gateway);
  wanted_.push_back(wanted);
  return {};
}

std::uint32_t HopNumbers::number_of(const RouteHop& hop) { return number_of(hop, key_of(hop)); }

/// `key`: what tells it from the others.
std::uint32_t HopNumbers::number_of(const RouteHop& hop, const std::string& key) {
  const auto known = numbers_.find(key);
  if (known != numbers_.end()) return known->second;
  if (numbers_.size() == kHopCountMax) return kNone;
  numbers_.emplace(key, static_cast<std::uint32_t>(hops_.size()));
  hops_.push_back(hop);
  return static_cast<std::uint32_t>(hops_.size() - 1);
}

/// Of the wanted next hops: each gets its part of all hashes by its weight.
std::uint32_t HopNumbers::group_of(std::span<const RouteLineHop> weights) {
  std::vector<RouteMember> members;
  std::uint64_t sum = 0, so_far = 0;
  for (const RouteLineHop& given : weights) sum += given.weight;
  MILLRACE_CHECK(sum != 0);
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    so_far += weights[i].weight;
    const auto last = static_cast<std::uint32_t>(((so_far << 32) + sum - 1) / sum - 1);
    members.push_back({last, number_of(wanted_[i])});
    if (members.back().hop == kNone) return kNone;
  }
  RouteHop group{};
  group.kind = kGroup;
  group.member_count = static_cast<std::uint8_t>(members.size());
  group.first_member = static_cast<std::uint32_t>(members_.size());
  const std::size_t before = hops_.size();
  const std::uint32_t number = number_of(group, key_of(members));
  if (hops_.size() != before) members_.insert(members_.end(), members.begin(), members.end());
  return number;
}

}  // namespace millrace
