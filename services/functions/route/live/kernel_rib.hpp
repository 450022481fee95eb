// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "services/functions/route/ipv6_address.hpp"

namespace millrace {

/// A prefix of either family. Those of IPv4 lie in the first 32 bits; bits behind `length` are
/// zero.
struct PrefixKey {
  Ipv6Address prefix;
  std::uint8_t length = 0;
  bool is_ipv6 = false;
  bool operator==(const PrefixKey&) const = default;
};
struct PrefixHash {
  std::size_t operator()(const PrefixKey& key) const noexcept {
    constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;
    const std::uint64_t kind = std::uint64_t{key.length} << 1 | (key.is_ipv6 ? 1 : 0);
    const std::uint64_t high = (key.prefix.high ^ kind) * kFactor;
    return (high ^ high >> 32 ^ key.prefix.low) * kFactor;
  }
};

/// The kernel's routes as far as the router can have them: of each prefix all of them, that of the
/// lowest metric first (fib_table_insert(), ip6_route_add()). One thread.
class KernelRib {
 public:
  struct Candidate {
    std::uint32_t metric = 0;
    std::uint32_t hop = 0;
    bool operator==(const Candidate&) const = default;
  };
  enum class Place : std::uint8_t {
    kOnly,     ///< none of the metric is there
    kReplace,  ///< in place of the first of the metric
    kBefore,   ///< in front of those of the metric
    kBehind,   ///< behind them
  };

  void clear();
  /// False when one is there already that is alike: it stays where it is.
  bool add(const PrefixKey& key, Candidate candidate, Place place);
  /// False when there is none such.
  bool remove(const PrefixKey& key, Candidate candidate);
  /// The first of that metric, if any, is there no more.
  void remove_first(const PrefixKey& key, std::uint32_t metric);
  /// One of that metric is there.
  bool has_metric(const PrefixKey& key, std::uint32_t metric) const;
  /// Next hop of the one that counts.
  std::optional<std::uint32_t> best(const PrefixKey& key) const;
  std::size_t prefix_count() const { return first_.size(); }
  void for_each(const std::function<void(const PrefixKey&)>& visit) const;

 private:
  std::vector<Candidate> all_of(const PrefixKey& key) const;
  void put(const PrefixKey& key, const std::vector<Candidate>& all);

  std::unordered_map<PrefixKey, Candidate, PrefixHash> first_;
  /// Those behind it, of the few prefixes that have any.
  std::unordered_map<PrefixKey, std::vector<Candidate>, PrefixHash> others_;
};

}  // namespace millrace
