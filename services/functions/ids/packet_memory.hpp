// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/ids/detect/flow_memory.hpp"
#include "services/functions/ids/ids_lane.hpp"
#include "services/functions/ids/rules/signature.hpp"

namespace millrace {

/// What rules keep, for the packet in hand. Flowbits are written into the lane's state once, by
/// keep(): so a packet changes a bounded number of its lines, whatever rules it matches. One a
/// worker.
class PacketMemory final : public RuleMemory {
 public:
  /// `names`: FlowRecord::names of the rules.
  PacketMemory(std::span<const Signature> signatures, std::uint32_t names)
      : signatures_(signatures), names_(names) {}

  struct Packet {
    const FlowTuple* flow = nullptr;  ///< its flow's direction 0; null: it has none
    std::uint32_t now_s = 0;
  };
  /// `tables`: null: there is no state; then nothing is kept. All of it is borrowed until the next
  /// begin().
  void begin(IdsTables* tables, const Packet& packet) noexcept;
  void set_tuple(const FlowTuple& tuple) noexcept override { tuple_ = tuple; }
  /// Of the packet's flow; null: there is none.
  FlowRecord* record() const noexcept { return record_; }
  /// The same, made where there is none; null: no room, or no flow.
  FlowRecord* need_record() noexcept;
  /// Ends the record and its flowbits: another connection begins with the same addresses and ports.
  void end_record() noexcept;
  /// Writes what the packet has changed.
  void keep() noexcept;

  /// While it is muted nothing is set or counted: rules look at what they have seen before.
  void mute(bool is_muted) noexcept { is_muted_ = is_muted; }
  /// One more match of a rule; of kCountsOfPacket behind, and without a state: kCounts.
  Counted counted(std::uint32_t signature, std::uint8_t use, const Threshold& threshold) noexcept;

  bool flowbit(std::uint16_t bit) const noexcept override;
  void set_flowbit(std::uint16_t bit, bool value) noexcept override;
  bool host_bit(const HostBit& bit) const noexcept override;
  /// One is a change as a count is: behind kCountsOfPacket it does nothing.
  void set_host_bit(const HostBit& bit, bool value) noexcept override;
  bool count(std::uint32_t signature, std::uint8_t use,
             const Threshold& threshold) noexcept override;

 private:
  std::span<const Signature> signatures_;
  std::uint32_t names_;
  IdsTables* tables_ = nullptr;
  Packet packet_;
  FlowTuple tuple_{};
  FlowRecord* record_ = nullptr;
  std::array<std::uint64_t, kFlowbitsMax / 64> flowbits_{};
  bool has_changed_ = false, is_muted_ = false;
  std::uint32_t counts_ = 0;
};

}  // namespace millrace
