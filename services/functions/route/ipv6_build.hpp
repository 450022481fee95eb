// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "services/functions/route/ipv6_rib.hpp"
#include "services/functions/route/ipv6_trie.hpp"

namespace millrace {

/// What an image holds of IPv6 beside its first level.
struct Ipv6Trie {
  std::vector<Ipv6Node> nodes;
  std::vector<std::uint32_t> runs = {0};  ///< the first is not used: 0 means none
  /// First 24 bits that some longer prefix lies in, and its node.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> roots;
};

/// Of `routes` in the order of Ipv6Rib::in_order(), without ::/0. Throws Error when a limit of
/// ipv6_trie.hpp is passed.
Ipv6Trie build_ipv6_trie(std::span<const Ipv6Route> routes);

/// Writes the first level of the same routes; what no prefix covers stays as it is, zero.
void paint_ipv6_table24(std::span<const Ipv6Route> routes, const Ipv6Trie& trie,
                        std::uint32_t* table24);

}  // namespace millrace
