// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packet_memory.hpp"

#include <algorithm>

namespace millrace {
namespace {

constexpr std::size_t kWordBits = 64;

}  // namespace

void PacketMemory::begin(IdsTables* tables, const Packet& packet) noexcept {
  tables_ = tables;
  packet_ = packet;
  has_changed_ = is_muted_ = false;
  counts_ = 0;
  record_ =
      tables == nullptr || packet.flow == nullptr ? nullptr : tables->records.find(*packet.flow);
  if (record_ != nullptr && record_->names == names_) {
    std::ranges::copy(record_->flowbits, flowbits_.begin());
  } else {
    flowbits_.fill(0);
  }
}

FlowRecord* PacketMemory::need_record() noexcept {
  if (record_ != nullptr || tables_ == nullptr || packet_.flow == nullptr) return record_;
  record_ = tables_->records.begin(*packet_.flow);
  if (record_ != nullptr) tables_->records.set_names(*record_, names_);
  return record_;
}

void PacketMemory::end_record() noexcept {
  if (record_ == nullptr) return;
  tables_->records.end(*packet_.flow);
  record_ = nullptr;
  flowbits_.fill(0);
  has_changed_ = false;
}

void PacketMemory::keep() noexcept {
  if (!has_changed_ || need_record() == nullptr) return;
  has_changed_ = false;
  tables_->records.set_names(*record_, names_);
  tables_->records.change_flowbits(*record_);
  std::ranges::copy(flowbits_, record_->flowbits);
}

bool PacketMemory::flowbit(std::uint16_t bit) const noexcept {
  if (bit >= kFlowbitsMax) return false;
  return (flowbits_[bit / kWordBits] >> bit % kWordBits & 1) != 0;
}

void PacketMemory::set_flowbit(std::uint16_t bit, bool value) noexcept {
  if (is_muted_ || packet_.flow == nullptr || bit >= kFlowbitsMax || flowbit(bit) == value) return;
  flowbits_[bit / kWordBits] ^= std::uint64_t{1} << bit % kWordBits;
  has_changed_ = true;
}

bool PacketMemory::host_bit(const HostBit& bit) const noexcept {
  return tables_ != nullptr && tables_->counts.bit(bit, tuple_, packet_.now_s);
}

void PacketMemory::set_host_bit(const HostBit& bit, bool value) noexcept {
  if (is_muted_ || tables_ == nullptr || counts_ == IdsLane::kCountsOfPacket) return;
  ++counts_;
  tables_->counts.set_bit(bit, value, tuple_, packet_.now_s);
}

Counted PacketMemory::counted(std::uint32_t signature, std::uint8_t use,
                              const Threshold& threshold) noexcept {
  if (tables_ == nullptr || counts_ == IdsLane::kCountsOfPacket) return Counted::kCounts;
  ++counts_;
  const Signature& rule = signatures_[signature];
  return tables_->counts.count({.gid = rule.gid, .sid = rule.sid, .number = use}, threshold, tuple_,
                               packet_.now_s);
}

bool PacketMemory::count(std::uint32_t signature, std::uint8_t use,
                         const Threshold& threshold) noexcept {
  return !is_muted_ && counted(signature, use, threshold) == Counted::kCounts;
}

}  // namespace millrace
