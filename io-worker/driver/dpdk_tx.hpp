// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "io-worker/driver/dpdk_process.hpp"
#include "io-worker/driver/dpdk_rx.hpp"
#include "shared/driver/pause.hpp"

namespace millrace {

/// Transmit queue of a DPDK port: sends buffers from the segment without a copy, each behind a
/// driver's header of this queue. Without a free header the queue is full.
class DpdkTx final : public TxQueue {
 public:
  /// `plan_port`: index in the plan. Everything borrowed.
  DpdkTx(DpdkProcess& process, const ActorContext& context, DpdkQueue queue,
         std::uint32_t plan_port);
  std::uint32_t send(std::span<const TxPacket> packets) noexcept override;
  bool reads_batches() const noexcept override { return true; }
  std::uint32_t send_of(const Batch& batch,
                        std::span<const std::uint16_t> packets) noexcept override;
  bool failed() const noexcept override { return false; }
  /// Asks the driver which packets it has sent, if the driver can say.
  void flush() noexcept override;
  void roster_moved() noexcept override;
  bool holds_buffers() const noexcept override { return true; }
  /// Gives buffers of all ports of this egress together.
  std::uint32_t reclaim(std::span<std::uint32_t> out) noexcept override {
    return process_.reclaim(out);
  }

 private:
  /// A packet, as its header describes it.
  struct Frame {
    std::uint32_t buffer;
    std::uint16_t offset, length;
  };
  template <typename FrameOf>
  std::uint32_t send_each(std::size_t count, const FrameOf& frame_of) noexcept;

  DpdkProcess& process_;
  std::uint32_t number_;             ///< in send_headers(plan)
  std::vector<rte_mbuf*>& headers_;  ///< free ones, the process's
  BufferArea area_;
  DpdkQueue queue_;
  PortPause pause_;
  bool emptied_ = false;  ///< the hub takes what the driver's ring holds
};

}  // namespace millrace
