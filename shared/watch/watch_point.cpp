// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/watch/watch_point.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "shared/base/clock.hpp"
#include "shared/base/packet_filter.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kRecordAlign = 8;

Seen packet_of(const Batch& batch, std::uint32_t packet, std::uint64_t now) noexcept {
  // A packet that goes on has no reason: the column is not written for it.
  return {batch.bytes(packet), batch.wire_length(packet), now,
          static_cast<Verdict>(batch.verdict[packet]),
          batch.goes_on(packet) ? Reason::kNone : static_cast<Reason>(batch.reason[packet])};
}

/// TraceStep::port_after.
std::uint8_t port_after(const Batch& batch, std::uint32_t packet) noexcept {
  const std::uint8_t output = batch.output[packet];
  return output < kPortCountMax ? static_cast<std::uint8_t>(output + 1) : 0;
}

}  // namespace

Watch::Watch(WatchFile file)
    : file_(std::move(file)), filter_(file_.filter().begin(), file_.filter().end()) {
  std::memcpy(static_cast<void*>(&points_), static_cast<const void*>(&file_.header()),
              sizeof(points_));
}

void Watch::show(std::uint32_t actor, std::uint8_t point, const Seen& seen) noexcept {
  if (point >= kWatchPointMax) return;
  if (!filter_.empty() && !filter_takes(filter_, seen.bytes, seen.wire_length)) return;
  put(actor,
      {.point = point,
       .verdict = static_cast<std::uint8_t>(seen.verdict),
       .reason = static_cast<std::uint8_t>(seen.reason),
       .wire_length = seen.wire_length,
       .time_tsc = seen.time_tsc},
      seen.bytes.first(std::min<std::size_t>(seen.bytes.size(), points_.snap_length)));
}

void Watch::show_step(const TraceStep& step, const WatchRecord& about) noexcept {
  put(step.actor, about, std::as_bytes(std::span(&step, 1)));
}

void Watch::put(std::uint32_t actor, WatchRecord record,
                std::span<const std::byte> bytes) noexcept {
  const std::uint8_t number = points_.ring_of[actor];
  if (number >= points_.ring_count) return;
  WatchRing& ring = file_.ring(number);
  std::byte* const base = file_.ring_base(number);
  const std::uint64_t whole =
      (sizeof(WatchRecord) + bytes.size() + kRecordAlign - 1) & ~(kRecordAlign - 1);
  const std::uint64_t tail = ring.tail.load(std::memory_order_relaxed);
  const std::uint64_t at = tail & (points_.ring_bytes - 1);
  const std::uint64_t to_end = points_.ring_bytes - at;
  const std::uint64_t skipped = whole > to_end ? to_end : 0;  // a record lies in one piece
  const std::uint64_t used = tail - ring.head.load(std::memory_order_acquire);
  if (used + skipped + whole > points_.ring_bytes) {
    std::atomic<std::uint64_t>& missed = ring.missed[record.point % kWatchPointMax];
    missed.store(missed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return;
  }
  if (skipped >= sizeof(WatchRecord)) {
    const WatchRecord filler{.record_bytes = static_cast<std::uint32_t>(skipped),
                             .point = kNoPoint};
    std::memcpy(base + at, &filler, sizeof filler);
  }
  std::byte* const to = base + (skipped != 0 ? 0 : at);
  record.record_bytes = static_cast<std::uint32_t>(whole);
  record.length = static_cast<std::uint32_t>(bytes.size());
  std::memcpy(to, &record, sizeof record);
  if (!bytes.empty()) std::memcpy(to + sizeof record, bytes.data(), bytes.size());
  ring.tail.store(tail + skipped + whole, std::memory_order_release);
}

const TraceMark* Watch::choose(std::uint32_t stream, std::uint32_t slot,
                               const Batch& batch) noexcept {
  if (chosen_ >= points_.trace_count || slot >= points_.slot_count) return nullptr;
  if (file_.header().following.load(std::memory_order_acquire) == 0) return nullptr;
  TraceMark& mark = file_.mark(slot);
  mark.generation = batch.header->generation;
  mark.first_id = stream << 24 | (chosen_ & 0xffffff);
  mark.count = 0;
  for (std::uint32_t i = 0; i < batch.count && mark.count < kTracedMax; ++i) {
    if (chosen_ == points_.trace_count) break;
    if (!filter_.empty() && !filter_takes(filter_, batch.bytes(i), batch.wire_length(i))) continue;
    mark.packet[mark.count++] = static_cast<std::uint16_t>(i);
    ++chosen_;
  }
  return mark.count != 0 ? &mark : nullptr;
}

const TraceMark* Watch::mark(std::uint32_t slot, std::uint64_t generation) const noexcept {
  if (slot >= points_.slot_count) return nullptr;
  const TraceMark& mark = file_.mark(slot);
  return mark.count != 0 && mark.count <= kTracedMax && mark.generation == generation ? &mark
                                                                                      : nullptr;
}

void Watch::attached(std::uint32_t actor, std::uint32_t incarnation) noexcept {
  const std::uint8_t number = points_.ring_of[actor];
  if (number >= points_.ring_count) return;
  file_.ring(number).attached.store(incarnation, std::memory_order_release);
}

void WatchPoint::port_in(std::uint32_t actor, std::uint32_t port, const Seen& seen) const noexcept {
  for (Watch* watch : *held_) {
    if (watch == nullptr || watch->points().port_in[port] == kNoPoint) continue;
    watch->show(actor, watch->points().port_in[port], seen);
  }
}

void WatchPoint::port_out(std::uint32_t actor, std::uint32_t port,
                          const Seen& seen) const noexcept {
  for (Watch* watch : *held_) {
    if (watch == nullptr || watch->points().port_out[port] == kNoPoint) continue;
    watch->show(actor, watch->points().port_out[port], seen);
  }
}

void WatchPoint::dropped(std::uint32_t actor, const Seen& seen) const noexcept {
  for (Watch* watch : *held_) {
    if (watch == nullptr || watch->points().dropped == kNoPoint) continue;
    watch->show(actor, watch->points().dropped, seen);
  }
}

void WatchPoint::link(std::uint32_t actor, std::uint32_t link, const Batch& batch) const noexcept {
  if (is_stand_in(*batch.header)) return;  // a stand-in has no packets
  std::uint64_t now = 0;
  for (Watch* watch : *held_) {
    if (watch == nullptr || link >= kWatchLinkMax) continue;
    const std::uint8_t point = watch->points().link[link];
    if (point == kNoPoint) continue;
    if (now == 0) now = tsc_now();
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      watch->show(actor, point, packet_of(batch, i, now));
    }
  }
}

void WatchPoint::sealed(std::uint32_t actor, std::uint32_t port, std::uint32_t slot,
                        const Batch& batch) const noexcept {
  bool any = false;
  for (Watch* watch : *held_) {
    any = (watch != nullptr && watch->choose(batch.header->stream, slot, batch) != nullptr) || any;
  }
  if (!any) return;
  step(actor, slot, batch, {TraceKind::kReceived, port, batch.header->time_first_tsc, {}, {}});
}

bool WatchPoint::follows(std::uint32_t slot, std::uint64_t generation) const noexcept {
  return std::ranges::any_of(*held_, [&](const Watch* watch) {
    return watch != nullptr && watch->mark(slot, generation) != nullptr;
  });
}

void WatchPoint::step(std::uint32_t actor, std::uint32_t slot, const Batch& batch,
                      const Step& step) const noexcept {
  for (Watch* watch : *held_) {
    const TraceMark* mark =
        watch == nullptr ? nullptr : watch->mark(slot, batch.header->generation);
    if (mark == nullptr) continue;
    const std::uint64_t now = tsc_now();
    for (std::uint32_t i = 0; i < mark->count; ++i) {
      const std::uint32_t packet = mark->packet[i];
      if (packet >= batch.count) continue;
      const Seen seen = packet_of(batch, packet, now);
      const bool took_part =
          step.kind != TraceKind::kFunction || std::ranges::binary_search(step.selected, packet);
      const bool to_output =
          step.kind == TraceKind::kReleased && batch.output[packet] != kOutputDefault;
      const TraceStep said{
          .id = mark->first_id + i,
          .number = to_output ? batch.output[packet] : step.number,
          .since_tsc = step.since_tsc != 0 ? step.since_tsc : now,
          .sequence = batch.header->sequence,
          .result = packet < step.results.size() && took_part ? step.results[packet] : 0,
          .classes = batch.classes[packet],
          .actor = static_cast<std::uint16_t>(actor),
          .stream = batch.header->stream,
          .lane = batch.header->lane,
          .packet = static_cast<std::uint16_t>(packet),
          .kind = step.kind,
          .took_part = took_part,
          .port_after = port_after(batch, packet)};
      watch->show_step(said, {.point = kStepPoint,
                              .verdict = static_cast<std::uint8_t>(seen.verdict),
                              .reason = static_cast<std::uint8_t>(seen.reason),
                              .wire_length = seen.wire_length,
                              .time_tsc = now});
    }
  }
}

void WatchPoint::device_step(std::uint32_t actor, std::uint32_t slot, std::uint64_t generation,
                             std::uint32_t stream, std::uint32_t lane,
                             std::uint64_t since_tsc) const noexcept {
  for (Watch* watch : *held_) {
    const TraceMark* mark = watch == nullptr ? nullptr : watch->mark(slot, generation);
    if (mark == nullptr) continue;
    for (std::uint32_t i = 0; i < mark->count; ++i) {
      const TraceStep said{.id = mark->first_id + i,
                           .number = kNoNumber,
                           .since_tsc = since_tsc,
                           .actor = static_cast<std::uint16_t>(actor),
                           .stream = static_cast<std::uint16_t>(stream),
                           .lane = static_cast<std::uint16_t>(lane),
                           .packet = mark->packet[i],
                           .kind = TraceKind::kDevice,
                           .took_part = 1};
      watch->show_step(said, {.point = kStepPoint, .time_tsc = tsc_now()});
    }
  }
}

void WatchPoint::serve(const std::string& topology, std::uint32_t actor_count, std::uint32_t actor,
                       std::uint32_t incarnation) {
  topology_ = topology;
  actor_count_ = actor_count;
  served_.push_back({actor, incarnation});
}

void WatchPoint::look() noexcept {
  try {
    settle();
    if (changing_) return;  // the data thread has not taken over the last change yet
    bool changed = false;
    for (std::uint32_t number = 0; number < kWatchCountMax; ++number) {
      changed = look_at(number) || changed;
    }
    if (changed) publish();
  } catch (const std::exception&) {
    // Without memory to map it, or for a list, nothing is shown.
  }
}

/// True when there is a new watch, or one has ended.
bool WatchPoint::look_at(std::uint32_t number) {
  std::unique_ptr<Watch>& watch = watches_[number];
  if (watch) {
    if (watch->watched()) return false;
    ended_.push_back(std::move(watch));
    return true;
  }
  std::optional<WatchFile> found = WatchFile::attach(topology_, number, actor_count_);
  if (!found) return false;
  watch = std::make_unique<Watch>(std::move(*found));
  return true;
}

void WatchPoint::publish() {
  auto list = std::make_unique<Watches>();
  bool any = false;
  for (std::uint32_t i = 0; i < kWatchCountMax; ++i) {
    (*list)[i] = watches_[i].get();
    any = any || watches_[i];
  }
  old_list_ = std::exchange(list_, std::move(list));
  changing_ = true;
  wanted_.store(any ? list_.get() : nullptr, std::memory_order_release);
}

/// Called when the data thread uses the newest list: tells the watchers, unmaps watches that ended.
void WatchPoint::settle() noexcept {
  if (!changing_) return;
  if (told_.load(std::memory_order_acquire) != wanted_.load(std::memory_order_relaxed)) return;
  changing_ = false;
  old_list_.reset();
  ended_.clear();
  for (const auto& watch : watches_) {
    if (!watch) continue;
    for (const Served& one : served_) watch->attached(one.actor, one.incarnation);
  }
}

}  // namespace millrace
