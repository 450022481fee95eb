// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "services/functions/acl/acl_search.hpp"
#include "tests/bench/look_up_rate.hpp"
#include "tests/unit/services/functions/acl/acl_traces.hpp"

/// Rates of look-ups alone, without packets.

namespace millrace::acl_rate {

using LookUp = std::function<void(std::span<const AclKey>, std::span<std::uint32_t>)>;
/// The trace's keys, many times, in random order.
inline std::vector<AclKey> shuffled(const AclTrace& trace, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<AclKey> keys;
  while (keys.size() < (1u << 16)) keys.insert(keys.end(), trace.keys.begin(), trace.keys.end());
  std::shuffle(keys.begin(), keys.end(), random);
  return keys;
}

/// Millions a second by `thread_count` threads that share the table, each over the whole trace in
/// an order of its own, `at_once` (at most kAclKeysMax) in a call.
inline double rate(const AclTrace& trace, const LookUp& look_up, unsigned thread_count,
                   std::size_t at_once, double seconds = 1) {
  return look_up_rate<std::uint32_t>(
      thread_count, at_once, seconds, [&](unsigned thread) { return shuffled(trace, thread); },
      look_up);
}

}  // namespace millrace::acl_rate
