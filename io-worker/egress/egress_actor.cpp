// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/egress_actor.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "shared/config/loop.hpp"
#include "shared/layout/latency.hpp"
#include "shared/links/completion.hpp"
#include "shared/links/ledger.hpp"
#include "shared/packet/tick.hpp"

namespace millrace {
namespace {

std::uint32_t window_depth(const Plan& plan) {
  std::uint32_t most = 0;
  for (const PlanStream& stream : plan.streams) most = std::max(most, stream.slot_count);
  return most + plan.stand_in_slot_count;
}

std::vector<std::uint8_t> default_outputs(const Plan& plan, std::uint32_t lane_count) {
  std::vector<std::uint8_t> outputs(plan.streams.size() * lane_count, 0);
  for (std::size_t stream = 0; stream < plan.streams.size(); ++stream) {
    for (const PlanStreamPath& at : plan.streams[stream].paths) {
      const PlanPath& path = plan.paths[at.path];
      std::fill_n(
          outputs.begin() + static_cast<std::ptrdiff_t>(stream * lane_count) + path.lane_first,
          path.lane_count, static_cast<std::uint8_t>(at.output));
    }
  }
  return outputs;
}

/// Counts a packet that was dropped or consumed; of a stand-in, a packet that its hole has lost.
void count_not_sent(const Batch& batch, std::uint32_t packet, LaneRecord& record) noexcept {
  const bool consumed = !batch.leaves(packet) && !batch.is_dropped(packet);
  count_end(record, consumed ? record.consumed : record.dropped, batch.reason[packet]);
}

/// Counts an answer made in the buffer of its question: the question was consumed, the answer
/// generated.
void count_answer(std::uint8_t what, LaneRecord& record) noexcept {
  count_end(record, record.consumed, Reason::kAnswered);
  count_end(record, record.generated, what);
}

std::vector<bool> streams_with_ticks(const Plan& plan) {
  std::vector<bool> with(plan.streams.size());
  for (std::size_t stream = 0; stream < with.size(); ++stream) {
    with[stream] = loop_tick_ms(plan.ports[plan.streams[stream].port]) != 0;
  }
  return with;
}

/// Ends ticks that no function has consumed: they are no packets for a network.
void end_ticks(const Batch& batch) noexcept {
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    if (batch.leaves(i) && is_tick(batch.bytes(i))) batch.consume(i, Reason::kControl);
  }
}

/// Whether all values are equal: then the column equals itself moved by one.
bool is_uniform(std::span<const std::uint8_t> column) noexcept {
  return std::memcmp(column.data(), column.data() + 1, column.size() - 1) == 0;
}

/// Whether every packet of the batch goes to the same port.
bool leaves_whole(const Batch& batch) noexcept {
  return batch.count != 0 && batch.goes_on(0) && is_uniform(batch.verdict) &&
         is_uniform(batch.output);
}

std::vector<std::uint32_t> paths_of_lanes(const Plan& plan, std::uint32_t lane_count) {
  std::vector<std::uint32_t> paths(lane_count, 0);
  for (std::uint32_t i = 0; i < plan.paths.size(); ++i) {
    std::fill_n(paths.begin() + plan.paths[i].lane_first, plan.paths[i].lane_count, i);
  }
  return paths;
}

}  // namespace

EgressActor::EgressActor(const ActorContext& context, TxQueues& ports, StageWork& work)
    : context_(context),
      ports_(ports),
      work_(work),
      inbox_(context),
      window_(context.segment.layout().stream_count, context.segment.layout().lane_count,
              window_depth(*context.plan)),
      holes_(context.segment.layout().stream_count, context.segment.layout().lane_count),
      window_high_(context.status.actor_tally(context.me.actor).window),
      outputs_(default_outputs(*context.plan, context.segment.layout().lane_count)),
      has_ticks_(streams_with_ticks(*context.plan)),
      fetcher_(context),
      returns_(context, Returner::kEgress),
      scale_(context.status.header().tsc_hz),
      steps_(context),
      paths_(paths_of_lanes(*context.plan, context.segment.layout().lane_count)),
      pool_(context),
      sender_(context, ports, returns_, pool_),
      held_(context, sender_, pool_),
      side_(sender_, held_, pool_) {
  for (std::uint32_t stream = 0; stream < context.segment.layout().stream_count; ++stream) {
    latency_high_.emplace_back(context.status.stream_peaks(stream).latency_ns);
  }
}

std::uint32_t EgressActor::do_work() noexcept {
  returns_.wake_consumers();
  sender_.wake_readers();
  std::uint32_t done = sender_.holds() ? sender_.reclaim() : 0;
  if (!held_.empty()) [[unlikely]] {
    held_.tend(now_ns());
    if (stopping_) held_.give_up();
  }
  Taken taken;
  for (std::uint32_t batches = 0; batches < kBatchesPerRound && inbox_.take(taken); ++batches) {
    fetcher_.taken(taken.slot);
    std::uint32_t next = 0;
    if (inbox_.peek(next)) fetcher_.next(next);
    accept(taken);
    ++done;
  }
  note_released();
  return done;
}

void EgressActor::accept(const Taken& taken) noexcept {
  if (taken.computed) {
    const std::uint8_t next = finish_completion(context_, taken, work_, steps_);
    MILLRACE_CHECK(next == kEgressStage);
  }
  const SlotHeader& header = context_.segment.slot(taken.slot);
  const std::uint32_t stream = header.stream;
  const std::uint32_t lane = header.lane;
  const LaneLedger& ledger = context_.status.ledger(stream, lane);
  std::uint64_t next = ledger.record[ledger.flips & 1].released_sequence + 1;
  if (header.sequence == next) {
    release(taken.slot);
    ++next;
  } else {
    ++context_.counter(Counter::kBatchesOutOfOrder);
    window_.insert(stream, lane, next, header.sequence, taken.slot);
    context_.raise(Counter::kWindowHighWater, window_.waiting());
    window_high_.note(turn_clock::last(), window_.waiting());
    return;
  }
  std::uint32_t slot = 0;
  while (window_.waiting() != 0 &&
         (slot = window_.remove(stream, lane, next)) != OrderWindow::kNone) {
    release(slot);
    ++next;
  }
}

void EgressActor::release(std::uint32_t slot) noexcept {
  hook(HookPoint::kSendState);
  context_.set_state(slot, SlotKind::kSending, kEgressStage);
  const Batch batch = context_.segment.batch(slot);
  LaneLedger& ledger = context_.status.ledger(batch.header->stream, batch.header->lane);
  // A packet whose neighbour has answered leaves before those that found the answer.
  if (!held_.empty()) [[unlikely]]
    held_.tend(now_ns());
  LaneRecord& record = begin_record(ledger, *batch.header);
  transmit(batch, record);
  if (context_.watched()) [[unlikely]]
    show_released(slot, batch);
  sender_.publish(batch.header->stream, batch.header->lane);
  ++context_.counter(Counter::kBatches);
  context_.counter(Counter::kPackets) += batch.count;
  remember(*batch.header);
  free_batch(slot, batch);
}

void EgressActor::transmit(const Batch& batch, LaneRecord& record) noexcept {
  const std::uint8_t default_output =
      outputs_[batch.header->stream * context_.segment.layout().lane_count + batch.header->lane];
  const bool stand_in = is_stand_in(*batch.header);  // it has no packets to send
  if (has_ticks_[batch.header->stream] && !stand_in) [[unlikely]]
    end_ticks(batch);
  const bool asks = batch.header->side_count != 0 && !stand_in;
  sender_.begin(batch, record);
  const auto port_of = [&](std::uint32_t packet) {
    return batch.output[packet] == kOutputDefault ? default_output : batch.output[packet];
  };
  if (!asks && !stand_in && leaves_whole(batch) && sender_.reaches(port_of(0))) {
    sender_.send_whole(port_of(0));
    return;
  }
  if (asks) [[unlikely]]
    side_.begin(batch, record, now_ns());
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    const bool waits = asks && side_.at(i);
    if (!batch.leaves(i) || stand_in) {
      if (is_held(batch, i) && !waits) [[unlikely]]
        batch.drop(i, Reason::kSideFull);  // else it would be in flight for ever
      count_not_sent(batch, i, record);
      continue;
    }
    const std::uint8_t port = port_of(i);
    if (!sender_.reaches(port)) {
      batch.drop(i, Reason::kNoOutput);
      count_end(record, record.dropped, Reason::kNoOutput);
      continue;
    }
    if (!goes_on(batch.verdict[i]) && batch.reason[i] != 0) count_answer(batch.reason[i], record);
    sender_.add(i, port);
  }
  sender_.send_all();
}

std::uint64_t EgressActor::now_ns() const noexcept {
  return scale_.ns_between(context_.status.header().tsc_origin, turn_clock::read());
}

void EgressActor::show_released(std::uint32_t slot, const Batch& batch) const noexcept {
  if (is_stand_in(*batch.header)) return;  // a stand-in has no packets
  const std::uint8_t port =
      outputs_[batch.header->stream * context_.segment.layout().lane_count + batch.header->lane];
  context_.watch->step(context_.me.actor, slot, batch,
                       {.kind = TraceKind::kReleased, .number = port});
  const std::uint64_t now = tsc_now();
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    if (!batch.is_dropped(i)) continue;
    context_.watch->dropped(context_.me.actor,
                            {batch.bytes(i), batch.wire_length(i), now, Verdict::kDrop,
                             static_cast<Reason>(batch.reason[i])});
  }
}

void EgressActor::free_batch(std::uint32_t slot, const Batch& batch) noexcept {
  hook(HookPoint::kFreeState);
  context_.set_state(slot, SlotKind::kFreeing, kEgressStage);
  if (is_stand_in(*batch.header)) {
    context_.set_state(slot, SlotKind::kFree,
                       0);  // the slot of a stand-in is the hub's, which scans for free ones
    return;
  }
  if (sender_.kept_any()) [[unlikely]] {
    std::array<std::uint32_t, kBatchCapacityMax> rest;
    returns_.give_back(slot, {rest.data(), sender_.not_kept(batch, rest)});
  } else {
    returns_.give_back(slot, batch.buffer);
  }
}

void EgressActor::remember(const SlotHeader& header) noexcept {
  if (!metrics_kept()) return;
  if (released_count_ == released_.size()) note_released();
  released_[released_count_++] = {header.time_first_tsc, header.time_stage_tsc,
                                  header.stream,         header.lane,
                                  header.count,          is_stand_in(header)};
}

void EgressActor::note_released() noexcept {
  if (released_count_ == 0) return;
  const std::uint64_t now = turn_clock::read();
  for (const Released& batch : std::span(released_).first(std::exchange(released_count_, 0))) {
    if (!batch.stand_in) {  // a stand-in has made no step before
      steps_.note_release(paths_[batch.lane], batch.stage_tsc, now);
    }
    const std::uint64_t ns = scale_.ns_between(batch.first_tsc, now);
    note_duration(context_.status.latency(batch.stream), ns, batch.count);
    latency_high_[batch.stream].note(now, ns);
  }
}

void EgressActor::tell_trouble() noexcept {
  for (std::size_t port = 0; port < ports_.size(); ++port) {
    const bool failed = ports_[port] && ports_[port]->failed();
    if (!tell_ || failed == std::exchange(failed_[port], failed)) continue;
    const TroubleText what = failed ? ports_[port]->trouble() : TroubleText{};
    const bool told = std::exchange(told_[port], !what.empty());
    if (what.empty() && !told) continue;
    TroubleText text;
    text.add("port '%s': %s", context_.plan->ports[port].name.c_str(),
             failed ? what.c_str() : "it takes packets again");
    tell_(text.view());
  }
}

void EgressActor::take_stock(std::uint64_t now_tsc) noexcept {
  tell_trouble();
  work_.take_tables();
  inbox_.take_stock();
  context_.counter(Counter::kWindowBatches) = window_.waiting();
  context_.my_entry().in_hand.store(window_.waiting(), std::memory_order_relaxed);
  context_.counter(Counter::kHeldPackets) = held_.count();
  context_.counter(Counter::kOldestHole) =
      holes_.oldest(window_, now_tsc, [&](std::uint32_t stream, std::uint32_t lane) {
        const LaneLedger& ledger = context_.status.ledger(stream, lane);
        return ledger.record[ledger.flips & 1].released_sequence + 1;
      });
}

void EgressActor::read_roster() noexcept {
  inbox_.read_roster();
  for (const auto& port : ports_) {
    if (port) port->roster_moved();
  }
}

void EgressActor::before_sleep() noexcept {
  sender_.wake_readers();
  for (const auto& port : ports_) {
    if (port) port->flush();
  }
  tell_trouble();
  context_.my_entry().in_hand.store(window_.waiting(), std::memory_order_relaxed);
}

}  // namespace millrace
