// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "shared/actor/mailbox.hpp"
#include "shared/actor/new_tables.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/control/messages.hpp"
#include "shared/watch/watch_point.hpp"

namespace millrace {

/// Kind of the event by which an actor says what a port does not read, or why it does not send.
inline constexpr const char* kPortTrouble = "port_trouble";
/// Kind of the event that says how many events of an actor were lost (its number).
inline constexpr const char* kEventsLost = "actor_events_lost";

/// An actor's side of the control plane: one control thread in its process. It tells the supervisor
/// that the actor is ready, and again every 2 s, and the actor's events, as soon as and whenever
/// the supervisor is there; an actor runs fine without one. Commands are obeyed here, so do_work
/// never waits.
///
/// Constructed and destroyed by main(); every other call from the data thread, never blocking,
/// unless said.
class ActorControl {
 public:
  /// Starts the thread. `watch`: borrowed; the thread looks for watchers on its behalf.
  /// `followers`: borrowed; called by the thread when plan.bin has changed. Throws Error when the
  /// address of the supervisor cannot exist (path too long).
  ActorControl(const std::string& run_dir, std::uint32_t actor, WatchPoint* watch = nullptr,
               std::vector<PlanFollower*> followers = {});
  /// Sends what was posted, ends the thread; takes at most about 100 ms.
  ~ActorControl();
  ActorControl(const ActorControl&) = delete;  // its thread refers to it
  ActorControl& operator=(const ActorControl&) = delete;

  bool stop_requested() const noexcept { return stop_.load(std::memory_order_relaxed); }
  const std::atomic<bool>& stop_flag() const noexcept { return stop_; }
  /// The actor is to end. Any thread, and signal handlers.
  void request_stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  /// The thread runs on these alone from now on; where that cannot be, on its maker's.
  void keep_to(std::span<const std::uint32_t> cores) noexcept;
  /// The actor's loop runs.
  void set_ready() noexcept;
  /// Tells the supervisor, once, soon or when it is there again. `kind` is cut at 31 bytes,
  /// `text` at 199. When 64 events wait for the thread, this one is dropped; when as many wait for
  /// the supervisor, the oldest one is. How many, an event (kEventsLost) says later.
  void post_event(Severity severity, std::string_view kind, std::string_view text,
                  std::uint64_t number = 0) noexcept;
  /// Events that were dropped. Any thread.
  std::uint64_t dropped_count() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct PostedEvent {
    Severity severity = Severity::kInfo;
    std::array<char, 32> kind{};
    std::array<char, 200> text{};
    std::uint64_t number = 0;
    std::uint64_t time_ns = 0;
  };
  class Talk;  // the thread's own: its connection, and what was said

  void run(Talk& talk) noexcept;
  void wake() noexcept;
  void obey(const ControlBody& command, Talk& talk) noexcept;
  void follow_plan(std::uint32_t revision, Talk& talk) noexcept;

  const std::string run_dir_;
  const std::uint32_t actor_;
  WatchPoint* const watch_;
  const std::vector<PlanFollower*> followers_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> ready_{false};
  std::atomic<bool> ending_{false};
  std::atomic<std::uint64_t> dropped_{0};
  Mailbox<PostedEvent, 64> events_;
  UniqueFd wake_;
  std::thread thread_;
};

}  // namespace millrace
