// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/firewall_negation.hpp"

#include <string>
#include <utility>

#include "services/functions/acl/acl_words.hpp"
#include "services/functions/firewall/firewall_chains.hpp"

namespace millrace {
namespace {

using Rules = std::vector<AclRule>;

/// For each bit of the prefix: equal up to there, the other way there.
void add_other_prefixes(const AclRule& rule, std::uint8_t (AclRule::*address)[16],
                        std::uint8_t AclRule::*length, Rules& out) {
  for (unsigned bit = 0; bit < rule.*length; ++bit) {
    AclRule& one = out.emplace_back(rule);
    std::uint8_t* const bytes = one.*address;
    bytes[bit / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
    for (unsigned at = bit + 1; at < rule.*length; ++at) {
      bytes[at / 8] &= static_cast<std::uint8_t>(~(0x80 >> at % 8));
    }
    one.*length = static_cast<std::uint8_t>(bit + 1);
  }
}

void add_other_ranges(const AclRule& rule, std::uint16_t AclRule::*low,
                      std::uint16_t AclRule::*high, Rules& out) {
  if (rule.*low != 0) {
    AclRule& one = out.emplace_back(rule);
    one.*high = static_cast<std::uint16_t>(rule.*low - 1);
    one.*low = 0;
  }
  if (rule.*high != UINT16_MAX) {
    AclRule& one = out.emplace_back(rule);
    one.*low = static_cast<std::uint16_t>(rule.*high + 1);
    one.*high = UINT16_MAX;
  }
}

/// The same as of prefixes, of the bits that are asked for.
void add_other_bits(const AclRule& rule, std::uint8_t AclRule::*value, std::uint8_t AclRule::*mask,
                    Rules& out) {
  std::uint8_t before = 0;
  for (unsigned bit = 0x80; bit != 0; bit >>= 1) {
    if ((rule.*mask & bit) == 0) continue;
    AclRule& one = out.emplace_back(rule);
    one.*mask = static_cast<std::uint8_t>(before | bit);
    one.*value = static_cast<std::uint8_t>((rule.*value & before) | (~(rule.*value) & bit));
    before = one.*mask;
  }
}

/// A rule asks that bits of what it does not allow are 0.
void add_other_marks(const AclRule& rule, std::uint32_t group, Rules& out) {
  const std::uint32_t allowed = group & ~rule.marks_mask;
  if (allowed == group) return;
  AclRule& one = out.emplace_back(rule);
  one.marks_mask = (rule.marks_mask & ~group) | allowed;
}

Rules all_but_one(FirewallField field, const AclRule& rule) {
  Rules out;
  switch (field) {
    case FirewallField::kSource:
      add_other_prefixes(rule, &AclRule::source, &AclRule::source_length, out);
      break;
    case FirewallField::kDestination:
      add_other_prefixes(rule, &AclRule::destination, &AclRule::destination_length, out);
      break;
    case FirewallField::kSourcePort:
      add_other_ranges(rule, &AclRule::source_port_low, &AclRule::source_port_high, out);
      break;
    case FirewallField::kDestinationPort:
      add_other_ranges(rule, &AclRule::destination_port_low, &AclRule::destination_port_high, out);
      break;
    case FirewallField::kProtocol:
      add_other_bits(rule, &AclRule::protocol, &AclRule::protocol_mask, out);
      break;
    case FirewallField::kFlags:
      add_other_bits(rule, &AclRule::flags, &AclRule::flags_mask, out);
      break;
    case FirewallField::kIcmp:
      add_other_ranges(rule, &AclRule::icmp_low, &AclRule::icmp_high, out);
      break;
    case FirewallField::kState:
      add_other_marks(rule, kAclStateBits, out);
      break;
    case FirewallField::kInput:
      add_other_marks(rule, kAclInputBits, out);
      break;
  }
  return out;
}

}  // namespace

Rules firewall_all_but(FirewallField field, const Rules& members) {
  if (members.size() > kNegatedMembersMax) {
    throw AclRefusal{"a negation of more than " + std::to_string(kNegatedMembersMax) + " members"};
  }
  Rules out;
  for (std::size_t i = 0; i < members.size(); ++i) {
    Rules others = all_but_one(field, members[i]);
    if (i == 0) {
      out = std::move(others);
    } else {
      firewall_narrow(out, others);
    }
    if (out.size() > kNegationRulesMax) {
      throw AclRefusal{"a negation that makes more than " + std::to_string(kNegationRulesMax) +
                       " rules"};
    }
  }
  return out;
}

AclRule firewall_without(FirewallField field, const AclRule& from) {
  AclRule rule = from;
  const AclRule any = firewall_any();
  switch (field) {
    case FirewallField::kSource:
      rule.source_length = 0;
      break;
    case FirewallField::kDestination:
      rule.destination_length = 0;
      break;
    case FirewallField::kSourcePort:
      rule.source_port_low = any.source_port_low;
      rule.source_port_high = any.source_port_high;
      break;
    case FirewallField::kDestinationPort:
      rule.destination_port_low = any.destination_port_low;
      rule.destination_port_high = any.destination_port_high;
      break;
    case FirewallField::kProtocol:
      rule.protocol = rule.protocol_mask = 0;
      break;
    case FirewallField::kFlags:
      rule.flags = rule.flags_mask = 0;
      break;
    case FirewallField::kIcmp:
      rule.icmp_low = 0;
      rule.icmp_high = UINT16_MAX;
      break;
    case FirewallField::kState:
      rule.marks_mask &= ~kAclStateBits;
      break;
    case FirewallField::kInput:
      rule.marks_mask &= ~kAclInputBits;
      break;
  }
  return rule;
}

Rules firewall_but(const AclRule& rule, std::span<const FirewallField> fields) {
  Rules out;
  for (const FirewallField field : fields) {
    AclRule one = rule;
    for (const FirewallField other : fields) {
      if (other != field) one = firewall_without(other, one);
    }
    Rules others = firewall_all_but(field, {one});
    if (field == fields.front()) {
      out = std::move(others);
    } else {
      firewall_narrow(out, others);
    }
  }
  if (fields.empty()) out = {rule};
  if (out.empty()) throw AclRefusal{"all but any: nothing could match it"};
  return out;
}

}  // namespace millrace
