// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_batch.hpp"

#include <nmmintrin.h>

#include <algorithm>
#include <cstring>

#include "services/functions/flow/flow_timeout.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

std::uint32_t hash_of(const FlowTuple& tuple) noexcept {
  std::array<std::uint64_t, 5> words;
  std::memcpy(words.data(), &tuple, sizeof tuple);
  std::uint64_t hash = 0;
  for (const std::uint64_t word : words) hash = _mm_crc32_u64(hash, word);
  return static_cast<std::uint32_t>(hash);
}

FlowPhase phase_of(const FlowEntry& flow) noexcept {
  const TcpState tcp = state_of(flow.own.tcp);
  if (tcp == TcpState::kTimeWait || tcp == TcpState::kClose || tcp == TcpState::kLastAck) {
    return FlowPhase::kClosed;
  }
  const bool has_lasted = flow.established != 0 || is_assured(flow.own.tcp) ||
                          (flow.tuple.protocol != ip_protocol::kTcp && flow.own.answered != 0);
  return has_lasted ? FlowPhase::kEstablished : FlowPhase::kNew;
}

/// What is told of a flow that ends.
FlowEvent event_of(const FlowEntry& flow, FlowEndReason why, std::uint64_t now_ms) noexcept {
  FlowEvent event{};
  event.packets[0] = EventCount(flow.sent.packets.value());
  event.packets[1] = EventCount(flow.answered.packets.value());
  event.bytes[0] = EventCount(flow.sent.bytes.value());
  event.bytes[1] = EventCount(flow.answered.bytes.value());
  event.lasted_ms = EventCount(flow.own.duration_ms);
  const std::uint64_t last_ms = flow.own.started_ms + flow.own.duration_ms;
  event.idle_ms = EventCount(now_ms > last_ms ? now_ms - last_ms : 0);
  event.phase = phase_of(flow);
  const bool done = event.phase == FlowPhase::kClosed && why == FlowEndReason::kTimeout;
  event.reason = done ? FlowEndReason::kClosed : why;
  event.tcp = static_cast<FlowTcpState>(state_of(flow.own.tcp));
  event.tcp_flags[0] = flow.own.tcp_flags[0];
  event.tcp_flags[1] = flow.own.tcp_flags[1];
  event.is_translated = flow.answer != reversed(flow.tuple) ? 1 : 0;
  return event;
}

}  // namespace

void FlowBatch::begin(const FinishContext& call, const FlowSettings& settings,
                      const std::array<std::uint64_t, 2>& secret) noexcept {
  const std::uint32_t flows = flows_of_lane(settings, call.facts.lane_count);
  settings_ = &settings;
  port_in_ = call.facts.port_in;
  table_.emplace(call.state, flows, secret);
  fragments_.emplace(call.state, FlowTable::bytes_for(flows));
  behind_ = call.behind;
  events_ = call.events;
  now_ms_ = call.facts.now_ns / 1'000'000;
  given_up_ = ended_ = established_ended_ = 0;
  over_.reset();
  is_question_.reset();
  forget_usual();
  splits_.reset();
  renumbered_.reset();
  lost_.reset();
  for (std::uint32_t i = 0; i < packet_count_; ++i) packets_[i] = {};
  packet_count_ = call.batch.count;
  if (beginning_count_ != 0) places_.fill(0);
  beginning_count_ = 0;
}

void FlowBatch::revert_numbers(std::uint16_t packet, std::span<std::byte> frame) noexcept {
  if (!is_renumbered(packet)) return;
  renumbered_.reset(packet);
  const PacketFlow& at = packets_[packet];
  if (at.flow == kNoFlow) return;
  for (const StateOfFunction& one : behind_) {
    one.function->revert_numbers(one, tuple(at.flow, 0), at.direction, frame);
  }
}

std::optional<std::uint32_t> FlowBatch::place_of(const FlowTuple& tuple) const noexcept {
  for (std::size_t at = hash_of(tuple) % kPlaces; places_[at] != 0; at = (at + 1) % kPlaces) {
    const std::uint32_t place = places_[at] - 1u;
    if (!beginnings_[place].gone && beginnings_[place].tuple == tuple) return place;
  }
  return std::nullopt;
}

/// By what its packets have; an answer that is translated comes in no batch with its question.
std::optional<FlowTable::Found> FlowBatch::find_beginning(const FlowTuple& tuple) const noexcept {
  if (beginning_count_ == 0) return std::nullopt;
  if (const auto place = place_of(tuple)) return FlowTable::Found{*place | kBeginning, 0};
  if (const auto place = place_of(reversed(tuple))) return FlowTable::Found{*place | kBeginning, 1};
  return std::nullopt;
}

std::uint32_t FlowBatch::add_beginning(const Beginning& one) noexcept {
  const std::uint32_t place = beginning_count_++;
  beginnings_[place] = one;
  std::size_t at = hash_of(one.tuple) % kPlaces;
  while (places_[at] != 0) at = (at + 1) % kPlaces;
  places_[at] = static_cast<std::uint16_t>(place + 1);
  return place | kBeginning;
}

/// Writes it into the table, which may give an older one up for it.
FlowTable::Insertion FlowBatch::insert(Beginning& one, const FlowTuple& answer) noexcept {
  const FlowTable::Insertion done =
      table_->insert(one.tuple, answer, one.deadline_s, [this](std::uint32_t oldest) {
        ++given_up_;
        tell_end(oldest, FlowEndReason::kEvicted);
        lose(oldest, is_translated(oldest));
      });
  if (done.what != FlowTable::Inserted::kNew) return done;
  one.in_table = done.flow;
  table_->change_own(done.flow) = one.own;
  table_->count(done.flow, 0, one.packets[0], one.bytes[0]);
  if (one.packets[1] != 0) table_->count(done.flow, 1, one.packets[1], one.bytes[1]);
  return done;
}

FlowBatch::Translated FlowBatch::translate(std::uint32_t flow, const FlowTuple& answer) noexcept {
  if (table_->find(answer)) return Translated::kTaken;
  Beginning& one = beginning(flow);
  one.own.translated = 1;
  const std::uint32_t seconds = flow_timeout_s(one.tuple, one.own, settings_->timeouts);
  one.deadline_s = std::max(one.deadline_s, static_cast<std::uint32_t>(now_ms_ / 1000) + seconds);
  switch (insert(one, answer).what) {
    case FlowTable::Inserted::kNew:
      return Translated::kDone;
    case FlowTable::Inserted::kThere:
      return Translated::kTaken;
    case FlowTable::Inserted::kFull:
      break;
  }
  return Translated::kFull;
}

void FlowBatch::keep(std::uint32_t flow) noexcept {
  if ((flow & kBeginning) != 0) beginning(flow).is_kept = true;
}

/// Its time begins anew, by its TCP.
void FlowBatch::prolong(std::uint32_t flow) noexcept {
  const std::uint32_t deadline_s = static_cast<std::uint32_t>(now_ms_ / 1000) +
                                   flow_timeout_s(tuple(flow, 0), own(flow), settings_->timeouts);
  std::uint32_t number = flow;
  if (resolve(number)) {
    table_->set_deadline(number, deadline_s);
  } else {
    beginning(flow).deadline_s = deadline_s;
  }
}

void FlowBatch::follow(std::uint32_t flow, std::uint8_t direction,
                       const TcpSegment& segment) noexcept {
  if (follow_tcp(change_own(flow).tcp, direction, segment, settings_->tcp) == TcpStep::kFine) {
    prolong(flow);
  }
}

void FlowBatch::take_out(std::uint16_t packet) noexcept {
  forget_usual(packet);
  packets_[packet] = {};
  is_question_.reset(packet);
}

bool FlowBatch::begin_with(std::uint16_t packet, const FlowTuple& tuple,
                           const TcpSegment& segment) noexcept {
  const std::optional<TcpTrack> track = begin_tcp(segment, settings_->tcp);
  PacketFlow& is = packets_[packet];
  forget_usual(packet);
  if (!track) return false;
  if (is.flow == kNoFlow) {
    if (beginning_count_ == kBatchCapacityMax || table_->find(tuple) || find_beginning(tuple)) {
      return false;
    }
    Beginning one{.tuple = tuple, .answer = reversed(tuple)};
    one.own.started_ms = now_ms_;
    one.own.port_in = port_in_;
    one.packets[0] = 1;
    is.flow = add_beginning(one);
    lost_.reset(packet);
  }
  change_own(is.flow).tcp = *track;
  prolong(is.flow);
  is = {.flow = is.flow, .state = FlowState::kNew, .opens = true};
  is_question_.set(packet);
  return true;
}

void FlowBatch::tell_not_kept(const Beginning& one) noexcept {
  for (const StateOfFunction& other : behind_) {
    other.function->flow_not_kept(other, one.tuple, one.own);
  }
}

/// Functions behind hear of it while its entry is there.
void FlowBatch::tell_end(std::uint32_t in_table, FlowEndReason why) noexcept {
  const FlowEntry& entry = table_->entry(in_table);
  ++ended_;
  if (entry.established != 0) ++established_ended_;
  if (events_.on()) events_.flow_ended(entry.tuple, event_of(entry, why, now_ms_));
  for (const StateOfFunction& one : behind_) {
    one.function->flow_ended(one, entry);
  }
}

bool FlowBatch::is_translated(std::uint32_t in_table) const noexcept {
  const FlowEntry& entry = table_->entry(in_table);
  return entry.answer != reversed(entry.tuple);
}

/// Its number is another flow's from now on, or no flow's.
void FlowBatch::lose(std::uint32_t flow, bool translated) noexcept {
  for (std::uint32_t i = 0; i < packet_count_; ++i) {
    std::uint32_t number = packets_[i].flow;
    if (number == kNoFlow) continue;
    if (number != flow && !(resolve(number) && number == flow)) continue;
    lost_[i] = translated || renumbered_[i];
    packets_[i] = {};
  }
  for (std::uint32_t i = 0; i < beginning_count_; ++i) {
    if (beginnings_[i].in_table == flow) beginnings_[i].gone = true;
  }
}

void FlowBatch::end(std::uint32_t flow, FlowEndReason why) noexcept {
  forgot_ = true;
  std::uint32_t number = flow;
  bool translated = false;
  if ((flow & kBeginning) != 0) beginning(flow).gone = true;
  if (resolve(number)) {
    translated = is_translated(number);
    tell_end(number, why);
    table_->remove(number);
    lose(number, translated);
  } else {
    tell_not_kept(beginning(flow));
  }
  lose(flow, translated);
}

}  // namespace millrace
