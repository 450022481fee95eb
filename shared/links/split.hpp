// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "shared/actor/context.hpp"
#include "shared/links/offload_word.hpp"

/// `on: [gpu, deep]`: which batches of one producer go to a gpu group, and which to the classifier
/// group beside it, its stand-in, although the GPU is alive. Of a hundred batches `offload` go to
/// the GPU, evenly spread; beyond `spill` batches at the GPU at once, the others follow too.
/// With `offload: auto` the supervisor sets the number (offload_word.hpp), which is read anew for
/// each batch.
///
/// The producer sees by the slots' `gpu_holder`, which the acceptor or recovery clears, what is
/// still at the GPU: oldest first, so it reads at most two cache lines a batch. A batch that is
/// done before an older one counts until that one is done. Allocates at construction only.

namespace millrace {

class Split {
 public:
  explicit Split(const ActorContext& context);

  /// False: the alive actors of `group` get all batches.
  bool applies(std::uint32_t group) const noexcept { return !groups_[group].held.empty(); }
  /// Whether the next batch for `group`, which applies(), goes to the GPU.
  bool gpu_is_next(std::uint32_t group) noexcept;
  /// Notes that a batch went to the GPU; `holder`: its slot's `gpu_holder`.
  void at_gpu(std::uint32_t group, std::uint32_t slot, std::uint64_t holder) noexcept;

 private:
  struct Held {
    std::uint32_t slot = 0;
    std::uint64_t holder = 0;
  };
  struct Group {
    std::uint32_t offload = 100;
    const std::atomic<std::uint32_t>* measured = nullptr;  ///< says it in place of `offload`
    std::uint32_t credit = 0;  ///< percent saved up for the next batch to the GPU: 0..99
    std::vector<Held> held;    ///< circular, `spill` long; empty: the group shares nothing
    std::uint32_t first = 0, count = 0;
  };
  bool has_room(Group& group) noexcept;

  ActorContext context_;
  std::vector<Group> groups_;
};

}  // namespace millrace
