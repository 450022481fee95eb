// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "io-worker/loop/loop_ticker.hpp"
#include "io-worker/ports/port.hpp"
#include "shared/actor/context.hpp"
#include "shared/layout/loop_ring.hpp"

namespace millrace {

/// A receive queue of a port of device `loop`: a ring from each egress, and one of its own ticks. A
/// packet gets its number in its ring entry when it is read, and stays there until it is in a
/// sealed batch; so the next process reads the unsealed packets again, with the same numbers and in
/// the same order. Packets of one egress keep their order.
class LoopRxQueue final : public RxQueue {
 public:
  /// `stream`: of such a port.
  LoopRxQueue(const ActorContext& context, std::uint32_t stream);

  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override;
  void resume(std::uint64_t first_wanted) noexcept override;
  void release_below(std::uint64_t ordinal) noexcept override;
  /// True when no packet waits now; the egresses wake this ingress.
  bool exhausted() const noexcept override { return !has_waiting(); }
  bool has_waiting() const noexcept override;
  bool reads_when_drained() const noexcept override { return true; }
  void rest() noexcept override { rests_ = true; }
  std::uint64_t next_ready_ns() const noexcept override { return 0; }
  int wait_descriptor() noexcept override { return -1; }
  std::uint32_t held() const noexcept override { return 0; }
  std::string remark() const override;

 private:
  struct Way {
    LoopRing ring;
    std::uint64_t tail = 0;       ///< of the ring
    std::uint64_t read = 0;       ///< behind the newest packet that this life has read
    std::uint64_t again_end = 0;  ///< behind the newest one that the last life has read
    std::uint64_t head = 0;       ///< of the ring, when it was looked at last
    bool ticks = false;           ///< that are born here; the others come from egresses
  };
  std::uint32_t poll_way(Way& way, BufferSource& pool, std::span<RxPacket> out) noexcept;
  std::uint32_t poll_again(BufferSource& pool, std::span<RxPacket> out) noexcept;
  static bool receive(Way& way, BufferSource& pool, RxPacket& out) noexcept;

  std::vector<Way> ways_;
  LoopTicker ticker_;
  bool rests_ = false;       ///< in this round no tick is made
  std::size_t turn_ = 0;     ///< which of them is polled first
  std::uint32_t again_ = 0;  ///< packets of the last life that are still to be read
  std::uint32_t resumed_ = 0;
  std::uint64_t next_ordinal_ = 0;
};

}  // namespace millrace
