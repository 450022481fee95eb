// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "io-worker/ports/port.hpp"
#include "shared/actor/run_loop.hpp"
#include "shared/actor/stage_work.hpp"
#include "shared/links/hole_watch.hpp"
#include "shared/links/inbox.hpp"
#include "shared/links/order_window.hpp"
#include "shared/links/return_link.hpp"

/// Egress: puts the batches of its streams back in sequence, transmits what passes, accounts for
/// every packet in the lane's ledger, gives buffers and slot back to the ingress.
///
/// Nothing is sent, counted or freed out of sequence. A full port is retried a bounded number of
/// times, then its packets are dropped as tx_full; a file is waited for.
///
/// A queue may keep what was sent (a driver's ring): such buffers are marked as in the queue before
/// it gets them, do not go back with their slot, and go home when it gives them up.

namespace millrace {

class EgressActor : public Actor {
 public:
  /// `ports`: a queue for each port that this egress can reach; null elsewhere. `work` finishes the
  /// completions of GPU stages. Both borrowed. Windows start behind what the ledgers say has left.
  EgressActor(const ActorContext& context, TxQueues& ports, StageWork& work);
  /// What hears why a port has failed, once each time. Nothing is told without.
  void tell_by(TellTrouble tell) { tell_ = std::move(tell); }

  std::uint32_t do_work() noexcept override;
  bool has_work() noexcept override { return !inbox_.empty(); }
  void read_roster() noexcept override;
  void stop() noexcept override { stopping_ = true; }
  bool finished() noexcept override {
    return stopping_ && inbox_.empty() && window_.waiting() == 0;
  }
  bool may_leave() noexcept override { return true; }
  void before_sleep() noexcept override;
  void take_stock(std::uint64_t now_tsc) noexcept override;

 private:
  static constexpr std::uint32_t kBatchesPerRound = 8;
  static constexpr std::uint32_t kTxRetriesMax = 64;
  static constexpr std::uint32_t kReclaimMax = 256;  ///< buffers at a time

  /// Packets of one batch for one port.
  struct Burst {
    std::uint32_t count = 0;
    std::uint64_t bytes = 0;
    bool held = false;  ///< the port's queue holds buffers
    std::array<TxPacket, kBatchCapacityMax> packets;
    std::array<std::uint16_t, kBatchCapacityMax> index;  ///< in the batch
  };

  /// What the latency of a batch that has left in this turn is reckoned from. The end of the turn
  /// is taken for when it left: one reading of the clock for all of them.
  struct Released {
    std::uint64_t first_tsc;
    std::uint64_t stage_tsc;
    std::uint16_t stream;
    std::uint16_t lane;
    bool stand_in;
  };

  void accept(const Taken& taken) noexcept;
  void release(std::uint32_t slot) noexcept;
  void transmit(const Batch& batch, LaneRecord& record) noexcept;
  void send_burst(const Batch& batch, std::uint8_t port, LaneRecord& record) noexcept;
  void show_sent(const Burst& burst, std::uint8_t port, std::uint32_t first,
                 std::uint32_t count) const noexcept;
  void show_released(std::uint32_t slot, const Batch& batch) const noexcept;
  void mark_held(const Burst& burst) noexcept;
  void keep(const Burst& burst, std::uint32_t first, std::uint32_t count) noexcept;
  void free_batch(std::uint32_t slot, const Batch& batch) noexcept;
  void free_rest(std::uint32_t slot, const Batch& batch) noexcept;
  std::uint32_t reclaim() noexcept;
  std::uint32_t reclaim(TxQueue& queue) noexcept;
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
  std::uint32_t bytes_read_;
  ReturnLinks returns_;
  TscScale scale_;
  std::vector<PeakMark> latency_high_;  ///< by stream
  std::array<Released, 2 * kBatchesPerRound> released_;
  std::uint32_t released_count_ = 0;
  std::vector<std::uint32_t> paths_;            ///< by lane
  std::vector<std::unique_ptr<Burst>> bursts_;  ///< by port
  std::vector<std::uint8_t> used_;              ///< ports with a burst in the present batch
  std::vector<std::uint8_t> holding_;           ///< ports whose queue holds buffers
  std::uint32_t kept_count_ = 0;                ///< packets of the present batch in such queues
  std::array<bool, kBatchCapacityMax> kept_{};  ///< by packet of the present batch
  std::array<bool, kPortCountMax> told_{};      ///< ports that have failed, as told
  TellTrouble tell_;
  bool stopping_ = false;
};

}  // namespace millrace
