// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/status_source.hpp"

#include "shared/base/check.hpp"
#include "shared/base/clock.hpp"
#include "shared/config/loop.hpp"
#include "shared/links/loop_balance.hpp"

namespace millrace {

std::uint64_t counter_of(const StatusView& status, std::uint32_t actor, Counter id) {
  std::uint64_t& word = status.counters(actor)[static_cast<std::size_t>(id)];
  return std::atomic_ref(word).load(std::memory_order_relaxed);
}

StatusSource::StatusSource(const Plan& plan)
    : plan_(plan), mapping_(Mapping::attach_status(status_file_name(plan.name), false)) {
  view_ = StatusView::attach(mapping_.base(), mapping_.bytes(), plan);
}

ActorState StatusSource::state(std::uint32_t actor) const {
  MILLRACE_CHECK(actor < plan_.actors.size());
  return static_cast<ActorState>(view_.actor(actor).state.load(std::memory_order_acquire));
}

StatusSource::Facts StatusSource::facts(std::uint32_t actor) const {
  MILLRACE_CHECK(actor < plan_.actors.size());
  const ActorEntry& entry = view_.actor(actor);
  const std::uint64_t* counters = view_.counters(actor);
  const std::uint64_t beat = entry.heartbeat_tsc.load(std::memory_order_relaxed);
  const std::uint64_t now = tsc_now();
  const TscScale scale(view_.header().tsc_hz);
  return {.incarnation = entry.incarnation.load(std::memory_order_relaxed),
          .pid = entry.pid.load(std::memory_order_relaxed),
          .packets = counters[static_cast<std::size_t>(Counter::kPackets)],
          .batches = counters[static_cast<std::size_t>(Counter::kBatches)],
          .heartbeat_age_ms = beat == 0 ? 0 : scale.ns_between(beat, now) / 1'000'000,
          .busy_ticks = counters[static_cast<std::size_t>(Counter::kBusyCycles)],
          .idle_ticks = counters[static_cast<std::size_t>(Counter::kIdleCycles)]};
}

std::uint64_t StatusSource::receive_errors(std::uint32_t actor) const {
  return counter_of(view_, actor, Counter::kRxErrors);
}

std::uint32_t StatusSource::revision(std::uint32_t actor) const {
  MILLRACE_CHECK(actor < plan_.actors.size());
  return static_cast<std::uint32_t>(
      view_.actor_tally(actor).revision.load(std::memory_order_acquire));
}

std::vector<std::uint64_t> StatusSource::sealed() const {
  std::vector<std::uint64_t> numbers;
  for (std::uint32_t stream = 0; stream < plan_.streams.size(); ++stream) {
    for (const std::uint32_t lane : lanes_of(plan_, plan_.streams[stream])) {
      numbers.push_back(
          view_.ingress_lane(stream, lane).sealed_sequence.load(std::memory_order_acquire));
    }
  }
  return numbers;
}

bool StatusSource::released(const std::vector<std::uint64_t>& sealed) const {
  auto number = sealed.begin();
  for (std::uint32_t stream = 0; stream < plan_.streams.size(); ++stream) {
    for (const std::uint32_t lane : lanes_of(plan_, plan_.streams[stream])) {
      if (number == sealed.end()) return true;
      const std::uint64_t released =
          view_.ledger(stream, lane).released.load(std::memory_order_acquire);
      if (released < *number++) return false;
    }
  }
  return true;
}

std::uint64_t StatusSource::skipped(std::uint32_t function, SkipReason why) const {
  MILLRACE_CHECK(function < plan_.functions.size());
  std::uint64_t total = 0;
  for (std::uint32_t actor = 0; actor < plan_.actors.size(); ++actor) {
    total += std::atomic_ref(view_.skipped(actor, function, why)).load(std::memory_order_relaxed);
  }
  return total;
}

bool StatusSource::is_out(std::uint32_t function) const {
  MILLRACE_CHECK(function < kFunctionPlaceMax);  // a bit of one word
  const auto out = view_.header().functions_out.load(std::memory_order_relaxed);
  return (out >> function & 1) != 0;
}

bool StatusSource::is_drained() const {
  return view_.header().drained.load(std::memory_order_acquire) != 0;
}

std::uint64_t StatusSource::refused(std::uint32_t path) const {
  MILLRACE_CHECK(path < plan_.paths.size());
  const PlanPath& planned = plan_.paths[path];
  std::uint64_t total = 0;
  for (std::uint32_t stream = 0; stream < plan_.streams.size(); ++stream) {
    for (std::uint32_t i = 0; i < planned.lane_count; ++i) {
      total += view_.ingress_lane(stream, planned.lane_first + i)
                   .refused.complete()
                   .packets.load(std::memory_order_relaxed);
    }
  }
  return total;
}

std::uint64_t StatusSource::in_batches() const {
  std::uint64_t total = 0;
  for (std::uint32_t stream = 0; stream < plan_.streams.size(); ++stream) {
    for (const std::uint32_t lane : lanes_of(plan_, plan_.streams[stream])) {
      // First what has left: what is received meanwhile shows as in flight, never as less than
      // none.
      const std::uint64_t left = read_record(view_.ledger(stream, lane)).received;
      const std::uint64_t received =
          view_.ingress_lane(stream, lane).received.load(std::memory_order_acquire);
      if (received > left) total += received - left;
    }
  }
  return total;
}

/// A packet that comes in from a loop between the looks at both would be in neither: then it has
/// been received in between.
std::uint64_t StatusSource::in_flight() const {
  if (!has_loop(plan_)) return in_batches();
  const std::uint64_t before = received();
  const std::uint64_t total = in_batches() + packets_in_loops(plan_, view_);
  return total == 0 && received() != before ? 1 : total;
}

std::uint64_t StatusSource::received() const {
  std::uint64_t total = 0;
  for (std::uint32_t stream = 0; stream < plan_.streams.size(); ++stream) {
    for (const std::uint32_t lane : lanes_of(plan_, plan_.streams[stream])) {
      total += view_.ingress_lane(stream, lane).received.load(std::memory_order_acquire);
    }
  }
  return total;
}

bool StatusSource::all_exhausted() const {
  for (const PlanStream& stream : plan_.streams) {
    if (state(stream.ingress) != ActorState::kAlive) return false;
    if (view_.actor(stream.ingress).exhausted.load(std::memory_order_acquire) == 0) return false;
  }
  return !plan_.streams.empty();
}

}  // namespace millrace
