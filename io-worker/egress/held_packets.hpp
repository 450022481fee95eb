// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "io-worker/egress/burst_sender.hpp"
#include "io-worker/egress/side_pool.hpp"
#include "shared/actor/context.hpp"

namespace millrace {

/// Packets that wait for a neighbour's MAC address (SideKind::kHold), in buffers of the egress's
/// pool, in the order of their arrival. They are in flight: their lane's ledger counts them as
/// consumed, and as generated again when they leave or are dropped. So the successor of a killed
/// egress knows from the ledger how many packets were lost with it.
///
/// RFC 1122 2.3.2.2: at least the latest packet is kept, and the queue of a neighbour is bounded.
class HeldPackets {
 public:
  /// Packets that may wait for one neighbour. A further packet makes the oldest one drop.
  static constexpr std::uint32_t kPerNeighbourMax = 32;
  /// The same once a quarter of the pool waits, so that absent neighbours leave room for others.
  static constexpr std::uint32_t kPerNeighbourScarce = 3;
  /// At most 1/kPoolShare of the pool waits: fragments, and answers and questions to neighbours
  /// that are there, need buffers of it too.
  static constexpr std::uint32_t kPoolShare = 2;
  /// The longest wait of a packet. A neighbour fails earlier, when it has been asked three times.
  static constexpr std::uint64_t kWaitNs = 10'000'000'000;

  HeldPackets(const ActorContext& context, BurstSender& sender, SidePool& pool);

  /// The MAC address of the record's neighbour, if it is known and no packet waits for it: then a
  /// further packet need not wait. The caller asks the neighbour where the answer says so.
  NeighbourAnswer look_up(const SideRecord& record, std::uint64_t now_ns) const noexcept;
  /// Copies the packet in and returns kHeld: its batch consumes it. Otherwise does nothing and
  /// returns why: kNoBuffer, kHoldFull. `bytes`: the record's. `now_ns`: since the topology
  /// started.
  Reason hold(const Batch& batch, const SideRecord& record, std::span<const std::byte> bytes,
              std::uint64_t now_ns) noexcept;
  /// Sends the packets of neighbours that have answered, drops those of neighbours that have not
  /// answered in time, and asks again when it is due. Called before a batch is released, so that no
  /// packet overtakes one that waits, and when idle.
  void tend(std::uint64_t now_ns) noexcept;
  /// Drops all that wait: the topology ends.
  void give_up() noexcept;
  bool empty() const noexcept { return held_.empty(); }
  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(held_.size()); }

 private:
  struct Held {
    std::uint32_t buffer;
    NeighbourHandle neighbour;
    std::uint64_t since_ns;
    std::uint16_t stream, lane;
    std::uint16_t length;
    std::uint16_t ask, report;  ///< of `bytes`
    std::uint16_t quoted, mtu;
    std::uint8_t port, back;
    bool too_many;  ///< a later packet has taken its place
    std::array<std::byte, kHoldBytesMax> bytes;
  };

  bool is_over(const Held& held, std::uint64_t now_ns) noexcept;
  void ask(const Held& held, const MacAddress* mac) noexcept;
  void leave(const Held& held, const MacAddress& mac) noexcept;
  void fail(const Held& held, Reason why) noexcept;
  void report(const Held& held, LaneRecord& record) noexcept;
  std::uint32_t waiting() const noexcept { return count() - too_many_; }
  bool has_waiting(NeighbourHandle neighbour) const noexcept;
  void make_place(NeighbourHandle neighbour) noexcept;

  ActorContext context_;
  BurstSender& sender_;
  SidePool& pool_;
  NeighbourTableView neighbours_;
  std::uint32_t most_;                    ///< packets that may wait: the share of the pool
  std::uint32_t too_many_ = 0;            ///< packets of held_ that wait no more
  std::vector<Held> held_;                ///< twice as many at most
  std::vector<NeighbourHandle> staying_;  ///< a packet of theirs went on to wait in this tend()
};

}  // namespace millrace
