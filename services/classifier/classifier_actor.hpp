// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "shared/actor/run_loop.hpp"
#include "shared/actor/stage_work.hpp"
#include "shared/links/fetch_ahead.hpp"
#include "shared/links/hole_watch.hpp"
#include "shared/links/inbox.hpp"
#include "shared/links/order_window.hpp"
#include "shared/links/outbox.hpp"
#include "shared/links/step_times.hpp"

/// Classifier: takes a batch, runs the functions of its stage over all of it, hands it to the
/// following stage. One batch in hand at a time, so that its death costs one batch at most. Before
/// a stage with state, batches wait in a window until it is their turn; the next number lies with
/// the lane in shared memory.

namespace millrace {

class ClassifierActor : public Actor {
 public:
  /// `work` is borrowed.
  ClassifierActor(const ActorContext& context, StageWork& work);

  std::uint32_t do_work() noexcept override;
  bool has_work() noexcept override { return !inbox_.empty(); }
  void read_roster() noexcept override;
  void stop() noexcept override { stopping_ = true; }
  bool finished() noexcept override {
    return stopping_ && inbox_.empty() && window_.waiting() == 0 && outbox_.pending() == 0;
  }
  bool may_leave() noexcept override { return true; }
  void take_stock(std::uint64_t now_tsc) noexcept override;

 private:
  static constexpr std::uint32_t kBatchesPerRound = 4;
  static constexpr std::uint32_t kRecheckRounds = 64;
  static constexpr std::uint32_t kNoSlot = UINT32_MAX;

  void look_ahead() noexcept;
  void fetch_next_packets() noexcept;
  void process(const Taken& taken) noexcept;
  void enter_in_sequence(std::uint32_t slot, std::uint8_t stage) noexcept;
  void run(std::uint32_t slot, std::uint8_t stage) noexcept;
  void run_with_state(std::uint32_t slot, std::uint8_t stage, LaneWindow& window) noexcept;
  void pass_on(std::uint32_t slot, const Batch& batch, std::uint8_t stage) noexcept;
  std::uint32_t recheck_windows() noexcept;
  std::uint32_t row_of(std::uint8_t stage, std::uint32_t stream) const noexcept;

  ActorContext context_;
  StageWork& work_;
  Inbox inbox_;
  Outbox outbox_;
  std::vector<std::uint8_t> stateful_stages_;  ///< in the order of their rows in the window
  OrderWindow window_;
  HoleWatch holes_;
  PeakMark window_high_;
  StepTimes steps_;
  std::uint64_t stand_in_ticks_ = 0;  ///< of the last batch computed in a GPU's place and timed
  SlotFetcher fetcher_;
  std::uint32_t next_ = kNoSlot;  ///< of the batch behind the one in hand, when it was seen
  std::uint32_t packets_ahead_ = kNoSlot;  ///< the slot of which the first packets were asked for
  std::uint32_t rounds_to_recheck_ = 0;    ///< of the lanes' next numbers, while batches wait
  bool stopping_ = false;
};

}  // namespace millrace
