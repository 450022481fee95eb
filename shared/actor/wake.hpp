// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "shared/actor/context.hpp"
#include "shared/layout/status_file.hpp"

/// Sleeping and waking over one futex word a thread, in shared memory: the sleeper sets it, fences
/// and looks at all its links once more before it waits; a producer pushes, fences and looks at the
/// word. One of the two sees the other (Dekker), so no wake-up is lost; the wait is bounded all the
/// same.

namespace millrace {

inline constexpr std::uint64_t kSleepMaxNs = 10'000'000;

/// After a push: wakes the actor if it sleeps. A fence (about 8 ns) and one load when it does not.
inline void wake(ActorEntry& entry) noexcept;

void futex_wake(std::atomic<std::uint32_t>& word) noexcept;

/// What to wake for what a round has pushed. One fence for all of them, and by then the pushes have
/// mostly left the store buffer, so it costs little. A caller of add must send in the next round at
/// the latest.
class Wakes {
 public:
  void add(std::uint32_t actor) noexcept {
    actors_[actor / kWordBits] |= std::uint64_t{1} << actor % kWordBits;
    any_ = true;
  }
  void send(const ActorContext& context) noexcept {
    if (!any_) return;
    any_ = false;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (std::uint32_t word = 0; word < kWords; ++word) {
      std::uint64_t& actors = actors_[word];
      for (; actors != 0; actors &= actors - 1) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(actors));
        ActorEntry& entry = context.entry(word * kWordBits + bit);
        if (entry.sleeping.load(std::memory_order_relaxed) != 0) futex_wake(entry.sleeping);
      }
    }
  }

 private:
  static constexpr std::uint32_t kWordBits = 64;
  static constexpr std::uint32_t kWords = (kActorCountMax + kWordBits - 1) / kWordBits;
  std::uint64_t actors_[kWords] = {};
  bool any_ = false;
};

/// Announces sleep. The caller then looks at its links again, and calls sleep() or cancel_sleep().
inline void announce_sleep(ActorEntry& entry) noexcept {
  entry.sleeping.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
inline void cancel_sleep(ActorEntry& entry) noexcept {
  entry.sleeping.store(0, std::memory_order_relaxed);
}
/// Waits until woken or `timeout_ns` (at most kSleepMaxNs) has passed. A signal ends it too.
void sleep(ActorEntry& entry, std::uint64_t timeout_ns) noexcept;
/// Waits until one of `descriptors` (at most kSleepDescriptorsMax) is readable or in error, or
/// `timeout_ns` (at most kSleepMaxNs) has passed; a signal ends it too. Nothing can wake it, so
/// sleep must not be announced: producers would call the kernel for nothing.
inline constexpr std::size_t kSleepDescriptorsMax = kStreamCountMax;
void sleep_on(std::span<const int> descriptors, std::uint64_t timeout_ns) noexcept;

inline void wake(ActorEntry& entry) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (entry.sleeping.load(std::memory_order_relaxed) != 0) futex_wake(entry.sleeping);
}

}  // namespace millrace
