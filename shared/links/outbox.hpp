// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "shared/actor/context.hpp"
#include "shared/actor/wake.hpp"
#include "shared/links/skipping.hpp"
#include "shared/links/split.hpp"

/// The producer's side of all links of one actor: ingress_classifier, classifier_classifier,
/// classifier_gpu, classifier_egress, ingress_egress, and for a gpu incarnation gpu_classifier and
/// gpu_egress.
///
/// Element: Descriptor (8 bytes). Depth: above all slots that its producer may hand on, so a push
/// cannot fail (CHECKed). After the push to a CPU actor the batch belongs to the ring, then to
/// its taker. A batch pushed to a GPU stays the producer's by its owner word; `gpu_holder`
/// says which incarnation may complete it.
///
/// A batch that no worker can take now (none of its group is alive) waits here, in order, held by
/// this actor; unless the functions of the stage are to be skipped then (skipping.hpp).

namespace millrace {

class Outbox {
 public:
  explicit Outbox(const ActorContext& context);

  /// Hands the slot, which is ours and held for `stage`, to an actor of that stage.
  void send(std::uint32_t slot, std::uint8_t stage) noexcept;
  /// For a gpu incarnation, which owns nothing: announces the completion of `descriptor` (its stage
  /// is the one completed) to an actor of the following stage. `stream`, `lane`: of the batch, as
  /// read at the take.
  void announce(Descriptor descriptor, std::uint32_t stream, std::uint32_t lane) noexcept;
  /// Wakes the consumers of what was sent since the last call: once a round, at its start.
  void wake_consumers() noexcept { wakes_.send(context_); }
  /// Tries to send the batches that wait. Returns how many left.
  std::uint32_t flush() noexcept;
  std::uint32_t pending() const noexcept { return pending_count_; }
  /// For an ingress that begins: batches of the lane up to `sequence` were in flight before, even
  /// those that wait here again later. They are not held back.
  void start_lane(std::uint32_t lane, std::uint64_t sequence) noexcept {
    if (ingress_) offered_[lane] = sequence;
  }
  /// Called after the roster's epoch has moved: reads which consumers are alive, and takes back
  /// batches that dead consumers had not read.
  void read_roster() noexcept;

 private:
  struct Target {
    std::uint32_t actor = 0;
    std::uint32_t link = 0;
    std::uint32_t index = 0;  ///< worker number in its group
    bool gpu = false;
    bool open = false;  ///< may be chosen
    Owner life;         ///< its present one
    SpscRing<std::uint64_t> ring;
    std::uint32_t load = 0;  ///< at most so many batches lie in the ring: as of the last look at it
  };
  struct Waiting {
    std::uint64_t descriptor = 0;
    std::uint16_t stream = 0, lane = 0;
  };

  Target* choose(std::uint8_t stage, std::uint32_t stream, std::uint32_t lane) noexcept;
  Target* choose_worker(std::uint32_t group, std::uint32_t lane) noexcept;
  Target* least_loaded(std::uint32_t group) noexcept;
  bool offer(const Waiting& batch) noexcept;
  void wait_here(const Waiting& batch) noexcept;
  void take_back(Target& target) noexcept;
  void read_held_lane() noexcept;

  ActorContext context_;
  Wakes wakes_;
  Skipping skipping_;
  Split split_;
  bool owns_slots_;  ///< false for a gpu incarnation
  std::vector<Target> targets_;
  std::vector<std::vector<std::uint32_t>> group_targets_;  ///< by group: numbers in targets_
  std::vector<std::uint32_t> egress_target_;               ///< by actor
  std::vector<std::uint32_t> next_worker_;  ///< by group: where the round robin stands
  std::vector<std::uint32_t> next_look_;    ///< by group: whose load is looked at next
  /// By group, by lane: number in targets_, as the lane map and the roster say.
  std::vector<std::vector<std::uint32_t>> lane_target_;
  // For an ingress: a lane that is to move to another worker of a group with state is held back
  // here, from the first batch on that was not sent when the leader asked for it.
  bool ingress_;
  std::uint64_t held_lane_ = 0;         ///< 1 + the lane that is held back; 0: none
  std::vector<std::uint64_t> offered_;  ///< by lane: last sequence that went on
  std::vector<Waiting> pending_;        ///< circular; as large as all slots
  std::uint32_t pending_first_ = 0, pending_count_ = 0;
};

}  // namespace millrace
