// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_bits_build.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "services/functions/acl/acl_vectors.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// The rules are too many for this table; caught in this file.
struct TooLarge {
  std::string why;
};

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

/// The rules of one family, by their numbers among all.
struct Family {
  std::span<const AclRule> rules;
  std::vector<std::uint32_t> numbers;
  const AclRule& operator[](std::size_t i) const { return rules[numbers[i]]; }
  std::size_t size() const { return numbers.size(); }
};

void add_to_pool(AclVectorPool& pool, const AclRuleSet& rules, std::uint32_t& vector) {
  vector = pool.add(rules.words());
  if (pool.full()) throw TooLarge{"the bit vectors would take more than their limit"};
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
AclIntervalArrays<Address> addresses_of(const Family& family, bool source, AclVectorPool& pool) {
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

/// A field of few values: classes of them, and the rules of each class.
struct Field {
  AclSteps steps;
  std::vector<AclRuleSet> rules;
};

/// `matches(rule, value)` for values [0, value_count).
template <typename Matches>
Field field_of(const Family& family, std::uint32_t value_count, const Matches& matches) {
  Field field;
  AclVectorPool pool(family.size(), UINT64_MAX);
  for (std::uint32_t value = 0; value < value_count; ++value) {
    AclRuleSet matching(family.size());
    for (std::uint32_t i = 0; i < family.size(); ++i) {
      if (matches(family[i], value)) matching.flip(i);
    }
    const std::uint32_t found = pool.add(matching.words());
    if (found == field.rules.size()) field.rules.push_back(std::move(matching));
    field.steps.classes.push_back(static_cast<std::uint16_t>(found));
  }
  field.steps.count = static_cast<std::uint32_t>(field.rules.size());
  return field;
}

/// Ports by their changes, as addresses; the last step stands for a packet without known ports.
Field ports_of(const Family& family, bool source) {
  std::vector<std::vector<std::uint32_t>> changes(kAclPortSteps + 1);
  for (std::uint32_t i = 0; i < family.size(); ++i) {
    const AclRule& rule = family[i];
    const std::uint32_t low = source ? rule.source_port_low : rule.destination_port_low;
    const std::uint32_t high = source ? rule.source_port_high : rule.destination_port_high;
    const bool any = low == 0 && high == UINT16_MAX && rule.flags_mask == 0;
    changes[low].push_back(i);
    changes[any ? kAclPortSteps : high + 1].push_back(i);
  }
  Field field;
  AclVectorPool pool(family.size(), UINT64_MAX);
  AclRuleSet matching(family.size());
  std::uint32_t found = 0;
  for (std::uint32_t port = 0; port < kAclPortSteps; ++port) {
    for (const std::uint32_t rule : changes[port]) matching.flip(rule);
    if (port == 0 || !changes[port].empty()) found = pool.add(matching.words());
    if (found > UINT16_MAX) throw TooLarge{"there are more than 65,536 classes of ports"};
    if (found == field.rules.size()) field.rules.push_back(matching);
    field.steps.classes.push_back(static_cast<std::uint16_t>(found));
  }
  field.steps.count = static_cast<std::uint32_t>(field.rules.size());
  return field;
}

/// A vector for each combination of the four classes.
std::vector<std::uint32_t> cross(const Field& from, const Field& to, const Field& protocols,
                                 const Field& flags, AclVectorPool& pool) {
  const std::uint64_t count =
      std::uint64_t{from.steps.count} * to.steps.count * protocols.steps.count * flags.steps.count;
  if (count > UINT32_MAX || count * pool.word_count() > kAclCrossWordsMax) {
    throw TooLarge{"ports, protocols and flags make " + std::to_string(count) +
                   " classes, too many for so many rules"};
  }
  std::vector<std::uint32_t> out;
  out.reserve(count);
  for (const AclRuleSet& one : from.rules) {
    for (const AclRuleSet& two : to.rules) {
      const AclRuleSet ports = one & two;
      for (const AclRuleSet& three : protocols.rules) {
        const AclRuleSet without_flags = ports & three;
        for (const AclRuleSet& four : flags.rules) {
          add_to_pool(pool, without_flags & four, out.emplace_back());
        }
      }
    }
  }
  return out;
}

template <typename Address>
AclBitsArrays<Address> build_family(std::span<const AclRule> rules, std::uint8_t bit,
                                    std::uint64_t bytes_max) {
  Family family{.rules = rules, .numbers = {}};
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
  Field from = ports_of(family, true), to = ports_of(family, false);
  Field protocols = field_of(family, kAclByteSteps, protocol);
  Field flags = field_of(family, kAclByteSteps, flag);
  out.transport = cross(from, to, protocols, flags, pool);
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
  } catch (const TooLarge& too_large) {
    why = too_large.why;
    return std::nullopt;
  }
}

}  // namespace millrace
