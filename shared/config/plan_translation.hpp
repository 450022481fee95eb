// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace millrace {

/// An outside address that always stands for an inside one. IPv4, in host order.
struct PlanFixedAddress {
  std::uint32_t outside = 0, inside = 0;
  std::uint32_t count = 1;    ///< addresses, from these on
  std::uint8_t protocol = 0;  ///< with `port`: of these packets alone; 0: of all
  std::uint16_t port = 0;     ///< outside
  friend bool operator==(const PlanFixedAddress&, const PlanFixedAddress&) = default;
};

/// How an ingress finds the inside address of packets that a function of the path translates.
struct PlanTranslation {
  struct Range {
    std::uint32_t first = 0, last = 0;  ///< IPv4, in host order
    friend bool operator==(const Range&, const Range&) = default;
  };
  std::vector<std::uint32_t> inside;  ///< ports: what they receive has the inside address as source
  std::vector<Range> pool;  ///< of these, port / block modulo the path's lanes is the lane
  std::uint32_t block = 64;
  std::vector<PlanFixedAddress> fixed;  ///< looked at first
  friend bool operator==(const PlanTranslation&, const PlanTranslation&) = default;
};

}  // namespace millrace
