// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

namespace millrace {

/// Millions of look-ups a second, without packets, by `thread_count` threads that share a table.
/// keys_of(thread): what a thread looks up, again and again, `at_once` in a call of
/// look_up(span of keys, span of as many words).
template <typename Word, typename KeysOf, typename LookUp>
double look_up_rate(unsigned thread_count, std::size_t at_once, double seconds,
                    const KeysOf& keys_of, const LookUp& look_up) {
  std::atomic<unsigned> ready{0};
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < thread_count; ++t) {
    threads.emplace_back([&, t] {
      auto keys = keys_of(t);
      std::vector<Word> words(at_once);
      std::uint64_t count = 0;
      ++ready;
      while (ready < thread_count) std::this_thread::yield();
      while (!stop) {
        for (std::size_t i = 0; i + at_once <= keys.size() && !stop; i += at_once) {
          look_up(std::span(keys).subspan(i, at_once), std::span(words));
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

}  // namespace millrace
