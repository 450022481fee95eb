// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "services/functions/acl/acl_search.hpp"
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
  std::atomic<unsigned> ready{0};
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < thread_count; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<AclKey> keys = shuffled(trace, t);
      std::uint32_t words[kAclKeysMax];
      std::uint64_t count = 0;
      ++ready;
      while (ready < thread_count) std::this_thread::yield();
      while (!stop) {
        for (std::size_t i = 0; i + at_once <= keys.size() && !stop; i += at_once) {
          look_up({keys.data() + i, at_once}, words);
          count += at_once;
        }
      }
      done += count;
    });
  }
  while (ready < thread_count) std::this_thread::yield();
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return static_cast<double>(done) / took.count() / 1e6;
}

}  // namespace millrace::acl_rate
