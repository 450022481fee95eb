// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/loop/loop_tx.hpp"

#include "shared/base/flow_hash.hpp"

namespace millrace {

LoopTxQueue::LoopTxQueue(const ActorContext& context, std::uint32_t port)
    : context_(context), wakes_(*context.plan) {
  const Plan& plan = *context.plan;
  const std::vector<LoopPlace>& places = context.segment.layout().loops;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PlanStream& stream = plan.streams[places[i].stream];
    if (stream.port != port || places[i].egress != plan.actors[context.me.actor].index) continue;
    Way way;
    way.ring = context.segment.loop(i);
    way.ingress = stream.ingress;
    way.head = way.put = way.ring.head();
    way.tail = way.ring.tail();
    ways_.push_back(way);
  }
  MILLRACE_CHECK(!ways_.empty());
}

/// Chooses by the low half of the flow's hash: the high half divides a stream's flows among lanes.
LoopTxQueue::Way& LoopTxQueue::way_of(std::span<const std::byte> frame) noexcept {
  if (ways_.size() == 1) return ways_.front();
  const std::size_t share = flow_hash_of(frame) & 0xffff;
  return ways_[share * ways_.size() >> 16];
}

std::uint32_t LoopTxQueue::send(std::span<const TxPacket> packets) noexcept {
  refused_ = false;
  if (failed()) [[unlikely]]
    return 0;
  std::uint32_t count = 0;
  for (const TxPacket& packet : packets) {
    Way& way = way_of(packet.bytes);
    if (packet.bytes.size() > way.ring.room()) {
      refused_ = true;
      break;
    }
    if (way.put - way.tail == way.ring.depth()) {
      way.tail = way.ring.tail();
      if (way.put - way.tail == way.ring.depth()) break;
    }
    way.ring.put(way.put++, packet.bytes, packet.wire_length);
    ++count;
  }
  return count;
}

bool LoopTxQueue::failed() const noexcept {
  return context_.status.header().drained.load(std::memory_order_relaxed) == kLoopsCut;
}

void LoopTxQueue::intend(std::uint32_t stream, std::uint32_t lane, std::uint64_t flips) noexcept {
  for (const Way& way : ways_) {
    if (way.put != way.head) way.ring.intend(way.put, stream, lane, flips);
  }
}

void LoopTxQueue::commit() noexcept {
  for (Way& way : ways_) {
    if (way.put == way.head) continue;
    way.head = way.put;
    way.ring.commit(way.head);
    wakes_.add(way.ingress);
  }
}

}  // namespace millrace
