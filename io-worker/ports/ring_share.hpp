// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/packet_ring.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {

/// The memory that the kernel fills for a packet socket, as this process sees it.
class RingMemory {
 public:
  RingMemory() = default;
  /// Empty when the socket has no ring of that size.
  RingMemory(const UniqueFd& socket, std::size_t bytes) noexcept;
  RingMemory(RingMemory&& other) noexcept;
  RingMemory& operator=(RingMemory&& other) noexcept;
  RingMemory(const RingMemory&) = delete;  // two owners would unmap it twice
  RingMemory& operator=(const RingMemory&) = delete;
  ~RingMemory();
  std::byte* base() const { return base_; }

 private:
  std::size_t bytes_ = 0;
  std::byte* base_ = nullptr;
};

/// A share of what an interface receives: a packet socket with its ring. The kernel gives each of
/// an interface's sockets a fixed part of its flows (packet(7), PACKET_FANOUT_HASH, symmetric;
/// fragments go by addresses), as long as their number stays. One reader at a time; one thread.
class RingShare {
 public:
  /// Takes part in the sharing, and receives nothing before admit(). Throws Error.
  static RingShare make(const AfpacketSettings& settings, const PacketRingShape& shape);
  /// Goes on with a socket that was kept. Nothing when it is not of the interface of this index, or
  /// its ring has another shape.
  static std::optional<RingShare> adopt(UniqueFd socket, std::uint32_t interface_index,
                                        const PacketRingShape& shape) noexcept;

  /// Lets packets in.
  void admit() const;
  /// To be called now and then: system calls, once in some 20 ms.
  void read_statistics(std::uint64_t now_tsc, bool took) noexcept;

  const UniqueFd& socket() const noexcept { return socket_; }
  PacketRing& ring() noexcept { return ring_; }
  const PacketRing& ring() const noexcept { return ring_; }
  /// True when it goes on with a socket that was kept.
  bool kept() const noexcept { return kept_; }
  /// Packets missed since it was made here, or adopted.
  std::uint64_t missed() const noexcept { return missed_; }
  std::uint64_t errors() const noexcept { return errors_; }

 private:
  RingShare(UniqueFd socket, RingMemory memory, const PacketRingShape& shape, bool kept) noexcept;
  void renew_ring() noexcept;

  UniqueFd socket_;
  RingMemory memory_;
  PacketRing ring_;
  bool kept_;
  std::uint64_t statistics_read_ = 0;  ///< time stamp
  std::uint64_t missed_ = 0, errors_ = 0;
  bool empty_ = false;  ///< the ring was, when statistics were read last
  bool took_ = false;   ///< packets, since then
};

}  // namespace millrace
