// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "io-worker/ports/port.hpp"
#include "shared/actor/context.hpp"

/// Moves a share of a port's flows (RxShares) from one queue to another, under traffic. Nothing
/// changes in the kernel: packets wait in the share's ring until the next ingress reads on.
///
///   supervisor:   writes which shall read it (`share_wanted`)
///   its reader:   polls it no more, seals what is open, waits until all sealed by then has left
///                 the egress, leaves the share where hub and standby keep it, and writes which
///                 reads it now (`share_reader`). All its other shares are polled meanwhile
///   the new one:  finds its name there, and reads on
///
/// If an ingress dies meanwhile, its successor finds the same words, and the ring says where to go
/// on.
///
/// At the start the kernel divides flows by the number of sockets that have joined, so none
/// receives before all have.

namespace millrace {

class IngressShares {
 public:
  /// Shares that the ingress of `stream` reads, as its entries in the status file say: what its
  /// queue is opened with.
  static ShareSet read_by(const ActorContext& context, std::uint32_t stream);

  /// `shares` is the queue's, borrowed; null: the port is not shared.
  IngressShares(const ActorContext& context, std::uint32_t stream, RxShares* shares);

  /// Called after resume() of the queue. Publishes the shares that it reads; the port's other
  /// queues wait for them.
  void tell_joined() const noexcept;
  /// Called every 10 ms: reads a cache line of each of the port's ingresses.
  void look() noexcept;
  /// True while shares are on their way out and packets of them may lie in open batches.
  bool wait_for_seal() const noexcept { return leaving_ != 0 && !sealed_; }
  /// Called for each lane when no batch is open: the share waits until `sequence` has left.
  void note_sealed(std::uint16_t lane, std::uint64_t sequence) noexcept;
  /// All lanes are noted.
  void end_seal() noexcept { sealed_ = true; }
  /// True while the share waits for something else than a packet: a release by the egress, or
  /// another queue that joins.
  bool wait_for_others() const noexcept {
    return leaving_ != 0 || (shares_ != nullptr && !admitted_);
  }

 private:
  struct Last {
    std::uint16_t lane;
    std::uint64_t sequence;
  };
  bool all_joined() const noexcept;
  bool have_left() const noexcept;
  void hand_over() noexcept;
  void tell(std::size_t share, std::uint32_t next) const noexcept;
  void join(std::uint32_t share) noexcept;

  ActorContext context_;
  std::uint32_t stream_;
  RxShares* shares_;
  std::vector<std::uint32_t> ingress_;  ///< by share: the actor with the entry that has it
  ShareSet leaving_ = 0;                ///< held: they go to other queues
  bool sealed_ = false;                 ///< all packets polled of them are in sealed batches
  std::vector<Last> last_;              ///< of lanes, when it was
  bool admitted_ = false;
  std::uint64_t retry_ns_ = 0;  ///< monotonic: not before is a share asked for, or left, again
  std::uint64_t held_ns_ = 0;   ///< monotonic: since when those of leaving_ are held
};

}  // namespace millrace
