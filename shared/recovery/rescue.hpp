// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "shared/links/outbox.hpp"
#include "shared/links/return_link.hpp"
#include "shared/recovery/census.hpp"

namespace millrace {

/// A batch that was in a worker's hands when it died, before its packets are dropped. Borrowed.
struct LostBatch {
  std::uint32_t actor = 0;
  std::uint32_t function = 0;  ///< the one that ran, or kNoFunction
  /// True when the worker died by a fault of its own or hung; false when it was killed or stopped
  /// from outside.
  bool by_itself = false;
  const Batch& batch;
};
using LookAtLost = std::function<void(const LostBatch&)>;
inline constexpr std::uint32_t kNoFunction = UINT32_MAX;

/// The steps of recovery on rings and slots of dead actors. Called by the leader, from one thread.
class SlotRescue {
 public:
  /// All are borrowed.
  SlotRescue(const ActorContext& context, Outbox& outbox, ReturnLinks& returns)
      : context_(context), outbox_(outbox), returns_(returns) {}
  void on_lost(LookAtLost look) { look_at_lost_ = std::move(look); }

  /// Empties the links of a GPU worker that is gone: nothing in them owns a slot.
  void reset_links(std::uint32_t actor);
  /// Takes over the slots that the actor had in hand, and treats each as kSlotRules says. Returns
  /// their number, without open ones. `died_by_itself`: LostBatch::by_itself.
  std::uint32_t rescue_slots_of(std::uint32_t actor, bool died_by_itself);
  /// Publishes what the dead ingress had sealed, of which some may not have been published. Packets
  /// in its open batches count as not received from here on: nothing will end them.
  void tell_sealed(std::uint32_t ingress);
  /// Sends the batches of a dead GPU worker to the group beside it. Returns how many.
  std::uint32_t redo_gpu_slots(std::uint32_t actor);
  /// Takes back the batches that a dead worker has not read, where the producer is dead too.
  void take_back_for_the_dead(std::uint32_t actor);

 private:
  struct Dead {
    std::uint32_t actor;
    bool by_itself;
  };
  void rescue_slot(std::uint32_t slot, Dead dead, const Flags& returned_buffers);
  void show_lost(std::uint32_t slot, Dead dead) const;
  bool take_over(std::uint32_t slot, std::uint32_t dead_actor);
  void discard_open(std::uint32_t slot, const Flags& returned_buffers);
  void lose(std::uint32_t slot, std::uint8_t stage);
  void account_lost(std::uint32_t slot);
  void free_rest(std::uint32_t slot, const Flags& returned_buffers);

  const ActorContext& context_;
  Outbox& outbox_;
  ReturnLinks& returns_;
  LookAtLost look_at_lost_;
};

}  // namespace millrace
