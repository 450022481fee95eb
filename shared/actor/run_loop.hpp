// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "shared/actor/context.hpp"
#include "shared/base/clock.hpp"

/// The one run loop of all data threads: heartbeat, roster, work, idling.

namespace millrace {

/// The work of an actor, called by RunLoop. One thread; everything is noexcept and bounded.
class Actor {
 public:
  virtual ~Actor() = default;
  /// One bounded round: a few batches at most. Returns how much was done (0: nothing to do).
  virtual std::uint32_t do_work() noexcept = 0;
  /// True when a link or port is not empty. Called again between the announcement of sleep and the
  /// sleep.
  virtual bool has_work() noexcept = 0;
  /// Called when the roster's epoch has moved: reads which actors are alive, takes back what dead
  /// ones had not read, and lets go of fenced ones.
  virtual void read_roster() noexcept = 0;
  /// Called in every round after a request to end (SIGTERM, or draining): works off what it has.
  virtual void stop() noexcept = 0;
  /// After stop(): true when nothing is left in hand.
  virtual bool finished() noexcept = 0;
  /// After stop(), between two rounds: true when recovery may take what is left in hand; it hands
  /// that on whole. Otherwise a loaded actor would never stop.
  virtual bool may_leave() noexcept { return false; }
  /// Longest sleep when idle, nanoseconds; a port without a descriptor must be polled.
  virtual std::uint64_t idle_ns() const noexcept { return 10'000'000; }
  /// Called before each sleep: writes out what is buffered.
  virtual void before_sleep() noexcept {}
  /// Called every 10 ms, within a turn: publishes values that only observers read.
  virtual void take_stock(std::uint64_t now_tsc) noexcept { static_cast<void>(now_tsc); }
  /// Called before each sleep: a descriptor that gets readable when there is work. Only it is
  /// waited for (at most 10 ms, as wake-ups do not end that sleep); -1: sleep until woken.
  virtual int wait_descriptor() noexcept { return -1; }
};

/// How long the idle thread of an actor looks for work before it sleeps.
std::uint64_t spin_ns(const Plan& plan, std::uint32_t actor);

class RunLoop {
 public:
  /// `stop`: told from outside the thread (signal handler, control thread); borrowed.
  RunLoop(const ActorContext& context, Actor& actor, const std::atomic<bool>& stop);
  /// Returns when the actor has finished after a stop.
  void run() noexcept;
  /// One turn: work, then idling if there was none. False: finished, or told to stop half a second
  /// ago and free to leave.
  bool turn() noexcept;

  /// One turn without idling, for several actors on one thread (fused_loop.hpp). Nothing: finished.
  std::optional<std::uint32_t> work() noexcept;
  /// True when a sleep would end at once: there is work, or the roster has moved.
  bool has_work() noexcept;
  Actor& actor() noexcept { return actor_; }

 private:
  void idle(std::uint64_t now) noexcept;
  bool leaves() noexcept;
  void account(std::uint32_t done, std::uint64_t began) noexcept;

  ActorContext context_;
  Actor& actor_;
  const std::atomic<bool>& stop_;
  std::uint64_t seen_epoch_ = 0;
  std::uint64_t idle_since_ = 0;   ///< TSC; 0: busy
  std::uint64_t turn_tsc_ = 0;     ///< begin of the present turn: end of the one before
  std::uint64_t spin_ticks_;       ///< idle for longer: sleep
  std::uint64_t stock_tsc_ = 0;    ///< when to take stock next
  std::uint64_t stopped_tsc_ = 0;  ///< told to stop; 0: not yet
  const bool fences_for_all_;      ///< when it announces sleep
  PeakMark longest_;               ///< turn
  TscScale scale_;
};

}  // namespace millrace
