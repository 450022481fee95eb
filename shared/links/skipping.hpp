// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "shared/actor/context.hpp"

/// A stage that a batch does not visit: no worker of its group is alive (`unavailable`), or the
/// producer's share of it is used up (`overload`). The producer does what the functions of the
/// stage ask for, then hands the batch to the following stage.
///
/// A producer sees by the slots what it has in a stage: a batch is there until its slot is held for
/// the next stage, wherever it is meanwhile: in a link, an order window, a worker's hands, at a
/// GPU, on its way back from a dead worker. It reads the slots only when the share seems used up.
///
/// A stage with state still sees every sequence number: the producer notes the batch's number in
/// the lane's window, and the next producer or worker there goes on after it. Noted numbers stay,
/// so a producer may die anywhere: if the batch still comes to the worker, that passes it on
/// untouched.

namespace millrace {

/// Notes that the batch of this sequence does not come. Afterwards the window's `released` is past
/// it, unless an earlier number is still awaited.
void skip_in_window(const SegmentView& segment, std::uint32_t stage,
                    const SlotHeader& batch) noexcept;
/// The worker has worked on the batch of this sequence, which was the next.
inline void release_in_window(const SegmentView& segment, LaneWindow& window,
                              std::uint64_t sequence) noexcept {
  const bool notes = segment.layout().skip_depth != 0;
  window.released.store(sequence, notes ? std::memory_order_seq_cst : std::memory_order_release);
}
/// Moves `released` over noted numbers; returns the last one released.
std::uint64_t released_in_window(const SegmentView& segment, std::uint32_t stage,
                                 std::uint32_t stream, std::uint32_t lane) noexcept;
/// True when the number was noted.
bool is_skipped(const SegmentView& segment, std::uint32_t stage, const SlotHeader& batch) noexcept;

/// Decides and does it, for one producer. Allocates at construction only.
class Skipping {
 public:
  explicit Skipping(const ActorContext& context);
  /// False: no stage of the plan is ever skipped.
  bool possible() const noexcept { return possible_; }
  /// Called after the roster has moved: reads which groups are alive.
  void read_roster() noexcept;
  /// Returns the stage to which the batch really goes: `stage`, or a later one. The slot is ours
  /// and held for `stage`; afterwards it is held for the returned stage, and has a place in it.
  std::uint8_t enter(std::uint32_t slot, std::uint8_t stage) noexcept;
  /// The same for a batch that has a place in `stage` and waits for a taker.
  std::uint8_t enter_again(std::uint32_t slot, std::uint8_t stage) noexcept;

 private:
  /// The batches that this producer has in a stage, or had.
  struct Share {
    std::vector<std::uint64_t> words;  ///< descriptors, the oldest first; PlanStage::share at most
    std::vector<std::uint32_t> of_lane;  ///< how many of them, by lane
    std::vector<std::uint16_t> lane;     ///< of each word
    std::uint32_t count = 0;
    std::uint32_t next = 0;  ///< of the words: the one to look at behind the oldest
  };
  static constexpr std::uint32_t kLooksMax = 16;  ///< at words, for one batch

  bool unavailable(std::uint8_t stage) const noexcept {
    return goes_on_without_[stage] && !alive_[context_.plan->stages[stage].group];
  }
  bool admit(std::uint32_t slot, std::uint8_t stage) noexcept;
  bool is_in(std::uint64_t word, std::uint8_t stage) const noexcept;
  /// Forgets the word `at`, if its batch has left the stage.
  bool forget_if_left(Share& share, std::uint8_t stage, std::uint32_t at) noexcept;
  std::uint8_t skip(std::uint32_t slot, std::uint8_t stage, SkipReason why) noexcept;

  ActorContext context_;
  bool possible_ = false;
  std::vector<bool> goes_on_without_;  ///< by stage: no function of it waits
  std::vector<bool> alive_;            ///< by group, stand-ins included
  std::vector<Share> shares_;          ///< by stage; without words: any number
};

}  // namespace millrace
