// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "io-worker/ingress/buffer_pool.hpp"
#include "io-worker/ingress/ingress_shares.hpp"
#include "io-worker/ingress/keeper_watch.hpp"
#include "io-worker/ingress/lane_batches.hpp"
#include "io-worker/ingress/path_lanes.hpp"
#include "io-worker/ingress/polled_packets.hpp"
#include "io-worker/ingress/queue_counts.hpp"
#include "io-worker/ingress/slot_stock.hpp"
#include "io-worker/ports/port.hpp"
#include "shared/actor/run_loop.hpp"
#include "shared/links/outbox.hpp"

/// Ingress: one receive queue -> batches of its paths' lanes.
///
/// A round polls (PolledPackets), puts each packet into the open batch of its lane (PathLanes,
/// LaneBatches; symmetric flow hash), sends the batches that are due, and publishes where the next
/// process begins. Without a free slot (SlotStock) nothing is polled: load is refused only here. A
/// path of which packets may skip overloaded functions uses its own slots only: further packets are
/// refused, that is counted as received and dropped at once, so that the path neither stops the
/// port nor takes the slots of other paths.

namespace millrace {

class IngressActor : public Actor {
 public:
  /// `queue` is borrowed. Finds its slots and buffers by scanning, and the numbers to go on with;
  /// then tells the queue where to resume.
  IngressActor(const ActorContext& context, std::uint32_t stream, BufferPool& pool, RxQueue& queue);
  /// `tell` is called with the packets of the port's source that cannot be read: at the first of
  /// them, and at the end of the source. Without it they are not told.
  void tell_by(TellTrouble tell) { counts_.tell_by(std::move(tell)); }

  std::uint32_t do_work() noexcept override;
  bool has_work() noexcept override;
  void read_roster() noexcept override {
    outbox_.read_roster();
    queue_.roster_moved();
  }
  void stop() noexcept override { stopping_ = true; }
  bool finished() noexcept override;
  std::uint64_t idle_ns() const noexcept override;
  int wait_descriptor() noexcept override;
  void take_stock(std::uint64_t now_tsc) noexcept override;

 private:
  bool leaves_all() const noexcept { return stopping_ || resting_; }
  std::uint32_t poll() noexcept;
  void show_polled() const noexcept;
  std::uint32_t place() noexcept;
  void place_in_one(std::uint64_t now) noexcept;
  void tell_progress() noexcept;

  ActorContext context_;
  std::uint32_t stream_;
  BufferPool& pool_;
  RxQueue& queue_;
  Outbox outbox_;
  PathLanes paths_;
  SlotStock slots_;
  PolledPackets polled_;
  std::uint32_t burst_;
  LaneBatches batches_;
  QueueCounts counts_;
  IngressShares shares_;
  KeeperWatch keepers_;
  std::uint64_t told_position_ = 0;  ///< at which the next process begins
  TscScale scale_;
  PeakMark rate_, slots_used_;
  std::uint64_t polled_total_ = 0;                  ///< packets
  std::uint64_t stock_tsc_ = 0, stock_polled_ = 0;  ///< when stock was taken last
  bool stopping_ = false;
  bool resting_ = false;  ///< this round: the topology is drained, the port is left alone
};

}  // namespace millrace
