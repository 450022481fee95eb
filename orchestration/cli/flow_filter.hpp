// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orchestration/cli/address_prefix.hpp"
#include "orchestration/cli/flow_line.hpp"

namespace millrace {

/// One value that a connection may have.
struct FlowTerm {
  AddressPrefix prefix{};
  std::uint32_t first = 0, last = 0;  ///< numbers, both included
  std::string word;
};

/// Which connections are wanted: pairs KEY=VALUE, KEY!=VALUE between spaces, all of which have to
/// hold. VALUE may be several behind commas, of which one is enough.
///
///     src, dst     address or prefix of the first packet
///     addr         of either end, also behind a translation
///     sport, dport port or range (1024-65535) of the first packet
///     port         of either end, also behind a translation
///     proto        tcp, udp, icmp, icmpv6, or a number
///     state        of flow_state_names()
///     translated   yes, no
///     path, lane, function
class FlowFilter {
 public:
  FlowFilter() = default;  ///< takes all
  /// Throws Error that says what is wrong, and what is allowed.
  explicit FlowFilter(std::string_view text);
  bool takes(const FlowLine& line) const;

 private:
  struct Pair {
    bool (*test)(const FlowLine& line, const FlowTerm& term);
    bool is_negated = false;
    std::vector<FlowTerm> terms;
  };
  static Pair pair_of(std::string_view text);

  std::vector<Pair> pairs_;
};

}  // namespace millrace
