// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io-worker/ingress/buffer_pool.hpp"
#include "io-worker/ingress/ingress_shares.hpp"
#include "io-worker/ingress/lane_set.hpp"
#include "io-worker/ingress/path_lanes.hpp"
#include "io-worker/ingress/polled_packets.hpp"
#include "io-worker/ingress/slot_stock.hpp"
#include "shared/links/outbox.hpp"
#include "shared/links/step_times.hpp"

/// The lanes of one stream and their open batches: opens, fills, seals and sends them, and decides
/// when a batch that is not full leaves.
///
/// A slot leaves when it is full, when its lane has nothing in flight and the port nothing more for
/// now (waiting would gain nothing), after 4 rounds (more with so many lanes that a slot takes
/// longer to fill), or when free slots run short. While its lane has as many batches in flight as
/// keep the workers busy (lane_backlog.hpp), it leaves only when it is full: each batch costs a
/// worker the same, however few packets are in it, and one more would only wait behind the others.
/// How much of a lane is in flight stands in the egress's ledger, in a cache line of another core:
/// it is read only when the answer matters. A batch gets its sequence number when it leaves.

namespace millrace {

class LaneBatches {
 public:
  /// What an ingress works with, all of it borrowed.
  struct Parts {
    PathLanes& paths;
    SlotStock& slots;
    const PolledPackets& polled;
    BufferPool& pool;
    Outbox& outbox;
  };
  /// Position and number of the packets in open batches.
  struct Open {
    std::uint64_t first_ordinal;  ///< UINT64_MAX: none is open
    std::uint64_t packets;
  };

  /// Finds the numbers to go on with, and tells the outbox. `burst`: packets that a poll has at
  /// most.
  LaneBatches(const ActorContext& context, std::uint32_t stream, const Parts& parts,
              std::uint32_t burst);

  /// Called at the start of a round. Collects returned slots when few are left or some were missed.
  void begin_round() noexcept;
  /// Packets of one lane, in ascending order of their ordinals. Returns how many it has dealt with:
  /// fewer than all when there is no free slot for the rest.
  std::uint32_t place(std::uint32_t number, std::span<const RxPacket> packets,
                      std::uint64_t now) noexcept;
  std::uint32_t place(std::uint32_t number, const PickedPackets& packets,
                      std::uint64_t now) noexcept;
  /// Packets that fit into the lane's open slot, or into a new one.
  std::uint32_t room_in(std::uint32_t number) const noexcept {
    return context_.segment.capacity() - lanes_[number].count;
  }
  /// True when each header must be read for the key of its flow.
  bool has_keys(std::uint32_t number) const noexcept { return lanes_[number].has_keys; }

  /// Called once a round. Sends the batches that are due; with `all`, every open batch.
  /// `more_waits`: the next poll fills open batches. Returns how many have left.
  std::uint32_t leave_due(bool all, bool more_waits) noexcept;
  /// Seals all open batches, and tells `shares` the last sequence number of each lane.
  void seal_all(IngressShares& shares) noexcept;

  /// True when an open batch waits for something else than a release by the egress, which wakes
  /// this ingress.
  bool has_due(bool all) const noexcept;
  /// True when the backlog of their lane has held batches back since the last round.
  bool some_wait() const noexcept { return waiting_ != 0; }
  /// True when no batch is open and all sealed batches have left the egress.
  bool all_left() const noexcept;
  /// Publishes, for observers, the counts of lanes that changed since the last call.
  Open tell() noexcept;
  /// Called now and then: sets which share of the batches is timed, by how many there were.
  void take_stock(std::uint64_t now_tsc) noexcept { steps_.take_stock(now_tsc); }

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
    std::uint16_t feed = 0;    ///< that the lane is of
    std::uint32_t path = 0;    ///< of the plan
    const Batch* batch = nullptr;  ///< the open slot's
  };
  static constexpr std::uint32_t kNoSlot = UINT32_MAX;

  void make_lanes();
  void find_sequences();
  void share_positions() noexcept;
  bool is_old(const Lane& lane, const RxPacket& packet) const noexcept {
    return packet.ordinal < resumed_at_ && packet.ordinal < lane.wanted;
  }
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
  bool is_due(std::uint32_t number, bool short_of_slots, bool more_waits) const noexcept;
  bool waits_for_lane(std::uint32_t number) const noexcept;
  std::uint64_t ahead_of(std::uint32_t number) const noexcept;
  std::uint64_t in_flight_of(std::uint32_t number) const noexcept;

  ActorContext context_;
  std::uint32_t stream_;
  PathLanes& paths_;
  SlotStock& slots_;
  const PolledPackets& polled_;
  BufferPool& pool_;
  Outbox& outbox_;
  StepTimes steps_;
  std::uint32_t rounds_max_;  ///< in which a lane's open slot could have filled
  bool has_classes_;
  bool refusing_ = false;  ///< since this round, or the one before
  std::vector<Lane> lanes_;
  LaneSet open_;                  ///< with a slot
  LaneSet touched_;               ///< received or sealed something since observers were told
  std::uint32_t waiting_ = 0;     ///< since the last round: open, held back by their backlog
  std::uint64_t resumed_at_ = 0;  ///< highest `wanted`: above it no packet can be an old one
};

}  // namespace millrace
