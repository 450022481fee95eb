// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io-worker/egress/side_pool.hpp"
#include "io-worker/ports/port.hpp"
#include "shared/actor/context.hpp"
#include "shared/layout/status_file.hpp"
#include "shared/links/return_link.hpp"

namespace millrace {

/// Gathers the packets of one batch, port by port, sends them, and counts each in the lane's
/// record: transmitted, or dropped with its reason. A full port is retried a bounded number of
/// times; a file is waited for. Packets of a port keep their order.
///
/// A queue may keep what was sent (a driver's ring): such buffers are marked as in the queue before
/// it gets them, do not go back with their slot, and go home when it gives them up.
class BurstSender {
 public:
  /// `ports`: a queue for each port that this egress can reach; null elsewhere. All borrowed.
  BurstSender(const ActorContext& context, TxQueues& ports, ReturnLinks& returns, SidePool& pool);

  /// Packets added from here on belong to this batch and record; both stay until send_all().
  void begin(const Batch& batch, LaneRecord& record) noexcept;
  /// The same without a batch, for packets of the pool alone.
  void begin(LaneRecord& record) noexcept;
  bool reaches(std::uint8_t port) const noexcept {
    return port < kPortCountMax && bursts_[port] != nullptr;
  }
  /// A packet of the batch; `port` is one that it reaches.
  void add(std::uint32_t packet, std::uint8_t port) noexcept {
    Burst& burst = *bursts_[port];
    if (burst.tagged || burst.count - 1 >= kBatchCapacityMax - 1) [[unlikely]] {
      add_carefully(packet, port);  // the first too
      return;
    }
    burst.index[burst.count++] = static_cast<std::uint16_t>(packet);
  }
  /// A packet of the pool; the sender frees its buffer, or the queue that keeps it does.
  void add_side(std::uint32_t buffer, std::span<const std::byte> bytes, std::uint8_t port) noexcept;
  void send_all() noexcept;
  /// In place of add() and add_side(), when every packet of the batch leaves by one reachable port
  /// and nothing else was added: the queue reads the batch itself.
  void send_whole(std::uint8_t port) noexcept;
  /// Publishes the ledger's record of begin(). Packets sent to loops become readable with it.
  void publish(std::uint32_t stream, std::uint32_t lane) noexcept;
  /// Once a round, at its start.
  void wake_readers() noexcept {
    for (TxCommit* const loop : loops_) loop->wake_readers();
  }

  /// Writes the batch's buffers that no queue has kept to `rest`; returns how many.
  std::uint32_t not_kept(const Batch& batch, std::span<std::uint32_t> rest) noexcept;
  bool kept_any() const noexcept { return kept_count_ != 0; }
  /// Takes back what queues have given up.
  std::uint32_t reclaim() noexcept;
  bool holds() const noexcept { return !holding_.empty(); }

 private:
  static constexpr std::uint32_t kTxRetriesMax = 64;
  static constexpr std::uint32_t kReclaimMax = 256;     ///< buffers at a time
  static constexpr std::uint16_t kOfPool = UINT16_MAX;  ///< instead of a number in the batch

  /// The VLAN tags of a port's frames, which follow the MAC addresses.
  struct Tags {
    std::uint8_t link = 0;  ///< the port by which it leaves; mostly itself
    std::uint8_t bytes = 0;
    std::array<std::byte, 8> content{};
  };

  /// Bytes of the pool that leave as a packet.
  struct SidePacket {
    std::uint32_t buffer = 0;
    std::span<const std::byte> bytes;
  };

  /// A reachable port, and the packets that are to leave by it.
  struct Burst {
    bool tagged = false;    ///< frames get Tags
    bool held = false;      ///< the port's queue holds buffers
    bool has_side = false;  ///< a packet of the pool is among them
    std::uint32_t count = 0;
    std::array<std::uint16_t, kBatchCapacityMax> index;  ///< in the batch; kOfPool
    std::array<SidePacket, kBatchCapacityMax> side;      ///< at the places of kOfPool
  };

  /// Packets of a burst, or of a whole batch: their numbers in the batch, or kOfPool.
  struct Load {
    const Burst& burst;
    std::span<const std::uint16_t> index;
  };

  void push_tags(std::byte* frame, const Tags& tags) const noexcept;
  void add_carefully(std::uint32_t packet, std::uint8_t port) noexcept;
  Burst& burst_for(std::uint8_t port) noexcept;
  void send_burst(std::uint8_t port) noexcept;
  void send(std::uint8_t port, const Load& load) noexcept;
  TxPacket packet_at(const Load& load, std::size_t at) const noexcept;
  std::uint64_t bytes_of(const Load& load) const noexcept;
  /// Returns its bytes.
  std::uint64_t drop(const Load& load, std::size_t at, Reason why) noexcept;
  void show_sent(const Load& load, std::uint8_t port, std::size_t first,
                 std::uint32_t count) const noexcept;
  void mark_held(const Load& load) noexcept;
  void sent(const Load& load, std::size_t first, std::uint32_t count) noexcept;
  std::uint32_t reclaim(TxQueue& queue) noexcept;
  std::span<const std::uint32_t> put_side(std::span<std::uint32_t> buffers) noexcept;

  ActorContext context_;
  TxQueues& ports_;
  ReturnLinks& returns_;
  SidePool& pool_;
  const Batch* batch_ = nullptr;
  LaneRecord* record_ = nullptr;
  std::array<Tags, kPortCountMax> tags_;        ///< by port
  std::vector<std::unique_ptr<Burst>> bursts_;  ///< by port
  std::vector<std::uint8_t> used_;              ///< ports with a burst that is not sent yet
  std::vector<std::uint8_t> holding_;           ///< ports whose queue holds buffers
  std::vector<TxCommit*> loops_;
  std::array<TxPacket, kBatchCapacityMax> packets_;  ///< of a load whose queue reads no batches
  std::uint32_t kept_count_ = 0;                ///< packets of the present batch in such queues
  std::array<bool, kBatchCapacityMax> kept_{};  ///< by packet of the present batch
};

}  // namespace millrace
