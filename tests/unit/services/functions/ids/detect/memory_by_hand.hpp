// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "services/functions/ids/detect/flow_memory.hpp"

namespace millrace::by_hand {

/// Bits of one flow, and counts that pass from the `lets_pass`-th on.
class Memory : public RuleMemory {
 public:
  void set_tuple(const FlowTuple& tuple) noexcept override { ends = tuple; }
  bool flowbit(std::uint16_t bit) const noexcept override { return bits.contains(bit); }
  void set_flowbit(std::uint16_t bit, bool value) noexcept override {
    if (value) {
      bits.insert(bit);
    } else {
      bits.erase(bit);
    }
  }
  bool host_bit(const HostBit& bit) const noexcept override { return hosts.contains(bit.name); }
  void set_host_bit(const HostBit& bit, bool value) noexcept override {
    if (value) {
      hosts.insert(bit.name);
    } else {
      hosts.erase(bit.name);
    }
  }
  bool count(std::uint32_t signature, std::uint8_t use, const Threshold&) noexcept override {
    counted.emplace_back(signature, use);
    return counted.size() >= lets_pass;
  }

  FlowTuple ends{};  ///< of what was looked at last
  std::set<std::uint16_t> bits;
  std::set<std::uint64_t> hosts;  ///< names of bits of one host
  std::vector<std::pair<std::uint32_t, std::uint8_t>> counted;
  std::size_t lets_pass = 0;
};

}  // namespace millrace::by_hand
