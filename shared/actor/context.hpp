// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "shared/config/plan.hpp"
#include "shared/layout/metrics_kept.hpp"
#include "shared/layout/segment.hpp"
#include "shared/layout/status_layout.hpp"
#include "shared/metrics/counter_ids.hpp"
#include "shared/watch/watch_point.hpp"

namespace millrace {

/// What every actor has at hand: the plan, the two shared memories, and which it is. Borrowed from
/// the process's main(); copied freely.
struct ActorContext {
  const Plan* plan = nullptr;
  SegmentView segment;
  StatusView status;
  Owner me;
  WatchPoint* watch = nullptr;  ///< of the process; null: none can watch

  ActorEntry& entry(std::uint32_t actor) const { return status.actor(actor); }
  ActorEntry& my_entry() const { return status.actor(me.actor); }
  /// One of the actor's own counters; this thread is its only writer.
  CounterRef counter(Counter id) const {
    return status.counters(me.actor)[static_cast<std::size_t>(id)];
  }
  /// The highest that the counter has been told.
  void raise(Counter id, std::uint64_t value) const {
    counter(id) = std::max<std::uint64_t>(counter(id), value);
  }
  ActorState state_of(std::uint32_t actor) const {
    return static_cast<ActorState>(entry(actor).state.load(std::memory_order_acquire));
  }
  /// A watcher wants what this thread has in hand: then *watch may be shown to.
  bool watched() const { return watch != nullptr && watch->on(); }
  /// Slot states: from the present one, CHECKed against kSlotRules. The slot is ours.
  void set_state(std::uint32_t slot, SlotKind kind, std::uint8_t stage) const {
    SlotHeader& header = segment.slot(slot);
    const SlotState now = SlotState::from_word(header.state.load(std::memory_order_relaxed));
    MILLRACE_CHECK(may_become(now.kind, kind));
    header.state.store(SlotState{kind, stage}.word(), std::memory_order_release);
  }
};

}  // namespace millrace
