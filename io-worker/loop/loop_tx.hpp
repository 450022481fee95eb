// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "io-worker/ports/port.hpp"
#include "shared/actor/context.hpp"
#include "shared/actor/wake.hpp"
#include "shared/layout/loop_ring.hpp"

namespace millrace {

/// The transmit queue of one egress at a port of device `loop`: a ring to each of the port's
/// receive queues. A flow goes to one of them, both directions alike. The receiving side sees the
/// packets of send() from commit() on. send() takes only what finds room; while loops are cut
/// (StatusHeader::drained) it takes nothing, as a queue that has failed.
class LoopTxQueue final : public TxQueue, public TxCommit {
 public:
  /// `context`: the egress's.
  LoopTxQueue(const ActorContext& context, std::uint32_t port);

  std::uint32_t send(std::span<const TxPacket> packets) noexcept override;
  bool failed() const noexcept override;
  bool refused() const noexcept override { return refused_; }
  TxCommit* commits() noexcept override { return this; }

  void intend(std::uint32_t stream, std::uint32_t lane, std::uint64_t flips) noexcept override;
  void commit() noexcept override;
  void wake_readers() noexcept override { wakes_.send(context_); }

 private:
  struct Way {
    LoopRing ring;
    std::uint32_t ingress = 0;  ///< actor
    std::uint64_t head = 0;     ///< of the ring
    std::uint64_t put = 0;      ///< behind the newest packet that was taken
    std::uint64_t tail = 0;     ///< of the ring, when it was looked at last
  };
  Way& way_of(std::span<const std::byte> frame) noexcept;

  ActorContext context_;
  Wakes wakes_;
  std::vector<Way> ways_;  ///< by the port's receive queue
  bool refused_ = false;
};

}  // namespace millrace
