// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_bits_build.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "services/functions/acl/acl_fields.hpp"

namespace millrace {
namespace {

/// A rule's place changes at an address.
template <typename Address>
struct Change {
  Address at;
  std::uint32_t rule;
};

template <typename Address>
bool below(Address one, Address other) {
  return !(other <= one);
}

void read_address(const std::uint8_t* bytes, std::uint32_t& address) {
  std::uint32_t words[1];
  std::memcpy(words, bytes, sizeof words);
  acl_address(words, address);
}
void read_address(const std::uint8_t* bytes, Address128& address) {
  std::uint32_t words[4];
  std::memcpy(words, bytes, sizeof words);
  acl_address(words, address);
}

/// The first address behind the prefix; false when it ends with the last of all.
bool end_of(std::uint32_t start, unsigned length, std::uint32_t& end) {
  end = length == 0 ? 0 : start + (1u << (32 - length));
  return end != 0;
}
bool end_of(Address128 start, unsigned length, Address128& end) {
  if (length == 0) return false;
  end = start;
  if (length > 64) {
    end.low += std::uint64_t{1} << (128 - length);
    if (end.low == 0) ++end.high;
  } else {
    end.high += std::uint64_t{1} << (64 - length);
  }
  return end.high != 0 || end.low != 0;
}

std::uint32_t upper_part(std::uint32_t upper, std::uint32_t*) { return upper << 16; }
Address128 upper_part(std::uint32_t upper, Address128*) { return {std::uint64_t{upper} << 48, 0}; }

void add_to_pool(AclVectorPool& pool, const AclRuleSet& rules, std::uint32_t& vector) {
  vector = pool.add(rules.words());
  if (pool.full()) throw AclTooLarge{"the bit vectors would take more than their limit"};
}

/// Walks over all places where the set of matching rules changes.
template <typename Address>
AclIntervalArrays<Address> intervals_of(std::vector<Change<Address>> changes, std::size_t count,
                                        AclVectorPool& pool) {
  std::sort(changes.begin(), changes.end(),
            [](const auto& one, const auto& other) { return below(one.at, other.at); });
  AclIntervalArrays<Address> out;
  AclRuleSet matching(count);
  std::size_t next = 0;
  for (Address at{};; at = changes[next].at) {
    for (; next < changes.size() && changes[next].at == at; ++next) {
      matching.flip(changes[next].rule);
    }
    std::uint32_t vector = 0;
    add_to_pool(pool, matching, vector);
    if (out.vectors.empty() || out.vectors.back() != vector) {
      out.starts.push_back(at);
      out.vectors.push_back(vector);
    }
    if (next == changes.size()) break;
  }
  out.first.resize(kAclFirstLevel + 1);
  std::uint32_t interval = 0;
  for (std::uint32_t upper = 0; upper < kAclFirstLevel; ++upper) {
    const Address start = upper_part(upper, static_cast<Address*>(nullptr));
    while (interval + 1 < out.starts.size() && out.starts[interval + 1] <= start) ++interval;
    out.first[upper] = interval;
  }
  out.first[kAclFirstLevel] = static_cast<std::uint32_t>(out.starts.size() - 1);
  return out;
}

template <typename Address>
AclIntervalArrays<Address> addresses_of(const AclFamily& family, bool source, AclVectorPool& pool) {
  std::vector<Change<Address>> changes;
  for (std::uint32_t i = 0; i < family.size(); ++i) {
    const AclRule& rule = family[i];
    Address start{}, end{};
    read_address(source ? rule.source : rule.destination, start);
    changes.push_back({start, i});
    if (end_of(start, source ? rule.source_length : rule.destination_length, end)) {
      changes.push_back({end, i});
    }
  }
  return intervals_of(std::move(changes), family.size(), pool);
}

/// A vector for each combination of the classes; without conditions `conditions` is empty.
std::vector<std::uint32_t> cross(const AclField& from, const AclField& to,
                                 const AclField& protocols, const AclField& flags,
                                 std::span<const AclRuleSet> conditions, AclVectorPool& pool) {
  acl_check_cross({&from, &to, &protocols, &flags}, std::max<std::size_t>(conditions.size(), 1),
                  pool.word_count(), "ports, protocols and flags");
  std::vector<std::uint32_t> out;
  const auto add_all = [&](const AclRuleSet& rules) {
    if (conditions.empty()) return add_to_pool(pool, rules, out.emplace_back());
    for (const AclRuleSet& last : conditions) add_to_pool(pool, rules & last, out.emplace_back());
  };
  for (const AclRuleSet& one : from.rules) {
    for (const AclRuleSet& two : to.rules) {
      const AclRuleSet ports = one & two;
      for (const AclRuleSet& three : protocols.rules) {
        const AclRuleSet without_flags = ports & three;
        for (const AclRuleSet& four : flags.rules) add_all(without_flags & four);
      }
    }
  }
  return out;
}

/// Ports by their changes, as addresses; the last step stands for a packet without known ports.
AclField ports_of(const AclFamily& family, bool source) {
  return acl_ranges_of(family, kAclPortSteps, [source](const AclRule& rule) {
    const std::uint32_t low = source ? rule.source_port_low : rule.destination_port_low;
    const std::uint32_t high = source ? rule.source_port_high : rule.destination_port_high;
    const bool any = low == 0 && high == UINT16_MAX && rule.flags_mask == 0;
    return AclStepRange{low, any ? kAclPortSteps : high + 1};
  });
}

template <typename Address>
AclBitsArrays<Address> build_family(std::span<const AclRule> rules, std::uint8_t bit,
                                    std::uint64_t bytes_max) {
  AclFamily family{.rules = rules, .numbers = {}};
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    if ((rules[i].families & bit) != 0) family.numbers.push_back(i);
  }
  AclBitsArrays<Address> out;
  if (family.size() == 0) return out;
  AclVectorPool pool(family.size(), bytes_max);
  out.source = addresses_of<Address>(family, true, pool);
  out.destination = addresses_of<Address>(family, false, pool);
  const auto protocol = [](const AclRule& rule, std::uint32_t value) {
    return ((value ^ rule.protocol) & rule.protocol_mask) == 0;
  };
  const auto flag = [](const AclRule& rule, std::uint32_t value) {
    return ((value ^ rule.flags) & rule.flags_mask) == 0;
  };
  AclField from = ports_of(family, true), to = ports_of(family, false);
  AclField protocols = acl_field_of(family, kAclByteSteps, protocol);
  AclField flags = acl_field_of(family, kAclByteSteps, flag);
  AclConditionArrays conditions = acl_conditions_of(family);
  out.transport = cross(from, to, protocols, flags, conditions.rules, pool);
  out.conditions = std::move(conditions.cells);
  out.condition_count = static_cast<std::uint32_t>(conditions.rules.size());
  out.source_ports = std::move(from.steps);
  out.destination_ports = std::move(to.steps);
  out.protocols = std::move(protocols.steps);
  out.flags = std::move(flags.steps);
  out.block_count = pool.word_count() / kAclBlockWords;
  out.vector_count = pool.size();
  out.summaries = pool.summaries();
  out.vectors = pool.take();
  out.rules = std::move(family.numbers);
  return out;
}

template <typename Address>
std::uint64_t bytes_of(const AclBitsArrays<Address>& arrays) {
  return (arrays.summaries.size() + arrays.vectors.size() + arrays.transport.size()) * 4;
}

}  // namespace

template <typename Address>
AclBits<Address> AclBitsArrays<Address>::view() const {
  const auto view_of = [](const AclIntervalArrays<Address>& of) {
    return AclIntervals<Address>{of.first.data(), of.starts.data(), of.vectors.data()};
  };
  AclBits<Address> bits;
  bits.rule_count = static_cast<std::uint32_t>(rules.size());
  bits.block_count = block_count;
  bits.destination_port_count = destination_ports.count;
  bits.protocol_count = protocols.count;
  bits.flags_count = flags.count;
  bits.rules = rules.data();
  bits.source = view_of(source);
  bits.destination = view_of(destination);
  bits.source_ports = source_ports.classes.data();
  bits.destination_ports = destination_ports.classes.data();
  bits.protocols = protocols.classes.data();
  bits.flags = flags.classes.data();
  bits.transport = transport.data();
  bits.summaries = summaries.data();
  bits.vectors = vectors.data();
  bits.condition_count = condition_count;
  if (!conditions.empty()) bits.conditions = conditions.data();
  return bits;
}
template struct AclBitsArrays<std::uint32_t>;
template struct AclBitsArrays<Address128>;

std::optional<AclBitsSet> build_acl_bits(std::span<const AclRule> rules, std::string& why,
                                         std::uint64_t bytes_max) {
  try {
    AclBitsSet set;
    set.ipv4 = build_family<std::uint32_t>(rules, kAclIpv4, bytes_max);
    set.ipv6 = build_family<Address128>(rules, kAclIpv6,
                                        bytes_max - std::min(bytes_max, bytes_of(set.ipv4)));
    return set;
  } catch (const AclTooLarge& too_large) {
    why = too_large.why;
    return std::nullopt;
  }
}

}  // namespace millrace
