// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "shared/actor/context.hpp"
#include "shared/links/outbox.hpp"
#include "shared/links/return_link.hpp"
#include "shared/recovery/held_buffers.hpp"
#include "shared/recovery/lane_moves.hpp"
#include "shared/recovery/process_control.hpp"
#include "shared/recovery/quarantine.hpp"
#include "shared/recovery/rescue.hpp"
#include "shared/recovery/silence.hpp"

/// Recovers actors that die or hang. Run by the hub, and by the standby once the hub's exit is
/// certain. It is a state machine in shared memory: each step is idempotent and recorded in the
/// actor's entry, so the next leader goes on where the last one stopped.
///
/// alive -> (exit certain) fenced -> (all producers and acceptors have acknowledged) rings
/// repaired, slots taken over -> reclaiming -> (all producers have taken back what was unread)
/// vacant -> a new process may start
///
/// A hung actor (heartbeat older than the limit, though a processor would have run it) is killed
/// first. A GPU incarnation is fenced at once, before its exit is certain, because it never writes
/// slots. A process that does not exit is quarantined: stand-in slots fill the holes it leaves.

namespace millrace {

struct RecoveryLimits {
  std::uint64_t heartbeat_limit_ns = 1'000'000'000;  ///< silent for longer: hung
  std::uint64_t kill_limit_ns = 2'000'000'000;  ///< not gone after SIGKILL for longer: quarantined
  std::uint64_t ack_limit_ns = 1'000'000'000;   ///< does not acknowledge a fence: fenced too
};

class Recovery {
 public:
  /// `drivers`: of queues that outlive their process (a DPDK primary's); null: there are none.
  Recovery(const ActorContext& context, ProcessControl& processes, RecoveryLimits limits,
           TellRecovery tell, DriverQueues* drivers = nullptr);

  /// One bounded round over all actors, by the leader, from one thread. Returns how long it may
  /// wait for the next one unless a process ends before, milliseconds: 0 when something moved.
  int tick();
  /// Called before the first tick(): recovers what this actor's process before had in hand as a
  /// leader, and what an earlier leader may have left half done: lanes without a worker, a state
  /// that no epoch has told.
  void take_the_lead();
  /// Marks an actor that is to stop: no producer chooses it any more, and it ends by itself once it
  /// is empty.
  void drain(std::uint32_t actor);
  /// `look` is called by tick() with each batch that a worker died with, unless its columns make no
  /// sense. If the leader dies meanwhile, its successor may show the batch again.
  void on_lost(LookAtLost look) { rescue_.on_lost(std::move(look)); }

 private:
  struct Watch {
    std::uint64_t killed_at_ns = 0;
    std::uint64_t published_at_ns = 0;  ///< when the present state was published
    Silence silence;
    bool redone = false;  ///< gpu: its batches are with the stand-in already
  };
  enum class End { kCrashed, kHung, kStopped, kAsked };

  bool watch(std::uint32_t actor);
  bool watch_running(std::uint32_t actor);
  std::optional<std::uint32_t> predecessor(std::uint32_t actor) const;
  void count_restart(std::uint32_t actor);
  bool finish_fence(std::uint32_t actor);
  bool hung(std::uint32_t actor);
  void kill(std::uint32_t actor);
  bool died_by_itself(std::uint32_t actor) const;
  bool is_starved(std::uint32_t actor);
  void publish(std::uint32_t actor, ActorState state);
  bool all_acknowledged(std::uint32_t actor);
  void let_drain(std::uint32_t actor);
  void assign_lanes(std::uint32_t group);
  void bump_epoch();
  bool is_worker(std::uint32_t actor) const;
  bool in_transition(std::uint32_t actor) const;

  ActorContext context_;
  ProcessControl& processes_;
  RecoveryLimits limits_;
  TellRecovery tell_;
  Outbox outbox_;
  ReturnLinks returns_;
  SlotRescue rescue_;
  StandIns stand_ins_;
  HeldBuffers held_;
  std::vector<Watch> watch_;
  LaneMoves lane_moves_;
  std::vector<End> ends_;  ///< by actor: how its last life ended, as far as we saw
  std::uint64_t seen_epoch_ = 0;
  std::uint64_t last_tick_ns_ = 0;
};

}  // namespace millrace
