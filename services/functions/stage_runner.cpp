// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stage_runner.hpp"

#include <algorithm>
#include <utility>

#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/selection.hpp"
#include "services/functions/stage_parts.hpp"
#include "shared/base/check.hpp"
#include "shared/base/clock.hpp"
#include "shared/layout/all_pass.hpp"
#include "shared/layout/payload_hint.hpp"

namespace millrace {
namespace {

/// Behind these bytes the processor's own prefetcher has seen the stream.
constexpr std::uint32_t kPrefetchBytesMax = 4 * static_cast<std::uint32_t>(kCacheLine);

/// Where a region starts at the latest in the usual frame: Ethernet, IPv4, TCP.
std::uint32_t usual_start(Region::Start from) {
  switch (from) {
    case Region::Start::kFrame:
      return 0;
    case Region::Start::kNetwork:
      return 14;
    case Region::Start::kTransport:
      return 34;
    case Region::Start::kPayload:
      return 54;
  }
  return 0;
}

std::uint32_t prefetch_bytes_of(std::span<const Region> regions) {
  std::uint32_t bytes = 0;
  for (const Region& region : regions) {
    const std::uint32_t length = std::min(region.usual_bytes, kPrefetchBytesMax);
    bytes = std::max(bytes, usual_start(region.from) + length);
  }
  return std::min(bytes, kPrefetchBytesMax);
}

/// What a batch is like between two functions.
struct Seen {
  explicit Seen(const Batch& batch) noexcept
      : all(all_pass(batch)), dropped(all || !metrics_kept() ? 0 : fates_in(batch).dropped) {}

  bool all;  ///< its packets pass
  std::uint32_t dropped;
};

/// `dropped` of the selected packets, by their reasons. One addition where there is only one.
void tally_drops(const StageFunction& at, const Batch& batch, Selection selected,
                 std::uint32_t dropped) noexcept {
  if (dropped == 0 || at.drops == nullptr) return;
  std::uint64_t* const by_reason = at.drops->dropped;
  if (at.drops_for != Reason::kNone) {
    by_reason[static_cast<std::size_t>(at.drops_for)] += dropped;
    return;
  }
  for (const std::uint16_t packet : selected.packets) {
    if (!batch.is_dropped(packet)) continue;
    ++by_reason[batch.reason[packet] % kReasonCount];
    if (--dropped == 0) return;
  }
}

/// What one function did with one batch, once it has finished.
void tally(FunctionTally* to, std::size_t selected, std::uint32_t dropped,
           std::uint64_t ticks) noexcept {
  if (!metrics_kept() || to == nullptr) return;
  to->packets += selected - dropped;
  to->dropped += dropped;
  if (ticks == 0) return;
  to->timed_packets += selected;
  to->timed_ticks += ticks;
}

/// A function that is out of service: its packets go on or are dropped, counted.
void go_past(const StageFunction& at, const Batch& batch, Selection selected) noexcept {
  if (at.skipped != nullptr) *at.skipped += selected.packets.size();
  if (at.when_out == Fallback::kPass) return;
  for (const std::uint16_t packet : selected.packets) batch.drop(packet, Reason::kUnavailable);
  if (!metrics_kept() || at.drops == nullptr) return;
  at.drops->dropped[static_cast<std::size_t>(Reason::kUnavailable)] += selected.packets.size();
}

/// Payloads may be others than those that the hint is of, and headers than those that were parsed.
void end_hints_behind(const StageFunction& at, const Batch& batch, FlowBatch* flows) noexcept {
  if (at.rewrites == Rewrites::kAll) end_hint(*batch.header);
  if (at.rewrites != Rewrites::kNone && flows != nullptr) flows->forget_usual();
}

LaneState state_of(std::span<const LaneState> states, std::size_t function) noexcept {
  return states.empty() ? LaneState{} : states[function];
}

}  // namespace

StageRunner::StageRunner(const std::vector<StageFunction>& functions, StageWatch watch)
    : watch_(watch), sampler_(functions.size()) {
  MILLRACE_CHECK(!functions.empty() && functions.size() <= kStageFunctionCountMax);
  sampler_.take_one_of(kTimedEach);
  members_.reserve(functions.size());
  std::uint32_t may_be_set = 0, fetched = 0;
  for (const StageFunction& function : functions) {
    MILLRACE_CHECK(function.function != nullptr);
    auto* const in_parts = dynamic_cast<FunctionInParts*>(function.function);
    MILLRACE_CHECK(in_parts == nullptr || function.function->flows() == nullptr);
    const std::uint32_t bytes = prefetch_bytes_of(function.regions);
    const bool known_at_entry = (function.when_class & may_be_set) == 0;
    members_.push_back({.at = function,
                        .when_at_entry = known_at_entry ? function.when_class : 0,
                        .prefetch_bytes = bytes > fetched ? bytes : 0,
                        .in_parts = in_parts});
    may_be_set |= function.class_mask;
    fetched = std::max(fetched, bytes);
    if (giver_ == kNoGiver && function.function->flows() != nullptr) giver_ = members_.size() - 1;
  }
}

bool StageRunner::is_out(const StageFunction& at) const noexcept {
  if (watch_.out == nullptr) return false;
  return (watch_.out->load(std::memory_order_relaxed) >> at.number & 1) != 0;
}

/// Should we die from here on, this function did it.
void StageRunner::enter(const StageFunction& at) const noexcept {
  if (watch_.running == nullptr) return;
  watch_.running->store(at.number + 1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void StageRunner::leave() const noexcept {
  if (watch_.running == nullptr) return;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  watch_.running->store(0, std::memory_order_relaxed);
}

/// All that finish is told but the packets.
FinishContext StageRunner::call_of(std::size_t member, const Visit& visit,
                                   std::span<const std::uint32_t> results) noexcept {
  const StageFunction& at = members_[member].at;
  std::size_t behind = 0;
  if (member == giver_) {
    for (std::size_t i = member + 1; i < members_.size(); ++i) {
      const StageFunction& other = members_[i].at;
      behind_[behind++] = {other.function, state_of(visit.states, i),
                           EventWriter(visit.facts.events, visit.batch, other.number),
                           other.counters};
    }
  }
  return {visit.batch,
          {},
          results,
          at.counters,
          state_of(visit.states, member),
          visit.facts,
          EventWriter(visit.facts.events, visit.batch, at.number),
          at.reason_numbers,
          visit.flows,
          std::span(behind_).first(behind)};
}

void StageRunner::finish(std::size_t member, Visit& visit, Selection selected,
                         std::span<const std::uint32_t> results) noexcept {
  FinishContext call = call_of(member, visit, results);
  call.selected = selected;
  const StageFunction& at = members_[member].at;
  at.function->finish(call);
  if (member == giver_) visit.flows = at.function->flows();
  end_hints_behind(at, visit.batch, visit.flows);
}

void StageRunner::compute_and_finish(std::size_t member, Visit& visit, Selection selected,
                                     std::span<std::uint32_t> results) noexcept {
  const Member& one = members_[member];
  if (one.in_parts == nullptr) {
    compute_all(*one.at.function, visit.batch, selected, results, one.prefetch_bytes);
    finish(member, visit, selected, results);
    return;
  }
  FinishContext call = call_of(member, visit, results);
  call.selected = selected;
  run_in_parts(*one.in_parts, call, results, one.prefetch_bytes);
  end_hints_behind(one.at, visit.batch, visit.flows);
}

/// The giver of flows is told when the last function is through.
void StageRunner::end_batch(const Visit& visit) noexcept {
  if (visit.flows == nullptr) return;
  const StageFunction& at = members_[giver_].at;
  enter(at);
  const std::span<const StateOfFunction> behind =
      std::span(behind_).first(members_.size() - giver_ - 1);
  const EndOfBatch end =
      at.function->end_batch({visit.batch,
                              {},
                              {},
                              at.counters,
                              state_of(visit.states, giver_),
                              visit.facts,
                              EventWriter(visit.facts.events, visit.batch, at.number),
                              at.reason_numbers,
                              visit.flows,
                              behind});
  if (!metrics_kept()) return;
  for (const auto& [packets, why] : end.drops) {
    if (at.counters.tally != nullptr) {
      at.counters.tally->packets -= packets;
      at.counters.tally->dropped += packets;
    }
    if (at.drops != nullptr) at.drops->dropped[static_cast<std::size_t>(why)] += packets;
  }
}

void StageRunner::run(const Batch& batch, std::span<const LaneState> states,
                      const BatchFacts& facts, StageListener* listener) noexcept {
  const bool timed = metrics_kept() && sampler_.takes();
  Visit visit{batch, states, facts};
  Seen seen(batch);
  const std::size_t count = members_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const StageFunction& at = members_[i].at;
    const Selection selected = select_packets(batch, at.when_class, selected_, seen.all);
    if (selected.packets.empty() && i != giver_) continue;
    if (is_out(at)) {
      go_past(at, batch, selected);
      seen = Seen(batch);
      continue;
    }
    enter(at);
    const std::span<std::uint32_t> results = std::span(results_).first(batch.count);
    const std::uint64_t began = timed || listener != nullptr ? tsc_now() : 0;
    compute_and_finish(i, visit, selected, results);
    const std::uint64_t ticks = timed ? tsc_now() - began : 0;
    const std::uint32_t before = std::exchange(seen, Seen(batch)).dropped;
    tally(at.counters.tally, selected.packets.size(), seen.dropped - before, ticks);
    tally_drops(at, batch, selected, seen.dropped - before);
    if (listener != nullptr) listener->ran(at.number, selected, results, began);
  }
  end_batch(visit);
  leave();
}

void StageRunner::run_compute(const Batch& batch, std::span<std::uint32_t> results) noexcept {
  MILLRACE_CHECK(results.size() >= members_.size() * batch.capacity);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Selection selected = select_packets(batch, members_[i].when_at_entry, selected_);
    if (selected.packets.empty()) continue;
    compute_all(*members_[i].at.function, batch, selected,
                results.subspan(i * batch.capacity, batch.count), members_[i].prefetch_bytes);
  }
}

void StageRunner::run_finish(const Batch& batch, std::span<const std::uint32_t> results,
                             std::span<const LaneState> states, const BatchFacts& facts,
                             StageListener* listener) noexcept {
  MILLRACE_CHECK(results.size() >= members_.size() * batch.capacity);
  Visit visit{batch, states, facts};
  Seen seen(batch);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const StageFunction& at = members_[i].at;
    const Selection selected = select_packets(batch, at.when_class, selected_, seen.all);
    if (selected.packets.empty() && i != giver_) continue;
    if (is_out(at)) {
      go_past(at, batch, selected);
      seen = Seen(batch);
      continue;
    }
    enter(at);
    const std::uint64_t began = listener != nullptr ? tsc_now() : 0;
    const std::span<const std::uint32_t> words = results.subspan(i * batch.capacity, batch.count);
    finish(i, visit, selected, words);
    const std::uint32_t before = std::exchange(seen, Seen(batch)).dropped;
    tally(at.counters.tally, selected.packets.size(), seen.dropped - before, 0);
    tally_drops(at, batch, selected, seen.dropped - before);
    if (listener != nullptr) listener->ran(at.number, selected, words, began);
  }
  end_batch(visit);
  leave();
}

}  // namespace millrace
