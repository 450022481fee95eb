// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>

#include "shared/actor/context.hpp"
#include "shared/layout/status_file.hpp"

/// Sleeping and waking by one futex word a thread, in shared memory. The sleeper sets the word,
/// fences, and reads all its links once more before it waits; a producer pushes, fences and reads
/// the word. One of the two sees the other's store (Dekker), so no wake-up is lost; still the wait
/// is bounded.
///
/// A sleeper with a core of its own sleeps seldom, and its producers push all the time. So it
/// fences for them too, by membarrier(2): all cores on which threads of the topology run pass a
/// full fence, which takes a microsecond or two. Where cores are shared, sleeps are frequent, and
/// each side fences for itself.

namespace millrace {

inline constexpr std::uint64_t kSleepMaxNs = 10'000'000;

/// After a push: wakes the actor if it sleeps. A fence (about 8 ns) and one load when it does not.
inline void wake(ActorEntry& entry) noexcept;

void futex_wake(std::atomic<std::uint32_t>& word) noexcept;

/// Joins: this process's threads pass the fences of fence_for_all() from here on. False: this
/// kernel has none (before Linux 4.16), or forbids it.
bool join_fences() noexcept;
/// A full fence in every running thread of the processes that have joined; threads that do not run
/// have passed one.
void fence_for_all() noexcept;
/// Whether the actor fences for its producers when it announces sleep.
inline bool fences_for_all(const Plan& plan, std::uint32_t actor) {
  return !plan.fused && !shares_core(plan, actor);
}

/// The actors to wake after the pushes of a round. One fence serves all of them; by then the pushes
/// have mostly left the store buffer, so it costs little. A caller of add must send in the next
/// round at the latest.
class Wakes {
 public:
  explicit Wakes(const Plan& plan) {
    if (!join_fences()) return;
    for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
      if (fences_for_all(plan, actor)) fenced_by_sleeper_[actor / kWordBits] |= bit_of(actor);
    }
  }
  void add(std::uint32_t actor) noexcept {
    const std::uint32_t word = actor / kWordBits;
    actors_[word] |= bit_of(actor);
    must_fence_ |= (bit_of(actor) & ~fenced_by_sleeper_[word]) != 0;
    any_ = true;
  }
  void send(const ActorContext& context) noexcept {
    if (!any_) return;
    any_ = false;
    if (std::exchange(must_fence_, false)) {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    } else {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
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
  static constexpr std::uint64_t bit_of(std::uint32_t actor) noexcept {
    return std::uint64_t{1} << actor % kWordBits;
  }

  std::uint64_t actors_[kWords] = {};
  std::uint64_t fenced_by_sleeper_[kWords] = {};  ///< a bit an actor
  bool any_ = false;
  bool must_fence_ = false;  ///< one of them does not fence for its producers
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
