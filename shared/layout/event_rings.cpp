// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/event_rings.hpp"

#include <algorithm>
#include <bit>

namespace millrace {
namespace {

static_assert(std::has_single_bit(kEventRingRecords));
constexpr std::uint64_t kMask = kEventRingRecords - 1;

bool finishes(const PlanActor& actor) {
  return actor.kind == ActorKind::kClassifier || actor.kind == ActorKind::kEgress;
}

}  // namespace

std::uint32_t event_ring_of(const Plan& plan, std::uint32_t actor) {
  if (!plan.events || !finishes(plan.actors[actor])) return kNoEventRing;
  const auto before = plan.actors.begin() + static_cast<std::ptrdiff_t>(actor);
  return static_cast<std::uint32_t>(std::count_if(plan.actors.begin(), before, finishes));
}

std::uint32_t event_ring_count(const Plan& plan) {
  if (!plan.events) return 0;
  return static_cast<std::uint32_t>(std::ranges::count_if(plan.actors, finishes));
}

std::uint64_t event_rings_bytes(std::uint32_t ring_count) {
  if (ring_count == 0) return 0;
  return sizeof(EventSink) +
         ring_count * (sizeof(EventRing) + std::uint64_t{kEventRingRecords} * sizeof(EventRecord));
}

EventLog::EventLog(const EventRings& rings, std::uint32_t number) {
  if (number >= rings.count()) return;
  ring_ = &rings.ring(number);
  records_ = rings.records(number);
}

/// Not before the first record: until then another process may still play the actor (a successor
/// makes its functions first).
void EventLog::attach() noexcept {
  attached_ = true;
  added_ = published_ = ring_->tail.load(std::memory_order_relaxed);
  lost_ = told_lost_ = ring_->lost.load(std::memory_order_relaxed);
  seen_head_ = ring_->head.load(std::memory_order_acquire);
}

EventRecord* EventLog::add() noexcept {
  if (!attached_) attach();
  // Whatever the other side has written: a distance that is no distance finds no room.
  if (added_ - seen_head_ >= kEventRingRecords) {
    seen_head_ = ring_->head.load(std::memory_order_acquire);
    if (added_ - seen_head_ >= kEventRingRecords) {
      ++lost_;
      return nullptr;
    }
  }
  return &records_[added_++ & kMask];
}

void EventLog::tell() noexcept {
  ring_->lost.store(lost_, std::memory_order_relaxed);
  ring_->tail.store(added_, std::memory_order_release);
  published_ = added_;
  told_lost_ = lost_;
}

EventReader::EventReader(const EventRings& rings, std::uint32_t number)
    : ring_(&rings.ring(number)), records_(rings.records(number)) {}

std::uint64_t EventReader::head() const noexcept {
  return ring_->head.load(std::memory_order_relaxed);
}

std::uint32_t EventReader::peek(std::span<EventRecord> out, std::uint64_t& skipped) noexcept {
  const std::uint64_t head = ring_->head.load(std::memory_order_relaxed);
  const std::uint64_t tail = ring_->tail.load(std::memory_order_acquire);
  const std::uint64_t there = tail - head;
  if (there > kEventRingRecords) {
    skipped += tail > head ? there : 0;
    ring_->head.store(tail, std::memory_order_release);
    return 0;
  }
  const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(there, out.size()));
  for (std::uint32_t i = 0; i < count; ++i) out[i] = records_[(head + i) & kMask];
  return count;
}

void EventReader::let_go_until(std::uint64_t head) noexcept {
  const std::uint64_t tail = ring_->tail.load(std::memory_order_acquire);
  ring_->head.store(std::min(head, tail), std::memory_order_release);
}

}  // namespace millrace
