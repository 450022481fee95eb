// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "services/functions/ids/rules/rule_set.hpp"

namespace millrace {
namespace {

using What = FlowbitTest::What;

bool asks(const FlowbitTest& test) {
  return test.what == What::kIsSet || test.what == What::kIsNotSet;
}

/// How rules stand to each other by their flowbits.
class FlowbitOrder {
 public:
  explicit FlowbitOrder(const RuleSet& rules) : rules_(rules), nodes_(rules.signatures.size()) {
    writers_left_.resize(rules.flowbits.size());
    askers_.resize(rules.flowbits.size());
    for (std::size_t at = 0; at < nodes_.size(); ++at) look_at(at);
    settle();
  }

  /// Of those with the same action, the lower is first: rules that only write bits, those that ask
  /// and write in the order that bits need, those that only ask, those without bits.
  std::size_t place_of(std::size_t at) const {
    const Node& node = nodes_[at];
    if (node.writes.empty()) return node.asks.empty() ? nodes_.size() + 2 : nodes_.size() + 1;
    // A circle of bits has no order: its rules stand behind all that have one.
    return node.is_settled ? node.level : nodes_.size();
  }

 private:
  struct Node {
    std::vector<std::uint16_t> asks, writes;
    std::size_t level = 0, bits_left = 0;
    bool is_settled = false;
  };

  void look_at(std::size_t at) {
    Node& node = nodes_[at];
    for (const FlowbitTest& test : rules_.signatures[at].flowbits) {
      auto& bits = asks(test) ? node.asks : node.writes;
      bits.insert(bits.end(), test.bits.begin(), test.bits.end());
    }
    for (auto* bits : {&node.asks, &node.writes}) {
      std::ranges::sort(*bits);
      bits->erase(std::unique(bits->begin(), bits->end()), bits->end());
    }
    // A rule may ask for the bit that it writes ("once in a flow"): it does not wait for itself.
    std::erase_if(node.asks,
                  [&](auto bit) { return std::ranges::binary_search(node.writes, bit); });
    for (const std::uint16_t bit : node.writes) ++writers_left_[bit];
    for (const std::uint16_t bit : node.asks) askers_[bit].push_back(at);
  }

  /// Gives levels to rules whose bits all have been written by rules with a level.
  void settle() {
    std::vector<std::size_t> ready;
    for (Node& node : nodes_) {
      node.bits_left = static_cast<std::size_t>(std::ranges::count_if(
          node.asks, [&](std::uint16_t bit) { return writers_left_[bit] != 0; }));
      if (node.bits_left == 0) ready.push_back(static_cast<std::size_t>(&node - nodes_.data()));
    }
    for (std::size_t next = 0; next < ready.size(); ++next) {
      Node& node = nodes_[ready[next]];
      node.is_settled = true;
      for (const std::uint16_t bit : node.writes) {
        for (const std::size_t asker : askers_[bit]) raise(nodes_[asker].level, node.level + 1);
        if (--writers_left_[bit] != 0) continue;
        for (const std::size_t asker : askers_[bit]) {
          if (--nodes_[asker].bits_left == 0) ready.push_back(asker);
        }
      }
    }
  }
  static void raise(std::size_t& level, std::size_t to) { level = std::max(level, to); }

  const RuleSet& rules_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> writers_left_;         ///< by bit: rules without a level that write it
  std::vector<std::vector<std::size_t>> askers_;  ///< by bit
};

}  // namespace

void sort_signatures(RuleSet& rules, const ActionOrder& actions) {
  const FlowbitOrder bits(rules);
  std::vector<std::size_t> order(rules.signatures.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t at) {
    const Signature& rule = rules.signatures[at];
    return std::tuple(std::ranges::find(actions, rule.action) - actions.begin(), bits.place_of(at),
                      rule.priority, rule.sid, rule.gid);
  };
  std::ranges::sort(order, {}, key);
  std::vector<Signature> sorted;
  sorted.reserve(order.size());
  for (const std::size_t at : order) sorted.push_back(std::move(rules.signatures[at]));
  rules.signatures = std::move(sorted);
}

}  // namespace millrace
