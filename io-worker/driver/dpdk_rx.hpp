// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "io-worker/driver/dpdk_process.hpp"
#include "shared/base/clock.hpp"
#include "shared/driver/pause.hpp"

namespace millrace {

/// A queue, in the numbers of DPDK.
struct DpdkQueue {
  std::uint16_t port = 0;
  std::uint16_t queue = 0;
  bool reconnects = false;  ///< memif: each process finds the rings anew when the link comes back

  /// Called when nothing moves, and often enough that a link that was down is not overlooked.
  void look_at_link() const noexcept;
};

/// Receive queue of a DPDK port. A packet stays in the buffer that the driver filled. A packet in
/// several buffers is put together in the first, or marked oversize if it does not fit there.
class DpdkRx final : public RxQueue {
 public:
  /// `plan_port`: index in the plan. Everything borrowed.
  DpdkRx(DpdkProcess& process, const ActorContext& context, DpdkQueue queue,
         std::uint32_t plan_port);
  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override;
  /// A device does not repeat packets: their numbers begin above all that any lane has had.
  void resume(std::uint64_t first_wanted) noexcept override {
    next_ordinal_ = first_wanted + kBufferCountMax;
  }
  bool exhausted() const noexcept override { return false; }
  std::uint64_t next_ready_ns() const noexcept override { return 0; }
  int wait_descriptor() noexcept override { return -1; }
  void roster_moved() noexcept override { queue_.look_at_link(); }
  std::uint32_t held() const noexcept override { return process_.held(); }
  /// The device's own counts (imissed, rx_nombuf), which queue 0 reports for all queues.
  std::uint64_t missed() const noexcept override { return missed_; }
  std::uint64_t errors() const noexcept override { return errors_; }

  /// A received packet as the ingress sees it.
  RxPacket packet_of(rte_mbuf* mbuf) noexcept;

 private:
  void read_packet(rte_mbuf* mbuf, RxPacket& out) noexcept;
  /// For a packet in several buffers. Few are: this code stays out of the path of the others.
  [[gnu::cold, gnu::noinline]] void put_together(rte_mbuf* mbuf, RxPacket& packet) const noexcept;
  void read_counts() noexcept;

  DpdkProcess& process_;
  DpdkQueue queue_;
  PortPause pause_;
  std::uint32_t stride_;
  std::uint64_t count_ticks_, counted_at_ = 0;
  std::uint64_t missed_seen_ = 0, errors_seen_ = 0;  ///< of the device, when it was asked last
  std::uint64_t missed_ = 0, errors_ = 0;
  std::uint64_t next_ordinal_ = 0;
  std::array<rte_mbuf*, kBurstMax> burst_{};
};

}  // namespace millrace
