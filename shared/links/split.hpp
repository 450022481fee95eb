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
/// With `offload: auto` the supervisor says how many (offload_word.hpp), and each batch goes by
/// what it says at that moment.
///
/// What is still at the GPU the producer sees by the slots' `gpu_holder`, which the acceptor or
/// recovery takes away: oldest first, so it reads two lines a batch at most. A batch that is done
/// before an older one counts until that one is done. Allocates at construction only.

namespace millrace {

class Split {
 public:
  explicit Split(const ActorContext& context);

  /// False: what is alive of `group` gets everything.
  bool applies(std::uint32_t group) const noexcept { return !groups_[group].held.empty(); }
  /// Whether the next batch for `group`, which applies(), goes to the GPU.
  bool gpu_is_next(std::uint32_t group) noexcept;
  /// A batch went there; `holder` is what its slot's `gpu_holder` says.
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
