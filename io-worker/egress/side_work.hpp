// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "io-worker/egress/burst_sender.hpp"
#include "io-worker/egress/held_packets.hpp"
#include "io-worker/egress/side_pool.hpp"

namespace millrace {

/// Executes the side list of one batch (shared/layout/side_list.hpp): each record at its packet's
/// turn, among the batch's own packets, so that what a port gets is in order.
///
/// | record    | counted                                                                       |
/// |-----------|-------------------------------------------------------------------------------|
/// | kCopy     | generated{why}                                                                |
/// | kFragment | generated{fragment} for each; the packet itself is consumed{fragmented}       |
/// | kHold     | nothing, until it leaves (held_packets.hpp); the packet is consumed{held}     |
/// | kSend     | generated{why}                                                                |
/// | kCopies   | generated{why} for each                                                       |
///
/// What was generated is then transmitted or dropped. Without a free buffer it is dropped as
/// `no_buffer`. Records are bounded before they are used, whatever stands in them: one without its
/// bytes is dropped as `malformed`, a kHold is done once for a packet that is consumed{held}.
class SideWork {
 public:
  SideWork(BurstSender& sender, HeldPackets& held, SidePool& pool);

  /// Before the batch's packets. `record`: of its lane; both are borrowed until the last packet.
  void begin(const Batch& batch, LaneRecord& record, std::uint64_t now_ns) noexcept;
  /// Executes the records of this packet; packets ascend. True: a record held the packet, or ended
  /// its wait at once.
  bool at(std::uint32_t packet) noexcept;

 private:
  void copy(const SideRecord& side) noexcept;
  void copies(std::uint32_t packet) noexcept;
  void fragment(const SideRecord& side) noexcept;
  void hold(const SideRecord& side) noexcept;
  void ask(const SideRecord& side, const MacAddress& mac) noexcept;
  void send(const SideRecord& side) noexcept;
  void send_bytes(std::span<const std::byte> bytes, const SideRecord& side, Reason why) noexcept;
  void send_whole(std::span<const std::byte> bytes, const SideRecord& side) noexcept;

  BurstSender& sender_;
  HeldPackets& held_;
  SidePool& pool_;
  const Batch* batch_ = nullptr;
  LaneRecord* record_ = nullptr;
  std::uint64_t now_ns_ = 0;
  std::uint32_t next_ = 0, count_ = 0;
  std::array<std::uint16_t, kBatchCapacityMax> order_{};  ///< of the records, by packet
  std::uint32_t copies_count_ = 0;
  std::array<std::uint16_t, kBatchCapacityMax> copies_{};  ///< the records of kCopies
};

}  // namespace millrace
