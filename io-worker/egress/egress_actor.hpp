// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "io-worker/egress/burst_sender.hpp"
#include "io-worker/egress/held_packets.hpp"
#include "io-worker/egress/side_pool.hpp"
#include "io-worker/egress/side_work.hpp"
#include "io-worker/ports/port.hpp"
#include "shared/actor/run_loop.hpp"
#include "shared/actor/stage_work.hpp"
#include "shared/links/fetch_ahead.hpp"
#include "shared/links/hole_watch.hpp"
#include "shared/links/inbox.hpp"
#include "shared/links/order_window.hpp"
#include "shared/links/return_link.hpp"
#include "shared/links/step_times.hpp"

/// Egress: puts the batches of its streams back in sequence, transmits what passes, accounts for
/// every packet in the lane's ledger, gives buffers and slot back to the ingress.
///
/// Nothing is sent, counted or freed out of sequence. A full port is retried a bounded number of
/// times, then its packets are dropped as tx_full; a file is waited for. Copies, fragments and
/// packets that wait, which the batch asks for, take their turn among its packets (side_work.hpp).

namespace millrace {

class EgressActor : public Actor {
 public:
  /// `ports`: a queue for each port that this egress can reach; null elsewhere. `work` finishes the
  /// completions of GPU stages. Both borrowed. Each window starts after the last batch that the
  /// lane's ledger says has left.
  EgressActor(const ActorContext& context, TxQueues& ports, StageWork& work);
  /// `tell` is called once each time a port fails, with the cause. Without it no cause is told.
  void tell_by(TellTrouble tell) { tell_ = std::move(tell); }

  std::uint32_t do_work() noexcept override;
  bool has_work() noexcept override { return !inbox_.empty(); }
  void read_roster() noexcept override;
  void stop() noexcept override { stopping_ = true; }
  bool finished() noexcept override {
    return stopping_ && inbox_.empty() && window_.waiting() == 0 && held_.empty();
  }
  bool may_leave() noexcept override { return true; }
  void before_sleep() noexcept override;
  void take_stock(std::uint64_t now_tsc) noexcept override;

 private:
  static constexpr std::uint32_t kBatchesPerRound = 8;

  /// A batch that has left in this turn, for its latency. It counts as left at the end of the turn:
  /// one reading of the clock serves all of them.
  struct Released {
    std::uint64_t first_tsc;
    std::uint64_t stage_tsc;
    std::uint16_t stream;
    std::uint16_t lane;
    std::uint16_t count;  ///< packets: each has the batch's latency
    bool stand_in;
  };

  void accept(const Taken& taken) noexcept;
  void release(std::uint32_t slot) noexcept;
  void transmit(const Batch& batch, LaneRecord& record) noexcept;
  std::uint64_t now_ns() const noexcept;
  void show_released(std::uint32_t slot, const Batch& batch) const noexcept;
  void free_batch(std::uint32_t slot, const Batch& batch) noexcept;
  void remember(const SlotHeader& header) noexcept;
  void note_released() noexcept;
  void tell_trouble() noexcept;

  ActorContext context_;
  TxQueues& ports_;
  StageWork& work_;
  Inbox inbox_;
  OrderWindow window_;
  HoleWatch holes_;
  PeakMark window_high_;
  std::vector<std::uint8_t> outputs_;  ///< by stream and lane: port of packets without an output
  std::vector<bool> has_ticks_;        ///< by stream: of a loop with ticks
  SlotFetcher fetcher_;
  ReturnLinks returns_;
  TscScale scale_;
  StepTimes steps_;
  std::vector<PeakMark> latency_high_;  ///< by stream
  std::array<Released, 2 * kBatchesPerRound> released_;
  std::uint32_t released_count_ = 0;
  std::vector<std::uint32_t> paths_;  ///< by lane
  SidePool pool_;
  BurstSender sender_;
  HeldPackets held_;
  SideWork side_;
  std::array<bool, kPortCountMax> failed_{};  ///< ports that had at the last look
  std::array<bool, kPortCountMax> told_{};    ///< of these, those of which the reason was told
  TellTrouble tell_;
  bool stopping_ = false;
};

}  // namespace millrace
