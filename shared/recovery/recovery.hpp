// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shared/actor/context.hpp"
#include "shared/links/outbox.hpp"
#include "shared/links/return_link.hpp"
#include "shared/recovery/driver_queues.hpp"
#include "shared/recovery/lane_moves.hpp"
#include "shared/recovery/process_control.hpp"
#include "shared/recovery/silence.hpp"

/// What happens when an actor dies or hangs. Run by the hub, and by the standby once the hub's exit
/// is certain. It is a state machine in shared memory: each step is idempotent and recorded in the
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

/// What recovery tells the world (log, control plane). `number`: slots or batches concerned.
struct RecoveryEvent {
  std::uint32_t actor = 0;
  const char* what = "";  ///< "exited", "hung", "fenced", "recovered", "quarantined"
  std::uint64_t number = 0;
};

/// A batch that was in a worker's hands when it died, before its packets are dropped. Borrowed.
struct LostBatch {
  std::uint32_t actor = 0;
  std::uint32_t function = 0;  ///< whose code ran, or kNoFunction
  /// By a fault of its own, or as it hung; not as others have killed or stopped it.
  bool by_itself = false;
  const Batch& batch;
};
inline constexpr std::uint32_t kNoFunction = UINT32_MAX;

class Recovery {
 public:
  /// `drivers`: of queues that outlive their process (a DPDK primary's); null: there are none.
  Recovery(const ActorContext& context, ProcessControl& processes, RecoveryLimits limits,
           std::function<void(const RecoveryEvent&)> tell, DriverQueues* drivers = nullptr);

  /// One bounded round over all actors, by the leader, from one thread. Returns how long it may
  /// wait for the next one unless a process ends before, milliseconds: 0 when something moved.
  int tick();
  /// Before the first tick(): what this actor's last life had in its hands as a leader, and what a
  /// leader before it may have died amid: lanes without a worker, a state that no epoch has told.
  void take_the_lead();
  /// Marks an actor that is to be stopped: no producer chooses it any more; it ends by itself once
  /// it is empty.
  void drain(std::uint32_t actor);
  /// Shown each batch that a worker died with, unless its columns make no sense. Called by tick();
  /// a leader that dies meanwhile has a successor that may show it once more.
  void on_lost(std::function<void(const LostBatch&)> look) { look_at_lost_ = std::move(look); }
  /// Packet census for the audit, exact when quiet: slots that are not free, buffers that are in no
  /// pool.
  struct Census {
    std::uint32_t slots = 0, slots_free = 0;
    std::uint32_t buffers = 0, buffers_free = 0;
    std::uint64_t in_slots = 0;      ///< packets in sealed batches
    std::uint32_t buffers_held = 0;  ///< in receive and transmit queues
  };
  Census census() const;

 private:
  struct Watch {
    std::uint64_t killed_at_ns = 0;
    std::uint64_t published_at_ns = 0;  ///< when the present state was published
    Silence silence;
    bool redone = false;  ///< gpu: its batches are with the stand-in already
  };
  using Flags = std::vector<bool>;
  enum class End { kCrashed, kHung, kStopped, kAsked };

  // The state machine (recovery.cpp).
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

  // The steps on rings and slots (rescue.cpp).
  void reset_links(std::uint32_t actor);
  std::uint32_t rescue_slots(std::uint32_t actor);
  void tell_sealed(std::uint32_t ingress);
  void rescue_slot(std::uint32_t slot, std::uint32_t actor, const Flags& returned_buffers);
  void show_lost(std::uint32_t slot, std::uint32_t actor) const;
  std::uint32_t redo_gpu_slots(std::uint32_t actor);
  void take_back_for_the_dead(std::uint32_t actor);
  std::uint32_t fill_holes(std::uint32_t actor);
  Flags slots_in_links_of(std::uint32_t actor, bool with_gpus) const;
  bool take_over(std::uint32_t slot, std::uint32_t dead_actor);
  bool is_gpu(std::uint64_t holder) const;
  void discard_open(std::uint32_t slot, const Flags& returned_buffers);
  void lose(std::uint32_t slot, std::uint8_t stage);
  void account_lost(std::uint32_t slot);
  void free_rest(std::uint32_t slot, const Flags& returned_buffers);
  bool replaced(std::uint32_t slot) const;
  void stand_in_for(std::uint32_t slot);
  void undo_lane_state(const SlotHeader& header, std::uint8_t stage);
  std::uint8_t first_that_must_see(std::uint8_t stage) const;
  Flags slots_in_rings() const;
  Flags buffers_in_rings() const;

  // What the dead had sent to loops (loops.cpp).
  void settle_loops(std::uint32_t egress);

  // Buffers in the queues of the dead (held_buffers.cpp).
  bool stop_queues(std::uint32_t actor);
  bool restore_queues(std::uint32_t actor);
  void account_waiting(std::uint32_t egress);
  void free_pool(std::uint32_t egress);
  std::uint32_t free_held(std::uint32_t actor);

  ActorContext context_;
  ProcessControl& processes_;
  DriverQueues ended_with_process_;
  DriverQueues& drivers_;
  RecoveryLimits limits_;
  std::function<void(const RecoveryEvent&)> tell_;
  std::function<void(const LostBatch&)> look_at_lost_;
  Outbox outbox_;
  ReturnLinks returns_;
  std::vector<Watch> watch_;
  LaneMoves lane_moves_;
  std::vector<End> ends_;  ///< by actor: how its last life ended, as far as we saw
  std::uint64_t seen_epoch_ = 0;
  std::uint64_t last_tick_ns_ = 0;
};

}  // namespace millrace
