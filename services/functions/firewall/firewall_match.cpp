// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

#include "services/functions/acl/acl_conditions.hpp"
#include "services/functions/acl/acl_words.hpp"
#include "services/functions/firewall/firewall_rules.hpp"
#include "shared/base/fnv.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

constexpr std::array<std::string_view, 5> kStates = {"untracked", "invalid", "new", "established",
                                                     "related"};
static_assert(kPortCountMax <= 16, "a rule has a bit for each");

/// Calls `use` with each of the words between commas.
template <typename Use>
void each_word(std::string_view words, Use&& use) {
  for (std::string_view left = words;;) {
    const std::size_t comma = left.find(',');
    use(left.substr(0, comma));
    if (comma == left.npos) return;
    left.remove_prefix(comma + 1);
  }
}

/// Value and mask of both; false: they contradict each other.
template <typename Word>
bool join_masked(Word& value, Word& mask, Word other, Word other_mask) {
  if (((value ^ other) & mask & other_mask) != 0) return false;
  value = static_cast<Word>(value | other);
  mask = static_cast<Word>(mask | other_mask);
  return true;
}

bool join_range(std::uint16_t& low, std::uint16_t& high, std::uint16_t other_low,
                std::uint16_t other_high) {
  low = std::max(low, other_low);
  high = std::min(high, other_high);
  return low <= high;
}

/// VLANs: no tag is a range of its own, and any a range that has it.
bool join_vlans(AclRule& rule, const AclRule& other) {
  const auto any = [](const AclRule& one) {
    return one.vlan_low == 0 && one.vlan_high == UINT16_MAX;
  };
  if (any(other)) return true;
  if (any(rule)) {
    rule.vlan_low = other.vlan_low;
    rule.vlan_high = other.vlan_high;
    return true;
  }
  return join_range(rule.vlan_low, rule.vlan_high, other.vlan_low, other.vlan_high);
}

/// The longer prefix, when it lies in the other.
bool join_prefix(std::uint8_t* bytes, std::uint8_t& length, const std::uint8_t* other,
                 std::uint8_t other_length) {
  const unsigned common = std::min(length, other_length);
  for (unsigned bit = 0; bit < common; ++bit) {
    if (((bytes[bit / 8] ^ other[bit / 8]) >> (7 - bit % 8) & 1) != 0) return false;
  }
  if (other_length <= length) return true;
  std::memcpy(bytes, other, 16);
  length = other_length;
  return true;
}

/// States or ports that no packet has: each of them is refused.
bool leaves_nothing(const AclRule& rule) {
  const std::uint32_t mask = rule.marks_mask & ~rule.marks;
  return (mask & kAclStateBits) == kAclStateBits || (mask & kAclInputBits) == kAclInputBits ||
         (mask & kAclFragmentBits) == kAclFragmentBits;
}

}  // namespace

AclRule firewall_any() {
  AclRule rule{};
  rule.source_port_high = rule.destination_port_high = UINT16_MAX;
  rule.families = kAclIpv4 | kAclIpv6;
  return rule;
}

bool firewall_is_any(const AclRule& rule) {
  return rule.source_length == 0 && rule.destination_length == 0 && rule.protocol_mask == 0 &&
         rule.families == (kAclIpv4 | kAclIpv6) && !acl_asks_for_ports(rule) &&
         !acl_has_conditions(rule) && !firewall_has_limits(rule);
}

std::optional<AclRule> firewall_both(const AclRule& outer, const AclRule& inner) {
  AclRule rule = inner;
  rule.families &= outer.families;
  const bool any =
      rule.families != 0 &&
      join_prefix(rule.source, rule.source_length, outer.source, outer.source_length) &&
      join_prefix(rule.destination, rule.destination_length, outer.destination,
                  outer.destination_length) &&
      join_range(rule.source_port_low, rule.source_port_high, outer.source_port_low,
                 outer.source_port_high) &&
      join_range(rule.destination_port_low, rule.destination_port_high, outer.destination_port_low,
                 outer.destination_port_high) &&
      join_range(rule.icmp_low, rule.icmp_high, outer.icmp_low, outer.icmp_high) &&
      join_vlans(rule, outer) &&
      join_masked(rule.protocol, rule.protocol_mask, outer.protocol, outer.protocol_mask) &&
      join_masked(rule.flags, rule.flags_mask, outer.flags, outer.flags_mask) &&
      join_masked(rule.marks, rule.marks_mask, outer.marks, outer.marks_mask);
  if (!any || leaves_nothing(rule)) return std::nullopt;
  return rule;
}

void firewall_set_states(std::string_view words, AclRule& rule) {
  std::uint32_t allowed = 0;
  each_word(words, [&](std::string_view word) {
    const auto* const found = std::ranges::find(kStates, word);
    if (found == kStates.end()) {
      throw AclRefusal{quoted_word(word) +
                       " is no state; there are new, established, related, invalid, untracked"};
    }
    allowed |= std::uint32_t{1} << (kAclStateShift + (found - kStates.begin()));
  });
  acl_allow_marks(kAclStateBits, allowed, rule);
}

void firewall_set_inputs(std::string_view words, std::span<const FirewallPort> ports,
                         AclRule& rule) {
  std::uint32_t allowed = 0;
  each_word(words, [&](std::string_view word) {
    std::string known;
    bool found = false;
    const bool open = word.ends_with('+') || word.ends_with('*');
    const std::string_view front = open ? word.substr(0, word.size() - 1) : word;
    const auto is = [&](const std::string& name) {
      return !name.empty() && (open ? name.starts_with(front) : name == word);
    };
    for (std::size_t i = 0; i < ports.size(); ++i) {
      known += (known.empty() ? "" : ", ") + ports[i].name;
      if (!is(ports[i].name) && !is(ports[i].interface)) continue;
      allowed |= std::uint32_t{1} << (kAclInputShift + i);
      found = true;
    }
    if (!found) throw AclRefusal{quoted_word(word) + " is no port; there are " + known};
  });
  acl_allow_marks(kAclInputBits, allowed, rule);
}

void firewall_set_limit(std::uint64_t count, std::string_view unit, std::uint32_t burst,
                        std::uint8_t bits, AclRule& rule) {
  constexpr std::uint32_t kBurstMax = 1'000'000;
  constexpr std::uint64_t kIntervalMinNs = 1000;
  std::uint64_t unit_ns = 0;
  for (const auto& [name, seconds] : {std::pair<std::string_view, std::uint64_t>{"second", 1},
                                      {"minute", 60},
                                      {"hour", 3600},
                                      {"day", 86400}}) {
    if (unit == name) unit_ns = seconds * 1'000'000'000;
  }
  if (unit_ns == 0 || count == 0 || unit_ns / count < kIntervalMinNs) {
    throw AclRefusal{"a limit is 1 to 1000000 a second, or as many a minute, hour or day"};
  }
  if (burst == 0 || burst > kBurstMax) {
    throw AclRefusal{"a burst is 1 to " + std::to_string(kBurstMax)};
  }
  // Rounded up: no more matches than the rule says.
  const std::uint64_t interval_ns = (unit_ns + count - 1) / count;
  const std::uint64_t interval_us = (interval_ns + 999) / 1000;
  if (interval_us > UINT32_MAX) throw AclRefusal{"a limit below one in 71 minutes"};
  const bool fine = interval_ns <= UINT32_MAX;
  rule.limit_interval = static_cast<std::uint32_t>(fine ? interval_ns : interval_us);
  if (fine) rule.limits |= kRuleNanoseconds;
  rule.limit_burst = burst;
  rule.limits |= bits;
}

void firewall_set_connections(std::uint32_t count, std::uint8_t bits, AclRule& rule) {
  rule.connections = count;
  rule.limits |= kRuleConnections | bits;
}

void firewall_set_proxy_mss(std::string_view word, AclRule& rule) {
  constexpr std::uint32_t kMssMin = 88;  // as Linux takes
  const std::uint32_t mss = acl_number(word, UINT16_MAX, "mss");
  if (mss < kMssMin) throw AclRefusal{"an mss is 88 to 65535"};
  rule.proxy_mss = static_cast<std::uint16_t>(mss);
}

void firewall_set_proxy_scale(std::string_view word, AclRule& rule) {
  constexpr std::uint32_t kShiftMax = 14;  // RFC 7323 2.3
  const std::uint32_t shift = acl_number(word, kShiftMax, "wscale");
  rule.proxy = static_cast<std::uint8_t>(rule.proxy | kRuleProxyScale | shift);
}

void firewall_check_synproxy(const AclRule& rule) {
  if (rule.protocol != ip_protocol::kTcp || rule.protocol_mask != UINT8_MAX) {
    throw AclRefusal{"synproxy is for tcp alone"};
  }
  if (rule.flags_mask != 0) {
    throw AclRefusal{"synproxy takes all of a connection: flags cannot be asked for"};
  }
  if ((rule.limits & kRuleConnections) != 0) {
    throw AclRefusal{"synproxy cannot count connections; a rule in front of it can"};
  }
  if ((rule.proxy & (kRuleProxyScale | kRuleProxySack)) != 0 &&
      (rule.proxy & kRuleProxyTimestamp) == 0) {
    throw AclRefusal{"wscale and sack-perm need timestamp, which carries them"};
  }
}

std::uint32_t firewall_group(std::string_view name) {
  std::uint64_t hash = kFnvBasis;
  for (const char byte : name) hash = fnv1a_add(hash, static_cast<std::uint8_t>(byte));
  return std::max(static_cast<std::uint32_t>(hash >> 32 ^ hash), 1u);
}

std::uint32_t firewall_group_of(std::span<const AclRule> matches, std::string_view chain) {
  std::string name(chain);
  for (AclRule rule : matches) {
    rule.action = rule.log = 0;
    rule.class_mask = rule.name_offset = rule.name_bytes = 0;
    rule.limit_interval = rule.limit_burst = rule.limit_group = 0;
    rule.connections = rule.connection_group = 0;
    rule.limits &= kRuleConnectionsPerSource;
    rule.proxy = rule.rate_bits[0] = rule.rate_bits[1] = 0;
    rule.proxy_mss = 0;
    rule.reject = 0;
    static_assert(std::has_unique_object_representations_v<AclRule>);
    name.append(reinterpret_cast<const char*>(&rule), sizeof rule);
  }
  const bool per_source = !matches.empty() && (matches[0].limits & kRuleConnectionsPerSource) != 0;
  return ((firewall_group(name) | 2) & ~1u) | (per_source ? 1 : 0);
}

}  // namespace millrace
