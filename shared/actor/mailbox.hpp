// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <type_traits>

#include "shared/base/limits.hpp"

namespace millrace {

/// Small commands from one thread of a process to another, without waiting on either side: the
/// control thread posts, the data thread takes (or the other way round). Single producer, single
/// consumer. Holds up to N values; post() returns false when it is full, and the poster counts
/// that.
template <class T, std::size_t N>
class Mailbox {
  static_assert(N > 0 && (N & (N - 1)) == 0, "a power of two");
  static_assert(std::is_trivially_copyable_v<T>, "copied without allocation");

 public:
  /// Producer thread. False when full: nothing was posted.
  bool post(const T& value) noexcept {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == N) return false;
    values_[tail % N] = value;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  /// Consumer thread. False when empty: `value` is untouched.
  bool take(T& value) noexcept {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return false;
    value = values_[head % N];
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  alignas(kCacheLine) std::atomic<std::size_t> head_{0};  // consumer's
  alignas(kCacheLine) std::atomic<std::size_t> tail_{0};  // producer's
  alignas(kCacheLine) std::array<T, N> values_{};
};

}  // namespace millrace
