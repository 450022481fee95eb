// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/event_rings.hpp"

#include <algorithm>
#include <bit>

#include "shared/layout/event_text.hpp"

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
/// makes its functions first). It may have been killed between its stores of `tail` and `lines`.
void EventLog::attach() noexcept {
  attached_ = true;
  added_ = published_ = ring_->tail.load(std::memory_order_relaxed);
  lost_ = told_lost_ = ring_->lost.load(std::memory_order_relaxed);
  lines_ = ring_->lines.load(std::memory_order_relaxed);
  if (ring_->next_tail.load(std::memory_order_relaxed) == added_) {
    lines_ = ring_->next_lines.load(std::memory_order_relaxed);
    ring_->lines.store(lines_, std::memory_order_relaxed);
  }
  seen_head_ = ring_->head.load(std::memory_order_acquire);
}

/// Whatever the other side has written: a distance that is no distance finds no room.
bool EventLog::has_room(std::uint64_t records) noexcept {
  const auto fits = [&] {
    const std::uint64_t used = added_ - seen_head_;
    return used <= kEventRingRecords && records <= kEventRingRecords - used;
  };
  if (fits()) return true;
  seen_head_ = ring_->head.load(std::memory_order_acquire);
  return fits();
}

EventRecord* EventLog::add(std::span<const std::byte> text) noexcept {
  if (!attached_) attach();
  const std::uint8_t texts = texts_for(text);
  if (!has_room(1 + std::uint64_t{texts})) {
    ++lost_;
    return nullptr;
  }
  EventRecord* const head = &records_[added_++ & kMask];
  for (std::uint8_t place = 0; place < texts; ++place) {
    records_[added_++ & kMask] = text_record(text, place);
  }
  ++lines_;
  return head;
}

void EventLog::tell() noexcept {
  ring_->lost.store(lost_, std::memory_order_relaxed);
  ring_->next_tail.store(added_, std::memory_order_relaxed);
  ring_->next_lines.store(lines_, std::memory_order_release);
  ring_->tail.store(added_, std::memory_order_release);
  ring_->lines.store(lines_, std::memory_order_release);
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
  if (count == there) return count;
  const std::uint32_t whole = whole_lines(out);
  return whole == 0 ? count : whole;
}

void EventReader::let_go_until(std::uint64_t head) noexcept {
  const std::uint64_t tail = ring_->tail.load(std::memory_order_acquire);
  ring_->head.store(std::min(head, tail), std::memory_order_release);
}

}  // namespace millrace
