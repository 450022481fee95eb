// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/loop/loop_rx.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "io-worker/ports/received.hpp"
#include "shared/base/check.hpp"
#include "shared/base/turn_clock.hpp"
#include "shared/packet/tick.hpp"

namespace millrace {

LoopRxQueue::LoopRxQueue(const ActorContext& context, std::uint32_t stream) {
  const std::vector<LoopPlace>& places = context.segment.layout().loops;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].stream != stream) continue;
    const bool ticks = places[i].egress == kLoopTicks;
    ways_.push_back({.ring = context.segment.loop(i), .ticks = ticks});
    if (!ticks) continue;
    ticker_ = LoopTicker(context, i, context.plan->ports[context.plan->streams[stream].port]);
  }
  MILLRACE_CHECK(!ways_.empty());
}

/// Ordinals are noted one by one, so an entry without one has not been read.
void LoopRxQueue::resume(std::uint64_t first_wanted) noexcept {
  next_ordinal_ = first_wanted;
  again_ = 0;
  for (Way& way : ways_) {
    way.tail = way.ring.tail();
    way.head = way.ring.head();
    way.again_end = way.tail;
    std::uint64_t sealed = way.tail;
    while (way.again_end != way.head) {
      const std::uint64_t noted =
          way.ring.entry(way.again_end).ordinal.load(std::memory_order_relaxed);
      if (noted == 0) break;
      next_ordinal_ = std::max(next_ordinal_, noted);
      ++way.again_end;
      if (noted <= first_wanted) sealed = way.again_end;
    }
    way.read = sealed;
    again_ += static_cast<std::uint32_t>(way.again_end - way.read);
  }
  resumed_ = again_;
  ticker_.resume();
  release_below(first_wanted);
}

void LoopRxQueue::release_below(std::uint64_t ordinal) noexcept {
  for (Way& way : ways_) {
    std::uint64_t tail = way.tail;
    while (tail != way.read &&
           way.ring.entry(tail).ordinal.load(std::memory_order_relaxed) <= ordinal) {
      ++tail;
    }
    if (tail == way.tail) continue;
    way.tail = tail;
    way.ring.let_go_until(tail);
  }
}

std::uint32_t LoopRxQueue::poll(BufferSource& pool, std::span<RxPacket> out) noexcept {
  if (!std::exchange(rests_, false)) ticker_.make_due(turn_clock::last());
  if (again_ != 0) [[unlikely]]
    return poll_again(pool, out);
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    count += poll_way(ways_[(turn_ + i) % ways_.size()], pool, out.subspan(count));
  }
  turn_ = (turn_ + 1) % ways_.size();
  return count;
}

std::uint32_t LoopRxQueue::poll_way(Way& way, BufferSource& pool,
                                    std::span<RxPacket> out) noexcept {
  std::uint32_t count = 0;
  for (; count < out.size(); ++count) {
    if (way.read == way.head) {
      way.head = way.ring.head();
      if (way.read == way.head) break;
    }
    LoopEntry& entry = way.ring.entry(way.read);
    if (!receive(way, pool, out[count])) break;
    out[count].ordinal = next_ordinal_++;
    hook(HookPoint::kLoopStamp);
    entry.ordinal.store(next_ordinal_, std::memory_order_release);
  }
  return count;
}

/// Reads packets again, of all rings, in the order in which the process before read them.
std::uint32_t LoopRxQueue::poll_again(BufferSource& pool, std::span<RxPacket> out) noexcept {
  const auto noted = [](const Way& way) {
    return way.ring.entry(way.read).ordinal.load(std::memory_order_relaxed);
  };
  std::uint32_t count = 0;
  for (; count < out.size() && again_ != 0; ++count) {
    Way* first = nullptr;
    for (Way& way : ways_) {
      if (way.read == way.again_end) continue;
      if (first == nullptr || noted(way) < noted(*first)) first = &way;
    }
    MILLRACE_CHECK(first != nullptr);  // again_ counts what the ways have
    const std::uint64_t ordinal = noted(*first) - 1;
    if (!receive(*first, pool, out[count])) break;
    out[count].ordinal = ordinal;
    --again_;
  }
  return count;
}

/// Copies the way's next packet into a buffer. False: there is none.
bool LoopRxQueue::receive(Way& way, BufferSource& pool, RxPacket& out) noexcept {
  std::uint32_t buffer = 0;
  if (pool.take({&buffer, 1}) == 0) return false;
  const LoopEntry& entry = way.ring.entry(way.read);
  describe_received(out, buffer, entry.length, entry.wire_length, way.ring.room());
  out.time_tsc = 0;
  std::byte* const frame = pool.area().at(buffer) + out.offset;
  std::memcpy(frame, way.ring.bytes(way.read), out.length);
  if (!way.ticks && is_tick({frame, out.length})) [[unlikely]]
    std::memset(frame + kTickMagicAt, 0, sizeof kTickMagic);  // a network's frame is no tick
  ++way.read;
  return true;
}

bool LoopRxQueue::has_waiting() const noexcept {
  return std::ranges::any_of(ways_, [](const Way& way) { return way.read != way.ring.head(); });
}

std::string LoopRxQueue::remark() const {
  if (resumed_ == 0) return {};
  return "packets of the life before that are read again: " + std::to_string(resumed_);
}

}  // namespace millrace
