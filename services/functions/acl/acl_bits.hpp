// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "services/functions/acl/acl_rule.hpp"

/// The second table of `acl`: bit vectors. Each field of a packet leads to a class, each class to a
/// vector with one bit a rule, in their order; the first bit that source, destination and transport
/// have in common is the rule. A GPU reads it (lanes take words side by side), a CPU can.
///
///     source address      -> elementary interval -> vector   (a table by the upper 16 bits, then
///     destination address -> elementary interval -> vector    a search among the starts)
///     ports, protocol, TCP flags -> a small class each -> cross product -> vector
///     VLAN, ICMP, DSCP, ... -> a small class each -> cross product -> one more class of these
///
/// Equal vectors are stored once. A vector has blocks of 32 words (1,024 rules, a line of a GPU's
/// cache), and a summary: one word a block, bit i set when word i of the block is not 0. IPv4 and
/// IPv6 have tables of their own, over the rules that can match there.
///
/// All here is constexpr, without exceptions, allocation or library calls: device code may call it.

namespace millrace {

inline constexpr std::uint32_t kAclBlockWords = 32;
inline constexpr std::uint32_t kAclBlockRules = kAclBlockWords * 32;
inline constexpr std::uint32_t kAclFirstLevel = 1u << 16;
inline constexpr std::uint32_t kAclPortSteps = (1u << 16) + 1;  ///< the last: no port known
inline constexpr std::uint32_t kAclByteSteps = 256;
inline constexpr std::uint32_t kAclNoBit = UINT32_MAX;

/// An IPv6 address in host byte order.
struct Address128 {
  std::uint64_t high, low;
  friend constexpr bool operator<=(Address128 one, Address128 other) {
    return one.high != other.high ? one.high < other.high : one.low <= other.low;
  }
  friend constexpr bool operator==(Address128, Address128) = default;
};
static_assert(sizeof(Address128) == 16 && offsetof(Address128, low) == 8);

constexpr std::uint32_t acl_upper_16(std::uint32_t address) { return address >> 16; }
constexpr std::uint32_t acl_upper_16(Address128 address) {
  return static_cast<std::uint32_t>(address.high >> 48);
}
/// From `words` of an AclKey.
constexpr void acl_address(const std::uint32_t* words, std::uint32_t& address) {
  address = acl_swap(words[0]);
}
constexpr void acl_address(const std::uint32_t* words, Address128& address) {
  address.high = std::uint64_t{acl_swap(words[0])} << 32 | acl_swap(words[1]);
  address.low = std::uint64_t{acl_swap(words[2])} << 32 | acl_swap(words[3]);
}
constexpr std::uint32_t acl_lowest_bit(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(word)) - 1);
#else
  return static_cast<std::uint32_t>(std::countr_zero(word));
#endif
}

/// Counts and places of one family's tables in the image; offsets are bytes from its start.
struct AclBitsHeader {
  std::uint32_t rule_count;   ///< that can match in this family; 0: nothing else is here
  std::uint32_t block_count;  ///< of a vector
  std::uint32_t source_count, destination_count;            ///< intervals
  std::uint32_t source_port_count, destination_port_count;  ///< classes
  std::uint32_t protocol_count, flags_count;                ///< likewise
  std::uint32_t vector_count;
  std::uint32_t condition_count;  ///< classes; 0: no rule has conditions
  std::uint64_t rules_at;         ///< u32 a rule: its number among all
  std::uint64_t source_first_at, source_starts_at, source_vectors_at;
  std::uint64_t destination_first_at, destination_starts_at, destination_vectors_at;
  std::uint64_t source_ports_at, destination_ports_at, protocols_at, flags_at;  ///< u16 a step
  std::uint64_t transport_at;  ///< u32 for each combination of the classes
  std::uint64_t summaries_at, vectors_at;
  std::uint64_t conditions_at, condition_cells;  ///< u16 a cell, see acl_condition_class()
};
static_assert(sizeof(AclBitsHeader) == 168 && offsetof(AclBitsHeader, rules_at) == 40 &&
              offsetof(AclBitsHeader, source_first_at) == 48 &&
              offsetof(AclBitsHeader, destination_first_at) == 72 &&
              offsetof(AclBitsHeader, source_ports_at) == 96 &&
              offsetof(AclBitsHeader, transport_at) == 128 &&
              offsetof(AclBitsHeader, vectors_at) == 144 &&
              offsetof(AclBitsHeader, condition_cells) == 160);

/// Elementary intervals of an address: in each of them the same rules match.
template <typename Address>
struct AclIntervals {
  const std::uint32_t* first =
      nullptr;                      ///< [kAclFirstLevel + 1]: interval of upper 16 bits, then 0
  const Address* starts = nullptr;  ///< ascending; the first is 0
  const std::uint32_t* vectors = nullptr;

  /// Number of the vector. (A GPU searches by several threads, acl_gpu.cuh.)
  constexpr std::uint32_t find(Address address) const {
    const std::uint32_t upper = acl_upper_16(address);
    std::uint32_t low = first[upper], high = first[upper + 1];
    while (low < high) {
      const std::uint32_t middle = low + (high - low + 1) / 2;
      if (starts[middle] <= address) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return vectors[low];
  }
};

/// Steps of the conditions, and where each has its classes among the cells. In front of them is the
/// number of classes of each, behind them the class of each combination.
enum AclCondition : std::uint8_t {
  kAclByVlan,   ///< the last step: no tag
  kAclByIcmp,   ///< the last step: none known
  kAclByDscp,   ///< with kAclNoIcmp, which rules about ICMP ask for
  kAclByState,  ///< and by what kind of fragment
  kAclByInput,  ///< the last step: not known
  kAclConditionKinds,
};
constexpr std::uint32_t acl_condition_steps(std::uint32_t kind) {
  return kind == kAclByVlan    ? 4097
         : kind == kAclByIcmp  ? 65537
         : kind == kAclByDscp  ? 128
         : kind == kAclByState ? 256
                               : 17;
}

/// Where the classes of `kind` begin; of kAclConditionKinds: those of the combinations.
constexpr std::uint32_t acl_condition_at(std::uint32_t kind) {
  std::uint32_t at = kAclConditionKinds;
  for (std::uint32_t i = 0; i < kind; ++i) at += acl_condition_steps(i);
  return at;
}

constexpr std::uint32_t acl_condition_step(std::uint32_t kind, const AclKey& key) {
  const std::uint32_t marks = acl_swap(key.marks);
  switch (kind) {
    case kAclByVlan: {
      const std::uint32_t vlan = acl_swap(key.vlan), last = acl_condition_steps(kind) - 1;
      return vlan < last ? vlan : last;
    }
    case kAclByIcmp:
      return (marks & kAclNoIcmp) != 0 ? acl_condition_steps(kind) - 1 : acl_swap(key.icmp);
    case kAclByDscp:
      return marks & (kAclDscpBits | kAclNoIcmp);
    case kAclByState:
      return (marks & (kAclFragmentBits | kAclStateBits)) >> 8;
    default: {
      const std::uint32_t inputs = marks >> kAclInputShift;
      const bool known = inputs != 0 && (inputs & (inputs - 1)) == 0;
      return known ? acl_lowest_bit(inputs) : acl_condition_steps(kind) - 1;
    }
  }
}

/// Class of the packet by its conditions.
constexpr std::uint32_t acl_condition_class(const std::uint16_t* cells, const AclKey& key) {
  std::uint32_t at = 0;
  for (std::uint32_t kind = 0; kind < kAclConditionKinds; ++kind) {
    at = at * cells[kind] + cells[acl_condition_at(kind) + acl_condition_step(kind, key)];
  }
  return cells[acl_condition_at(kAclConditionKinds) + at];
}

/// Vectors of a packet.
struct AclVectors {
  std::uint32_t source, destination, transport;
};

/// Tables of one family, borrowed. `Address`: std::uint32_t (IPv4) or Address128 (IPv6).
template <typename Address>
struct AclBits {
  std::uint32_t rule_count = 0;  ///< 0: no rule of this family, and no table
  std::uint32_t block_count = 0;
  std::uint32_t destination_port_count = 0, protocol_count = 0, flags_count = 0;
  std::uint32_t condition_count = 0;
  const std::uint32_t* rules = nullptr;
  AclIntervals<Address> source, destination;
  const std::uint16_t *source_ports = nullptr, *destination_ports = nullptr;
  const std::uint16_t *protocols = nullptr, *flags = nullptr;
  const std::uint32_t* transport = nullptr;
  const std::uint32_t* summaries = nullptr;   ///< [vector][block]
  const std::uint32_t* vectors = nullptr;     ///< [vector][block][kAclBlockWords]
  const std::uint16_t* conditions = nullptr;  ///< null: no rule has any

  /// Class of the packet by its conditions; 0 where no rule has any.
  constexpr std::uint32_t condition_of(const AclKey& key) const {
    return conditions == nullptr ? 0 : acl_condition_class(conditions, key);
  }

  constexpr std::uint32_t transport_of(const AclKey& key, std::uint32_t condition) const {
    const bool ports = key.has_ports != 0;
    const std::uint32_t from = ports ? acl_swap(key.source_port) : kAclPortSteps - 1;
    const std::uint32_t to = ports ? acl_swap(key.destination_port) : kAclPortSteps - 1;
    std::uint32_t at = source_ports[from];
    at = at * destination_port_count + destination_ports[to];
    at = at * protocol_count + protocols[key.protocol];
    at = at * flags_count + flags[key.flags];
    if (conditions != nullptr) at = at * condition_count + condition;
    return transport[at];
  }

  constexpr std::uint32_t transport_of(const AclKey& key) const {
    return transport_of(key, condition_of(key));
  }

  constexpr AclVectors vectors_of(const AclKey& key) const {
    return vectors_of(key, condition_of(key));
  }
  /// `condition`: condition_of() the key.
  constexpr AclVectors vectors_of(const AclKey& key, std::uint32_t condition) const {
    Address from{}, to{};
    acl_address(key.source, from);
    acl_address(key.destination, to);
    return {source.find(from), destination.find(to), transport_of(key, condition)};
  }

  constexpr const std::uint32_t* summary(std::uint32_t vector) const {
    return summaries + std::size_t{vector} * block_count;
  }
  constexpr const std::uint32_t* words(std::uint32_t vector) const {
    return vectors + std::size_t{vector} * block_count * kAclBlockWords;
  }

  /// The first bit from `start` on that the three have in common; kAclNoBit: none. Words that the
  /// summaries rule out are not read.
  constexpr std::uint32_t common_from(const AclVectors& of, std::uint32_t start) const {
    const std::uint32_t *one = summary(of.source), *two = summary(of.destination),
                        *three = summary(of.transport);
    for (std::uint32_t block = start / kAclBlockRules; block < block_count; ++block) {
      for (std::uint32_t maybe = one[block] & two[block] & three[block]; maybe != 0;
           maybe &= maybe - 1) {
        const std::uint32_t at = block * kAclBlockWords + acl_lowest_bit(maybe);
        std::uint32_t common =
            words(of.source)[at] & words(of.destination)[at] & words(of.transport)[at];
        if (at < start / 32) common = 0;
        if (at == start / 32) common &= UINT32_MAX << start % 32;
        if (common != 0) return at * 32 + acl_lowest_bit(common);
      }
    }
    return kAclNoBit;
  }

  /// Result word.
  constexpr std::uint32_t first_common(const AclVectors& of) const {
    const std::uint32_t bit = common_from(of, 0);
    return bit == kAclNoBit ? kAclNoRule : rules[bit] + 1;
  }

  constexpr std::uint32_t look_up(const AclKey& key) const {
    return rule_count == 0 ? kAclNoRule : first_common(vectors_of(key));
  }
};

/// Both families; a key says which.
struct AclBitsTable {
  AclBits<std::uint32_t> ipv4;
  AclBits<Address128> ipv6;

  /// True: AclKey::vlan, icmp and marks are looked at.
  constexpr bool has_conditions() const {
    return ipv4.conditions != nullptr || ipv6.conditions != nullptr;
  }

  /// `key.version`: 4 or 6.
  constexpr std::uint32_t look_up(const AclKey& key) const {
    return key.version == 4 ? ipv4.look_up(key) : ipv6.look_up(key);
  }
};

/// View of tables that lie at `image`; what `header` says is believed. For device memory too.
template <typename Address>
inline AclBits<Address> acl_bits_at(const std::byte* image, const AclBitsHeader& header) {
  const auto words = [image](std::uint64_t at) {
    return reinterpret_cast<const std::uint32_t*>(image + at);
  };
  const auto halves = [image](std::uint64_t at) {
    return reinterpret_cast<const std::uint16_t*>(image + at);
  };
  const auto starts = [image](std::uint64_t at) {
    return reinterpret_cast<const Address*>(image + at);
  };
  AclBits<Address> bits;
  bits.rule_count = header.rule_count;
  bits.block_count = header.block_count;
  bits.destination_port_count = header.destination_port_count;
  bits.protocol_count = header.protocol_count;
  bits.flags_count = header.flags_count;
  bits.rules = words(header.rules_at);
  bits.source = {words(header.source_first_at), starts(header.source_starts_at),
                 words(header.source_vectors_at)};
  bits.destination = {words(header.destination_first_at), starts(header.destination_starts_at),
                      words(header.destination_vectors_at)};
  bits.source_ports = halves(header.source_ports_at);
  bits.destination_ports = halves(header.destination_ports_at);
  bits.protocols = halves(header.protocols_at);
  bits.flags = halves(header.flags_at);
  bits.transport = words(header.transport_at);
  bits.summaries = words(header.summaries_at);
  bits.vectors = words(header.vectors_at);
  bits.condition_count = header.condition_count;
  if (header.condition_count != 0) bits.conditions = halves(header.conditions_at);
  return bits;
}

}  // namespace millrace
