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
  /// By a fault of its own, or as it hung; not as others have killed or stopped it.
  bool by_itself = false;
  const Batch& batch;
};
using LookAtLost = std::function<void(const LostBatch&)>;
inline constexpr std::uint32_t kNoFunction = UINT32_MAX;

/// The steps of recovery on rings and slots of the dead. By the leader, from one thread.
class SlotRescue {
 public:
  /// All are borrowed.
  SlotRescue(const ActorContext& context, Outbox& outbox, ReturnLinks& returns)
      : context_(context), outbox_(outbox), returns_(returns) {}
  void on_lost(LookAtLost look) { look_at_lost_ = std::move(look); }

  /// Of a GPU worker that is gone: nothing in its links owns a slot.
  void reset_links(std::uint32_t actor);
  /// Takes over what it had in its hands, and does with each slot what kSlotRules says. Returns how
  /// many slots those were, without open ones. `died_by_itself`: see LostBatch.
  std::uint32_t rescue_slots_of(std::uint32_t actor, bool died_by_itself);
  /// What lay open when it died counts as not received from here on: nothing will end it. Of what
  /// it had sealed, some may not have been told.
  void tell_sealed(std::uint32_t ingress);
  /// Sends what a GPU worker has had to the group beside it. Returns how many batches.
  std::uint32_t redo_gpu_slots(std::uint32_t actor);
  /// What a dead worker has not read, where its producer cannot take it back.
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
