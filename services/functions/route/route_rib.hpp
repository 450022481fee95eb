// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

struct rte_rib;

namespace millrace {

/// A prefix and its next hop; bits behind `length` are zero. Host byte order.
struct RibRoute {
  std::uint32_t prefix = 0;
  std::uint8_t length = 0;
  std::uint32_t hop = 0;
};

/// Owner of the routing information base: DPDK's rte_rib in this process's private EAL (private_eal
/// .hpp). Lives in the builder only; images hold what comes out of it. One thread.
class RouteRib {
 public:
  /// `prefix_count_max`: prefixes that fit. Throws Error when memory is short.
  explicit RouteRib(std::size_t prefix_count_max);

  /// False when the prefix is there already: then `first_tag` gets the tag of its first insertion.
  /// Throws Error when full.
  bool insert(const RibRoute& route, std::uint32_t tag, std::uint32_t& first_tag);
  /// Like insert(), but an existing prefix gets the new hop.
  void replace(const RibRoute& route);
  /// All prefixes, shorter ones first.
  std::vector<RibRoute> by_length() const;

 private:
  struct Free {
    void operator()(rte_rib* rib) const;
  };
  std::unique_ptr<rte_rib, Free> rib_;
};

}  // namespace millrace
