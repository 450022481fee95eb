// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/ids/rules/signature.hpp"
#include "services/functions/stream/overlap_policy.hpp"

namespace millrace {

/// Setting `overlaps`: which version of overlapping bytes hosts keep, by their addresses.
class OverlapPolicies {
 public:
  static constexpr std::size_t kValuesMax = 256;

  /// "SYSTEM", of all hosts that no other one names, or "PREFIX=SYSTEM". Throws Error that names
  /// the key.
  void add(const std::string& value);
  bool is_empty() const noexcept { return prefixes_.empty(); }
  /// Of the receiver of a packet of `direction`; `tuple`: of direction 0. The narrowest prefix
  /// counts.
  OverlapPolicy of(const FlowTuple& tuple, std::uint8_t direction) const noexcept;

 private:
  struct Prefix {
    AddressRange range;
    OverlapPolicy policy;
  };
  void put(const Prefix& prefix, const std::string& value);

  std::size_t values_ = 0;
  std::vector<Prefix> prefixes_;  ///< one that is within another stands in front of it
};

}  // namespace millrace
