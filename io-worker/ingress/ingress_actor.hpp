// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "io-worker/ingress/buffer_pool.hpp"
#include "io-worker/ingress/ingress_shares.hpp"
#include "io-worker/ingress/keeper_watch.hpp"
#include "io-worker/ingress/lane_choice.hpp"
#include "io-worker/ingress/lane_set.hpp"
#include "io-worker/ingress/queue_counts.hpp"
#include "io-worker/ingress/slot_stock.hpp"
#include "io-worker/ports/port.hpp"
#include "shared/actor/run_loop.hpp"
#include "shared/links/outbox.hpp"
#include "shared/links/step_times.hpp"

/// Ingress: one receive queue -> batches of its paths' lanes.
///
/// Each packet goes into the open slot of its lane (symmetric flow hash). A slot leaves when it is
/// full, when its lane has nothing in flight and the port nothing more for now (waiting would gain
/// nothing), after 4 rounds (more with so many lanes that a slot takes longer to fill), or when
/// free slots run short. While its lane has as many batches in flight as keep the workers busy
/// (lane_backlog.hpp), it leaves only when it is full: each batch costs a worker the same, however
/// few packets are in it, and one more would only wait behind the others (ingress_leave.cpp).
/// Sequence numbers are given when it leaves. Without a free slot nothing is polled: load is
/// refused here and nowhere else. A path that lets packets go past its functions when they are
/// overloaded may use its own slots only: beyond them its packets are refused, counted as received
/// and dropped at once, so that it neither stops the port nor takes the slots of other paths
/// (SlotStock).

namespace millrace {

class IngressActor : public Actor {
 public:
  /// `queue` is borrowed. Finds its slots and buffers by scanning, and the numbers to go on with;
  /// then tells the queue where to resume.
  IngressActor(const ActorContext& context, std::uint32_t stream, BufferPool& pool, RxQueue& queue);
  /// What hears of what the port's source has that is not read: at the first of it, and at the end
  /// of the source. Nothing is told without.
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
  struct Lane {
    std::uint16_t number = 0;  ///< of the topology
    std::uint8_t first_stage = 0;
    bool has_keys = false;         ///< of its path
    std::uint32_t slot = kNoSlot;  ///< open one
    std::uint32_t count = 0;
    std::uint32_t dropped = 0;  ///< of them
    std::uint32_t rounds = 0;   ///< since it was opened
    std::uint32_t backlog = 0;  ///< lane_backlog() of its path
    std::uint64_t first_ordinal = 0, last_ordinal = 0;
    std::uint64_t open_bytes = 0;
    std::uint64_t sequence = 0;                      ///< last one sealed
    std::uint64_t received = 0, received_bytes = 0;  ///< in sealed batches
    std::uint64_t wanted = 0;  ///< ordinals below it were sealed, or refused, by an earlier life
    std::uint16_t feed = 0;    ///< whose lane it is
    std::uint32_t path = 0;    ///< of the plan
    const Batch* batch = nullptr;  ///< the open slot's
  };
  /// A path that the stream feeds: its filter, and its lanes in lanes_.
  struct Feed {
    std::span<const std::uint64_t> filter;
    LaneChoice lanes;
    std::uint32_t lane_first;
  };
  /// Of one lane: packets that wait for their batch, in numbers_.
  struct Run {
    std::uint16_t begin = 0, end = 0;
  };
  struct Picked;
  static constexpr std::uint32_t kNoSlot = UINT32_MAX;
  static constexpr std::uint32_t kRoundsMin = 4;

  void find_lanes();
  void find_sequences();
  void share_positions() noexcept;
  std::uint32_t poll() noexcept;
  void show_polled() const noexcept;
  std::uint32_t place() noexcept;
  void place_in_one(std::uint64_t now) noexcept;
  void sort_polled() noexcept;
  template <typename LaneOf>
  void sort_polled_by(LaneOf&& lane_of) noexcept;
  std::uint32_t choose(const RxPacket& packet, std::span<const std::byte> bytes,
                       std::uint32_t number) noexcept;
  void place_sorted(std::uint64_t now) noexcept;
  bool is_old(const Lane& lane, const RxPacket& packet) const noexcept;
  template <typename Packets>
  std::uint32_t place_in(std::uint32_t number, const Packets& packets, std::uint64_t now) noexcept;
  template <typename Packets>
  void fill(Lane& lane, const Packets& packets) noexcept;
  template <typename Packets>
  [[gnu::cold, gnu::noinline]] void fill_odd(Lane& lane, const Packets& packets, bool cut) noexcept;
  bool refuses(const Lane& lane) noexcept;
  template <typename Packets>
  void refuse(const Lane& lane, const Packets& packets) noexcept;
  bool open(std::uint32_t number, const RxPacket& first, std::uint64_t now) noexcept;
  void seal(std::uint32_t number) noexcept;
  std::uint32_t leave_due() noexcept;
  bool is_due(std::uint32_t number, bool short_of_slots) const noexcept;
  bool waits_for_lane(std::uint32_t number) const noexcept;
  std::uint64_t ahead_of(std::uint32_t number) const noexcept;
  std::uint64_t in_flight_of(std::uint32_t number) const noexcept;
  void tell_progress() noexcept;
  void seal_all() noexcept;

  ActorContext context_;
  std::uint32_t stream_;
  BufferPool& pool_;
  RxQueue& queue_;
  Outbox outbox_;
  std::vector<Feed> feeds_;
  bool takes_all_ = true;  ///< one path, without a filter
  bool refusing_ = false;  ///< since this round, or the one before
  std::uint32_t lane_count_ = 0;
  std::uint32_t open_max_;  ///< lanes that can have an open slot at the same time
  SlotStock slots_;
  std::uint32_t lanes_waiting_ = 0;  ///< since the last round: open, held back by their backlog
  std::uint32_t burst_;
  std::uint32_t
      rounds_max_;  ///< in which a lane's open slot could have filled; kRoundsMin at least
  bool has_classes_;
  std::vector<Lane> lanes_;
  LaneSet open_;     ///< with a slot
  LaneSet touched_;  ///< received or sealed something since observers were told
  std::array<RxPacket, kBurstMax> polled_;
  std::uint32_t placed_ = 0, polled_count_ = 0;  ///< between the two: wait for a slot
  // Of several lanes: what was polled, by lane.
  bool sorted_ = false;                          ///< since the last poll
  std::array<std::uint8_t, kBurstMax> numbers_;  ///< in polled_, lane after lane
  std::array<Run, kLaneCountMax> runs_;          ///< by lane
  LaneSet to_place_;                             ///< with a run that is not empty
  std::array<bool, kBurstMax> without_path_{};   ///< by number in polled_
  bool some_without_path_ = false;
  std::uint64_t next_ordinal_ = 0;   ///< below it nothing waits for a slot
  std::uint64_t told_position_ = 0;  ///< that the next life begins with
  std::uint64_t resumed_at_ = 0;     ///< highest `wanted`: above it no packet can be an old one
  QueueCounts counts_;
  TscScale scale_;
  StepTimes steps_;
  PeakMark rate_, slots_used_;
  std::uint64_t polled_total_ = 0;                  ///< packets
  std::uint64_t stock_tsc_ = 0, stock_polled_ = 0;  ///< when stock was taken last
  bool stopping_ = false;
  bool resting_ = false;  ///< this round: the topology is drained, the port is left alone
  IngressShares shares_;
  KeeperWatch keepers_;
};

}  // namespace millrace
