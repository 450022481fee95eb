// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/side_work.hpp"

#include <algorithm>
#include <cstring>

#include "io-worker/egress/fragment_sender.hpp"
#include "shared/links/ledger.hpp"

namespace millrace {

SideWork::SideWork(BurstSender& sender, HeldPackets& held, SidePool& pool)
    : sender_(sender), held_(held), pool_(pool) {}

void SideWork::begin(const Batch& batch, LaneRecord& record, std::uint64_t now_ns) noexcept {
  batch_ = &batch;
  record_ = &record;
  now_ns_ = now_ns;
  next_ = count_ = copies_count_ = 0;
  const std::span<const SideRecord> records = batch.side.records();
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].kind == static_cast<std::uint8_t>(SideKind::kCopies)) {
      copies_[copies_count_++] = static_cast<std::uint16_t>(i);
      continue;
    }
    if (records[i].packet >= batch.count) continue;
    // Each function appends its records in the order of packets: the whole is nearly sorted.
    std::uint32_t at = count_++;
    for (; at != 0 && records[order_[at - 1]].packet > records[i].packet; --at) {
      order_[at] = order_[at - 1];
    }
    order_[at] = static_cast<std::uint16_t>(i);
  }
}

bool SideWork::at(std::uint32_t packet) noexcept {
  if (copies_count_ != 0) copies(packet);
  const bool waits = is_held(*batch_, packet);
  bool held = false;
  const std::span<const SideRecord> records = batch_->side.records();
  for (; next_ < count_ && records[order_[next_]].packet == packet; ++next_) {
    const SideRecord& side = records[order_[next_]];
    switch (static_cast<SideKind>(side.kind)) {
      case SideKind::kCopy:
        copy(side);
        break;
      case SideKind::kFragment:
        fragment(side);
        break;
      case SideKind::kHold:
        if (waits && !held) hold(side);
        held = waits;
        break;
      case SideKind::kSend:
        send(side);
        break;
      case SideKind::kCopies:  // of no single packet
        break;
    }
  }
  return held;
}

void SideWork::send_bytes(std::span<const std::byte> bytes, const SideRecord& side,
                          Reason why) noexcept {
  // Only packets that have waited may have this reason: the ledger counts by it what waits.
  const bool is_odd = counts_as_held(static_cast<std::uint8_t>(why));
  count_end(*record_, record_->generated, is_odd ? Reason::kCopy : why);
  send_whole(bytes, side);
}

void SideWork::send_whole(std::span<const std::byte> bytes, const SideRecord& side) noexcept {
  if (!sender_.reaches(side.port) || bytes.size() > pool_.room()) {
    count_end(*record_, record_->dropped,
              sender_.reaches(side.port) ? Reason::kOversize : Reason::kNoOutput);
    return;
  }
  const std::uint32_t buffer = take_side_buffer(sender_, pool_, *record_);
  if (buffer == SidePool::kNone) return;
  std::ranges::copy(bytes, pool_.data(buffer));
  sender_.add_side(buffer, {pool_.data(buffer), bytes.size()}, side.port);
}

void SideWork::copy(const SideRecord& side) noexcept {
  send_bytes(batch_->bytes(side.packet), side, static_cast<Reason>(side.why));
}

void SideWork::copies(std::uint32_t packet) noexcept {
  const std::span<const SideRecord> records = batch_->side.records();
  for (const std::uint16_t number : std::span(copies_).first(copies_count_)) {
    const SideRecord& side = records[number];
    const std::span<const std::byte> bits = batch_->side.bytes_of(side);
    if (packet / 8 >= bits.size()) continue;
    if ((bits[packet / 8] >> (packet % 8) & std::byte{1}) == std::byte{0}) continue;
    const auto of = static_cast<CopyOf>(side.argument);
    const bool dropped = batch_->is_dropped(packet);
    if (of == CopyOf::kAll || (of == CopyOf::kDropped) == dropped) {
      send_bytes(batch_->bytes(packet), side, static_cast<Reason>(side.why));
    }
  }
}

void SideWork::send(const SideRecord& side) noexcept {
  const std::span<const std::byte> bytes = batch_->side.bytes_of(side);
  if (bytes.empty()) {
    count_end(*record_, record_->generated, Reason::kReply);
    count_end(*record_, record_->dropped, Reason::kMalformed);
    return;
  }
  send_bytes(bytes, side, static_cast<Reason>(side.why));
}

void SideWork::fragment(const SideRecord& side) noexcept {
  send_fragments(sender_, pool_, *record_, batch_->bytes(side.packet), side.argument, side.port);
}

void SideWork::hold(const SideRecord& side) noexcept {
  const NeighbourAnswer answer = held_.look_up(side, now_ns_);
  const MacAddress mac = answer.mac;
  Reason why = Reason::kNoBuffer;
  if (!answer.has_mac()) {
    why = held_.hold(*batch_, side, batch_->side.bytes_of(side), now_ns_);
    if (why == Reason::kHeld) return;
  }
  // Not held: it leaves now, or is dropped.
  if (answer.should_ask()) ask(side, answer.mac);
  count_end(*record_, record_->generated, Reason::kHeld);
  const std::span<std::byte> bytes = batch_->bytes(side.packet);
  if (!answer.has_mac() || bytes.size() < mac.size()) {
    count_end(*record_, record_->dropped, why);
    return;
  }
  std::memcpy(bytes.data(), mac.data(), mac.size());
  if (side.mtu != 0) {
    count_end(*record_, record_->consumed, Reason::kFragmented);
    send_fragments(sender_, pool_, *record_, bytes, side.mtu, side.port);
  } else {
    send_whole(bytes, side);
  }
}

/// Asks a known neighbour that was not heard of for long: by unicast, in the packet's record.
void SideWork::ask(const SideRecord& side, const MacAddress& mac) noexcept {
  const std::span<const std::byte> bytes = batch_->side.bytes_of(side);
  if (side.ask < mac.size() || side.ask > std::min<std::size_t>(bytes.size(), kHoldBytesMax))
    return;
  std::array<std::byte, kHoldBytesMax> question;
  std::ranges::copy(bytes.first(side.ask), question.begin());
  std::memcpy(question.data(), mac.data(), mac.size());
  send_bytes(std::span(question).first(side.ask), side, Reason::kSolicit);
}

}  // namespace millrace
