// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "services/functions/acl/acl_rule.hpp"

namespace millrace {

/// Of a rule with a limit.
inline std::uint64_t limit_interval_ns(const AclRule& rule) noexcept {
  return std::uint64_t{rule.limit_interval} * ((rule.limits & kRuleNanoseconds) != 0 ? 1 : 1000);
}

/// How often a rule with `limit` matches: a token bucket, kept as the time at which it is full
/// again. Of one worker, and of a rule, or a rule and a source.
class FirewallLimit {
 public:
  /// True: the rule matches once more. `rule` has a limit; `now_ns` does not go back.
  bool take(const AclRule& rule, std::uint64_t now_ns) noexcept {
    const std::uint64_t interval_ns = limit_interval_ns(rule);
    const std::uint64_t from_ns = std::max(full_ns_, now_ns);
    if (from_ns - now_ns > interval_ns * (rule.limit_burst - 1)) return false;
    full_ns_ = from_ns + interval_ns;
    return true;
  }
  /// It is as one that nothing has been taken from.
  bool is_full(std::uint64_t now_ns) const noexcept { return full_ns_ <= now_ns; }

 private:
  std::uint64_t full_ns_ = 0;
};

}  // namespace millrace
