// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/held_packets.hpp"

#include <algorithm>
#include <cstring>

#include "io-worker/egress/fragment_sender.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/links/ledger.hpp"

namespace millrace {
namespace {

using packet_walk::kEthernetBytes;

NeighbourHandle handle_of(const SideRecord& record) {
  return {.number = record.argument, .generation = record.generation};
}

}  // namespace

HeldPackets::HeldPackets(const ActorContext& context, BurstSender& sender, SidePool& pool)
    : context_(context),
      sender_(sender),
      pool_(pool),
      neighbours_(context.segment.neighbours()),
      most_(context.plan->side_count / kPoolShare) {
  held_.reserve(std::size_t{2} * most_);
  staying_.reserve(most_);
}

NeighbourAnswer HeldPackets::look_up(const SideRecord& record,
                                     std::uint64_t now_ns) const noexcept {
  const NeighbourHandle neighbour = handle_of(record);
  // The neighbour may have answered since the last tend(): packets that wait go first.
  if (!neighbours_.is_ready(neighbour) || has_waiting(neighbour)) return {};
  return neighbours_.look_up(neighbour, neighbour_ms(now_ns));
}

bool HeldPackets::has_waiting(NeighbourHandle neighbour) const noexcept {
  return std::ranges::any_of(held_, [&](const Held& held) { return held.neighbour == neighbour; });
}

Reason HeldPackets::hold(const Batch& batch, const SideRecord& record,
                         std::span<const std::byte> bytes, std::uint64_t now_ns) noexcept {
  const std::span<const std::byte> packet = batch.bytes(record.packet);
  if (packet.size() < kEthernetBytes || packet.size() > pool_.room()) return Reason::kNoBuffer;
  if (bytes.size() > kHoldBytesMax || record.ask > bytes.size()) return Reason::kNoBuffer;
  if (bytes.size() - record.ask > kBufferHeadroom) return Reason::kNoBuffer;
  if (waiting() >= most_ || held_.size() == held_.capacity()) return Reason::kHoldFull;
  const std::uint32_t buffer = pool_.take();
  if (buffer == SidePool::kNone) return Reason::kNoBuffer;
  make_place(handle_of(record));
  std::ranges::copy(packet, pool_.data(buffer));
  Held& held = held_.emplace_back();
  held.buffer = buffer;
  held.neighbour = handle_of(record);
  held.since_ns = now_ns;
  held.stream = batch.header->stream;
  held.lane = batch.header->lane;
  held.length = static_cast<std::uint16_t>(packet.size());
  held.ask = record.ask;
  held.report = static_cast<std::uint16_t>(bytes.size() - record.ask);
  held.quoted = static_cast<std::uint16_t>(
      std::min<std::size_t>(record.quoted, packet.size() - kEthernetBytes));
  held.mtu = record.mtu;
  held.port = record.port;
  held.back = record.back;
  held.too_many = false;
  std::ranges::copy(bytes, held.bytes.begin());
  return Reason::kHeld;
}

/// Marks the oldest packets; the next tend() drops them, as a batch's record is open now.
void HeldPackets::make_place(NeighbourHandle neighbour) noexcept {
  const std::uint32_t most = waiting() >= most_ / 2 ? kPerNeighbourScarce : kPerNeighbourMax;
  auto count = static_cast<std::uint32_t>(std::ranges::count_if(
      held_, [&](const Held& held) { return held.neighbour == neighbour && !held.too_many; }));
  for (Held& held : held_) {
    if (count < most) return;
    if (held.neighbour != neighbour || held.too_many) continue;
    held.too_many = true;
    ++too_many_;
    --count;
  }
}

void HeldPackets::tend(std::uint64_t now_ns) noexcept {
  staying_.clear();
  std::erase_if(held_, [&](const Held& held) { return is_over(held, now_ns); });  // in order
  too_many_ = 0;
}

void HeldPackets::give_up() noexcept {
  for (const Held& held : held_) fail(held, Reason::kNoNeighbour);
  held_.clear();
  too_many_ = 0;
}

bool HeldPackets::is_over(const Held& held, std::uint64_t now_ns) noexcept {
  if (held.too_many) {
    fail(held, Reason::kHoldFull);
    return true;
  }
  // The neighbour may have answered after an earlier packet was looked at: that one goes first.
  if (std::ranges::find(staying_, held.neighbour) != staying_.end()) return false;
  const NeighbourAnswer answer = neighbours_.look_up(held.neighbour, neighbour_ms(now_ns));
  if (answer.has_mac()) {
    if (answer.should_ask()) ask(held, &answer.mac);
    leave(held, answer.mac);
    return true;
  }
  const bool failed =
      answer.state == NeighbourState::kNone || answer.state == NeighbourState::kFailed;
  if (failed || now_ns >= held.since_ns + kWaitNs) {
    fail(held, Reason::kNoNeighbour);
    return true;
  }
  staying_.push_back(held.neighbour);
  if (answer.should_ask()) ask(held, nullptr);
  return false;
}

void HeldPackets::ask(const Held& held, const MacAddress* mac) noexcept {
  if (held.ask == 0 || !sender_.reaches(held.port)) return;
  LaneLedger& ledger = context_.status.ledger(held.stream, held.lane);
  LaneRecord& record = begin_amendment(ledger);
  count_end(record, record.generated, Reason::kSolicit);
  sender_.begin(record);
  const std::uint32_t buffer = take_side_buffer(sender_, pool_, record);
  if (buffer != SidePool::kNone) {
    std::memcpy(pool_.data(buffer), held.bytes.data(), held.ask);
    if (mac != nullptr) std::memcpy(pool_.data(buffer), mac->data(), mac->size());
    sender_.add_side(buffer, {pool_.data(buffer), held.ask}, held.port);
    sender_.send_all();
  }
  sender_.publish(held.stream, held.lane);
}

/// Publishes one record for both: the packet is generated, and it is sent or dropped.
void HeldPackets::leave(const Held& held, const MacAddress& mac) noexcept {
  LaneLedger& ledger = context_.status.ledger(held.stream, held.lane);
  LaneRecord& record = begin_amendment(ledger);
  count_end(record, record.generated, Reason::kHeld);
  sender_.begin(record);
  std::byte* const packet = pool_.data(held.buffer);
  std::memcpy(packet, mac.data(), mac.size());
  if (!sender_.reaches(held.port)) {
    count_end(record, record.dropped, Reason::kNoOutput);
    pool_.put(held.buffer);
  } else if (held.mtu != 0) {
    count_end(record, record.consumed, Reason::kFragmented);
    send_fragments(sender_, pool_, record, {packet, held.length}, held.mtu, held.port);
    sender_.send_all();
    pool_.put(held.buffer);
  } else {
    sender_.add_side(held.buffer, {packet, held.length}, held.port);
    sender_.send_all();
  }
  sender_.publish(held.stream, held.lane);
}

void HeldPackets::fail(const Held& held, Reason why) noexcept {
  LaneLedger& ledger = context_.status.ledger(held.stream, held.lane);
  LaneRecord& record = begin_amendment(ledger);
  count_end(record, record.generated, Reason::kHeld);
  count_end(record, record.dropped, why);
  if (why == Reason::kNoNeighbour && held.report != 0 && sender_.reaches(held.back)) {
    report(held, record);
  } else {
    pool_.put(held.buffer);
  }
  sender_.publish(held.stream, held.lane);
}

/// Makes the ICMP report in the packet's own buffer, in front of the quoted bytes: the headroom is
/// unused.
void HeldPackets::report(const Held& held, LaneRecord& record) noexcept {
  std::byte* const start = pool_.data(held.buffer) + kEthernetBytes - held.report;
  std::memcpy(start, held.bytes.data() + held.ask, held.report);
  count_end(record, record.generated, Reason::kReport);
  sender_.begin(record);
  sender_.add_side(held.buffer, {start, std::size_t{held.report} + held.quoted}, held.back);
  sender_.send_all();
}

}  // namespace millrace
