// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/race/race_ports.hpp"

#include <algorithm>
#include <cstring>

namespace millrace::race {
namespace {

/// What a buffer in a receive queue begins with.
std::uint64_t seal_of(std::uint32_t buffer) { return 0xfeed'0000'0000'0000ull | buffer; }

std::uint64_t word_at(const std::byte* data) {
  std::uint64_t word = 0;
  std::memcpy(&word, data, sizeof word);
  return word;
}

}  // namespace

NumberedRx::NumberedRx(Arena& arena, std::uint32_t stream, bool holds)
    : arena_(arena), stream_(stream), holds_(holds) {
  arena_.held_rx[stream_] = 0;
}

void NumberedRx::fill(BufferSource& pool) noexcept {
  std::array<std::uint32_t, kDepth> taken;
  const std::uint32_t count = pool.take({taken.data(), kDepth - held_});
  pool.hold({taken.data(), count});
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t seal = seal_of(taken[i]);
    std::memcpy(pool.area().at(taken[i]), &seal, sizeof seal);
    ring_[(first_ + held_++) % kDepth] = taken[i];
  }
}

std::uint32_t NumberedRx::take(BufferSource& pool, std::span<std::uint32_t> out) noexcept {
  if (!holds_) return pool.take(out);
  fill(pool);
  const auto count = std::min(held_, static_cast<std::uint32_t>(out.size()));
  for (std::uint32_t i = 0; i < count; ++i, --held_) {
    out[i] = ring_[first_++ % kDepth];
    if (word_at(pool.area().at(out[i])) != seal_of(out[i])) arena_.touched.fetch_add(1);
  }
  arena_.held_rx[stream_] = held_;
  return count;
}

std::uint32_t NumberedRx::poll(BufferSource& pool, std::span<RxPacket> out) noexcept {
  std::array<std::uint32_t, kBurstMax> buffers;
  const std::uint64_t end = arena_.traffic.load() ? kOrdinalMax : arena_.handed_out[stream_].load();
  const std::uint64_t wanted = std::min({out.size(), 1 + next_ % 17, end - next_});
  const std::uint32_t count = take(pool, {buffers.data(), wanted});
  for (std::uint32_t i = 0; i < count; ++i, ++next_) {
    std::byte* data = pool.area().at(buffers[i]) + kBufferHeadroom;
    std::memset(data, 0, 60);
    const std::uint64_t flow = next_ * 0x9e3779b97f4a7c15ull >> 58;
    std::memcpy(data, &flow, 6);  // the MAC address: the flow of a frame that is not IP
    std::memcpy(data + 16, &next_, sizeof next_);
    out[i] = {buffers[i], kBufferHeadroom, 60, 60, false, false, next_, 0};
  }
  if (next_ > arena_.handed_out[stream_]) arena_.handed_out[stream_] = next_;
  return count;
}

bool NumberedRx::exhausted() const noexcept {
  // What an earlier life handed out and did not seal is still to come.
  return (!arena_.traffic.load() && next_ >= arena_.handed_out[stream_].load()) ||
         next_ >= kOrdinalMax - 64;
}

WitnessTx::WitnessTx(Arena& arena, const SegmentView& segment, std::uint32_t stream, bool holds)
    : arena_(arena), segment_(segment), stream_(stream), holds_(holds) {
  arena_.held_tx[stream_] = 0;
}

void WitnessTx::note(const TxPacket& packet) noexcept {
  const std::uint64_t ordinal = word_at(packet.bytes.data() + 16);
  if (ordinal == kSideOrdinal) {
    arena_.side_seen[stream_].fetch_add(1);
  } else {
    note_ordinal(packet, ordinal);
  }
  if (holds_) {
    ring_[(first_ + held_++) % kDepth] = {packet.buffer, packet.bytes.data(), ordinal};
  }
}

void WitnessTx::note_ordinal(const TxPacket& packet, std::uint64_t ordinal) noexcept {
  if (ordinal >= kOrdinalMax || arena_.seen[stream_][ordinal]++ != 0)
    arena_.duplicates.fetch_add(1);
  std::uint64_t flow = 0;
  std::memcpy(&flow, packet.bytes.data(), 6);
  std::uint64_t& last = arena_.last_out[stream_][flow];
  if (ordinal < last) arena_.inversions_out.fetch_add(1);
  last = ordinal + 1;
}

std::uint32_t WitnessTx::send(std::span<const TxPacket> packets) noexcept {
  const std::size_t room = holds_ ? kDepth - held_ : packets.size();
  const auto count = static_cast<std::uint32_t>(std::min(room, packets.size()));
  for (const TxPacket& packet : packets.first(count)) note(packet);
  arena_.held_tx[stream_] = held_;
  return count;
}

std::uint32_t WitnessTx::send_of(const Batch& batch,
                                 std::span<const std::uint16_t> packets) noexcept {
  std::array<TxPacket, kBatchCapacityMax> of;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const std::uint16_t packet = packets[i];
    of[i] = {batch.buffer[packet], batch.bytes(packet), batch.wire_length(packet), 0};
  }
  return send(std::span(of).first(packets.size()));
}

std::uint32_t WitnessTx::reclaim(std::span<std::uint32_t> out) noexcept {
  std::uint32_t count = 0;
  while (held_ > kKept && count < out.size()) {
    const Sent& sent = ring_[first_++ % kDepth];
    if (word_at(sent.data + 16) != sent.ordinal) arena_.touched.fetch_add(1);
    out[count++] = sent.buffer;
    --held_;
  }
  arena_.held_tx[stream_] = held_;
  return count;
}

}  // namespace millrace::race
