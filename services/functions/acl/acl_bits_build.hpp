// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "services/functions/acl/acl_bits.hpp"

/// Builder of the bit vectors.

namespace millrace {

inline constexpr std::uint64_t kAclBitsBytesMax = std::uint64_t{512} << 20;  ///< both families
/// Words that the cross products of ports, protocol, flags and conditions may take to make: about a
/// second.
inline constexpr std::uint64_t kAclCrossWordsMax = std::uint64_t{1} << 30;

/// Intervals, as AclIntervals views them.
template <typename Address>
struct AclIntervalArrays {
  std::vector<std::uint32_t> first;
  std::vector<Address> starts;
  std::vector<std::uint32_t> vectors;
};

/// What a field of few values is: a class for each value.
struct AclSteps {
  std::vector<std::uint16_t> classes;
  std::uint32_t count = 0;  ///< of classes
};

/// Tables of one family, as AclBits views them.
template <typename Address>
struct AclBitsArrays {
  std::uint32_t block_count = 0;
  std::uint32_t vector_count = 0;
  std::vector<std::uint32_t> rules;
  AclIntervalArrays<Address> source, destination;
  AclSteps source_ports, destination_ports, protocols, flags;
  std::vector<std::uint32_t> transport;
  std::vector<std::uint32_t> summaries, vectors;
  std::vector<std::uint16_t> conditions;  ///< cells; empty: no rule has conditions
  std::uint32_t condition_count = 0;

  AclBits<Address> view() const;
};

struct AclBitsSet {
  AclBitsArrays<std::uint32_t> ipv4;
  AclBitsArrays<Address128> ipv6;
};

/// Tables of `rules` in their order. Without a value when they would take more than `bytes_max`, or
/// the cross product more than kAclCrossWordsMax: then `why` says so. Takes time and memory in
/// proportion to them. Builder's thread.
std::optional<AclBitsSet> build_acl_bits(std::span<const AclRule> rules, std::string& why,
                                         std::uint64_t bytes_max = kAclBitsBytesMax);

}  // namespace millrace
