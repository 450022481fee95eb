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

/// What every actor works with: the plan, the two shared memories, and its own number. Borrowed
/// from the process's main(); copied freely.
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
  /// Sets the counter to `value` if that is higher.
  void raise(Counter id, std::uint64_t value) const {
    counter(id) = std::max<std::uint64_t>(counter(id), value);
  }
  ActorState state_of(std::uint32_t actor) const {
    return static_cast<ActorState>(entry(actor).state.load(std::memory_order_acquire));
  }
  /// True when a watcher wants to see this thread's batches: then use *watch.
  bool watched() const { return watch != nullptr && watch->on(); }
  /// Changes the slot's state; the step from the present one is CHECKed against kSlotRules. The
  /// slot is ours.
  void set_state(std::uint32_t slot, SlotKind kind, std::uint8_t stage) const {
    SlotHeader& header = segment.slot(slot);
    const SlotState now = SlotState::from_word(header.state.load(std::memory_order_relaxed));
    MILLRACE_CHECK(may_become(now.kind, kind));
    header.state.store(SlotState{kind, stage}.word(), std::memory_order_release);
  }
};

}  // namespace millrace
