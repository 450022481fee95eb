// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_tracker.hpp"

#include <algorithm>

#include "services/functions/flow/flow_timeout.hpp"
#include "services/functions/flow/flow_usual.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/packet/tcp_wire.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using Kind = SortedPacket::Kind;

using ip_protocol::kIcmp, ip_protocol::kIcmpv6, ip_protocol::kTcp;

constexpr FlowCounter kCounterOfState[kFlowStateCount] = {
    FlowCounter::kUntracked, FlowCounter::kInvalid, FlowCounter::kNew,
    FlowCounter::kEstablishedPackets, FlowCounter::kRelated};

/// Packets of both directions that have come for so long are no probe (Linux's conntrack: 2 s).
constexpr std::uint32_t kStreamMs = 2000;

/// One of its sides has ended the connection.
bool is_closing(const TcpTrack& track) noexcept {
  const TcpState state = state_of(track);
  return state >= TcpState::kFinWait && state <= TcpState::kClose;
}

/// Not one to give up for a new one. A question and its answer are worth less than what lasts, and
/// so is a connection that closes; otherwise one source could fill a lane with either.
bool is_established(const FlowTuple& tuple, const FlowOwn& own) noexcept {
  if (tuple.protocol == kTcp) return is_assured(own.tcp) && !is_closing(own.tcp);
  if (tuple.protocol == kIcmp || tuple.protocol == kIcmpv6) return false;
  return own.answered != 0 && own.duration_ms >= kStreamMs;
}

/// What functions behind learn of its TCP.
void tell_of(const TcpTrack& track, PacketFlow& packet) noexcept {
  packet.opens = is_opening(track);
  packet.is_picked_up = is_picked_up(track);
  packet.acknowledged = {acknowledged(track, 0), acknowledged(track, 1)};
}

}  // namespace

void FlowTracker::expire(std::uint32_t most) noexcept {
  batch_.table().expire(now_s_, most, [&](std::uint32_t flow) {
    hit(FlowCounter::kExpired);
    batch_.tell_end(flow, FlowEndReason::kTimeout);
  });
}

void FlowTracker::follow(std::span<const std::uint16_t> packets) noexcept {
  while (!packets.empty()) {
    const auto some = packets.first(std::min(packets.size(), FlowTable::kManyMax));
    packets = packets.subspan(some.size());
    follow_some(some);
  }
}

/// A further packet of a flow, in the short way: it changes nothing but times, counts and, of TCP,
/// numbers. `is`: its flow and direction are set; the rest is what a packet of no flow has. False:
/// go_on() is for it, and nothing has changed.
inline bool FlowTracker::follow_usual_udp(PacketFlow& is, const std::byte* frame,
                                          const FlowTuple& tuple) noexcept {
  const FlowEntry& entry = batch_.table().entry(is.flow);
  const FlowOwn& own = entry.own;
  const bool answered = own.answered != 0;
  const std::uint32_t lasted_ms = duration_ms(own);
  if (answered ? entry.established == 0 && lasted_ms >= kStreamMs : is.direction != 0) return false;
  is.state = answered ? FlowState::kEstablished : FlowState::kNew;
  const FlowTimeouts& timeouts = settings_.timeouts;
  const std::uint32_t seconds = own.translated != 0 ? flow_timeout_s(tuple, own, timeouts)
                                : answered          ? timeouts.udp_stream_s
                                                    : timeouts.udp_s;
  batch_.table().follow(is.flow, is.direction, lasted_ms, usual_packet::ip_bytes(frame),
                        now_s_ + seconds);
  return true;
}

/// The same for an ACK, with data or without, that is in the window of a connection.
bool FlowTracker::follow_usual_tcp(PacketFlow& is, const std::byte* frame,
                                   const FlowTuple& tuple) noexcept {
  const FlowEntry& entry = batch_.table().entry(is.flow);
  TcpSegment segment;
  if (!usual_packet::find_ack(frame, segment)) return false;
  if (is.direction != 0 && (entry.own.renumbered != 0 || entry.own.answered == 0)) return false;
  FlowOwn own = entry.own;
  if (follow_tcp(own.tcp, is.direction, segment, settings_.tcp) != TcpStep::kFine) return false;
  if (is_established(tuple, own) != (entry.established != 0)) return false;
  own.tcp_flags[is.direction] |=
      std::to_integer<std::uint8_t>(frame[usual_packet::kTransportAt + tcp_wire::kFlagsAt]);
  own.duration_ms = duration_ms(own);
  is.state = own.answered != 0 ? FlowState::kEstablished : FlowState::kNew;
  tell_of(own.tcp, is);
  const FlowTimeouts& timeouts = settings_.timeouts;
  const std::uint32_t seconds = own.translated != 0 ? flow_timeout_s(tuple, own, timeouts)
                                                    : tcp_timeout_s(own.tcp, timeouts.tcp);
  batch_.table().follow(is.flow, is.direction, own, usual_packet::ip_bytes(frame),
                        now_s_ + seconds);
  return true;
}

/// Sets their tuples. One bit a packet: it is a usual one; of others what they are is set, too.
std::uint64_t FlowTracker::sort(std::span<const std::uint16_t> packets,
                                const Frames& frames) noexcept {
  FlowBatch::Room& room = batch_.room_;
  const std::uint16_t* const length = call_.batch.length.data();
  std::uint64_t usual = 0;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const std::span<const std::byte> frame(frames[i], length[packets[i]]);
    if (usual_packet::find_tuple(frame, room.tuples[i])) [[likely]] {
      usual |= std::uint64_t{1} << i;
      batch_.set_usual(packets[i]);
      continue;
    }
    room.sorted[i] = sort_packet(frame);
    if (room.sorted[i].headers.fragment) follow_fragment(packets[i], room.sorted[i]);
    room.tuples[i] = room.sorted[i].tuple;
  }
  return usual;
}

void FlowTracker::follow_some(std::span<const std::uint16_t> packets) noexcept {
  static_assert(FlowTable::kManyMax <= kFramesMax);
  FlowBatch::Room& room = batch_.room_;
  Frames frames;
  locate_frames(call_.batch, packets, frames);
  const std::uint64_t usual = sort(packets, frames);
  batch_.table().find(std::span(room.tuples).first(packets.size()), room.found);
  batch_.forgot_ = false;
  std::array<std::uint32_t, kFlowStateCount> of_state{};
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const bool is_usual = (usual >> i & 1) != 0;
    PacketFlow& is = batch_.packets_[packets[i]];
    if (is_usual && room.found[i] && !batch_.forgot_) [[likely]] {
      const FlowTable::Found at = *room.found[i];
      is.flow = at.flow;
      is.direction = at.direction;
      const FlowTuple& tuple = room.tuples[i];
      const bool done = tuple.protocol == kTcp ? follow_usual_tcp(is, frames[i], tuple)
                                               : follow_usual_udp(is, frames[i], tuple);
      if (done) [[likely]] {
        ++of_state[static_cast<std::size_t>(is.state)];
        continue;
      }
      is = {};
    }
    if (is_usual) room.sorted[i] = sort_packet(call_.batch.bytes(packets[i]));
    Found found = room.found[i] ? Found(*room.found[i]) : std::nullopt;
    if (batch_.forgot_) found = batch_.table().find(room.tuples[i]);
    is = follow_one(packets[i], room.sorted[i], found);
    batch_.is_question_[packets[i]] =
        is.state == FlowState::kNew && room.sorted[i].kind == Kind::kFlow;
    ++of_state[static_cast<std::size_t>(is.state)];
  }
  for (std::size_t i = 0; i < kFlowStateCount; ++i) hit(kCounterOfState[i], of_state[i]);
}

/// The first fragment of a packet says of which flow the others are.
void FlowTracker::follow_fragment(std::uint16_t packet, SortedPacket& sorted) noexcept {
  const std::span<const std::byte> frame = call_.batch.bytes(packet);
  if (sorted.kind == Kind::kFlow || sorted.kind == Kind::kAnswer) {
    batch_.fragments().remember(frame, sorted.headers, sorted.tuple, now_s_);
  } else if (sorted.kind == Kind::kRest) {
    const auto tuple = batch_.fragments().tuple_of(frame, sorted.headers, now_s_);
    if (tuple) sorted.tuple = *tuple;
    if (!tuple) sorted.kind = Kind::kUntracked;
  }
}

PacketFlow FlowTracker::follow_one(std::uint16_t packet, const SortedPacket& sorted,
                                   Found found) noexcept {
  if (sorted.kind == Kind::kUntracked) return {};
  if (sorted.kind == Kind::kInvalid) return {.state = FlowState::kInvalid};
  if (!found) found = batch_.find_beginning(sorted.tuple);
  if (sorted.kind == Kind::kError) return follow_error(found);
  if (found) return go_on(packet, sorted, *found);
  if (sorted.kind != Kind::kFlow) return {.state = FlowState::kInvalid};
  return begin(packet, sorted);
}

/// It goes the way of answers: their tuple is the flow's also where it is translated.
PacketFlow FlowTracker::follow_error(Found found) noexcept {
  if (!found) return {.state = FlowState::kInvalid};
  return {found->flow, found->direction, FlowState::kRelated};
}

std::optional<TcpSegment> FlowTracker::segment_of(std::uint16_t packet,
                                                  const SortedPacket& sorted) const noexcept {
  const PacketHeaders& headers = sorted.headers;
  const std::size_t bytes = headers.payload_end - std::size_t{headers.transport_offset};
  return parse_tcp_segment(call_.batch.bytes(packet).subspan(headers.transport_offset, bytes),
                           headers.first_fragment);
}

/// Of TCP; 0: the header ends before them.
std::uint8_t FlowTracker::flags_of(std::uint16_t packet,
                                   const SortedPacket& sorted) const noexcept {
  constexpr std::size_t kFlagsAt = 13;
  if (sorted.headers.transport_offset + kFlagsAt >= sorted.headers.payload_end) return 0;
  return wire_bytes::u8(call_.batch.bytes(packet), sorted.headers.transport_offset + kFlagsAt);
}

PacketFlow FlowTracker::begin(std::uint16_t packet, const SortedPacket& sorted) noexcept {
  FlowBatch::Beginning one{.tuple = sorted.tuple, .answer = reversed(sorted.tuple)};
  if (sorted.tuple.protocol == kTcp) {
    const auto segment = segment_of(packet, sorted);
    if (!segment) return {.state = FlowState::kInvalid};
    const auto track = begin_tcp(*segment, settings_.tcp);
    if (!track) return {.state = FlowState::kInvalid};
    one.own.tcp = *track;
    one.own.tcp_flags[0] = flags_of(packet, sorted);
  }
  one.own.started_ms = now_ms_;
  one.own.port_in = call_.facts.port_in;
  one.packets[0] = 1;
  one.bytes[0] = sorted.ip_bytes;
  one.deadline_s = now_s_ + flow_timeout_s(one.tuple, one.own, settings_.timeouts);
  PacketFlow is{batch_.add_beginning(one), 0, FlowState::kNew};
  if (sorted.tuple.protocol == kTcp) tell_of(one.own.tcp, is);
  return is;
}

PacketFlow FlowTracker::go_on(std::uint16_t packet, const SortedPacket& sorted,
                              FlowTable::Found at) noexcept {
  FlowOwn own = batch_.own(at.flow);
  PacketFlow is{at.flow, at.direction, FlowState::kInvalid};
  TcpStep step = TcpStep::kFine;
  if (sorted.tuple.protocol == kTcp && sorted.kind != Kind::kRest) {
    auto segment = segment_of(packet, sorted);
    if (segment && at.direction == 1 && own.renumbered != 0) renumber(at.flow, *segment);
    step = segment ? follow_tcp(own.tcp, at.direction, *segment, settings_.tcp) : TcpStep::kInvalid;
    own.tcp_flags[at.direction] |= flags_of(packet, sorted);
  }
  if (step == TcpStep::kReopened) {
    batch_.end(at.flow, FlowEndReason::kClosed);
    return begin(packet, sorted);
  }
  if (step == TcpStep::kInvalid) {  // counted, and nothing else
    write(at.flow, at.direction, own, 0, sorted.ip_bytes);
    return is;
  }
  if (step == TcpStep::kOver) batch_.over_.set(packet);
  if (sorted.tuple.protocol == kTcp) tell_of(own.tcp, is);
  if (at.direction == 1) own.answered = 1;
  own.duration_ms = duration_ms(own);
  is.state = own.answered != 0 ? FlowState::kEstablished : FlowState::kNew;
  const std::uint32_t later_s = now_s_ + flow_timeout_s(sorted.tuple, own, settings_.timeouts);
  write(at.flow, at.direction, own, step == TcpStep::kIgnored ? 0 : later_s, sorted.ip_bytes);
  return is;
}

/// As the side that began the flow counts.
void FlowTracker::renumber(std::uint32_t flow, TcpSegment& segment) const noexcept {
  for (const StateOfFunction& one : call_.behind) {
    one.function->renumber(one, batch_.tuple(flow, 0), segment);
  }
}

/// `deadline_s`: 0: as it is.
void FlowTracker::write(std::uint32_t flow, std::uint8_t direction, const FlowOwn& own,
                        std::uint32_t deadline_s, std::uint32_t bytes) noexcept {
  if (batch_.is_new(flow)) {
    FlowBatch::Beginning& one = batch_.beginning(flow);
    one.own = own;
    ++one.packets[direction];
    one.bytes[direction] += bytes;
    if (deadline_s != 0) one.deadline_s = deadline_s;
    return;
  }
  FlowTable& table = batch_.table();
  table.follow(flow, direction, own, bytes, deadline_s);
  const FlowEntry& entry = table.entry(flow);
  const bool established = is_established(entry.tuple, own);
  if (established == (entry.established != 0)) return;
  if (established) {
    table.establish(flow);
    hit(FlowCounter::kEstablished);
  } else {
    table.make_oldest(flow);
    ++batch_.established_ended_;
  }
}

/// Packets of a flow that is not written do not go on.
std::uint32_t FlowTracker::refuse(std::uint32_t flow, Reason why) noexcept {
  std::uint32_t dropped = 0;
  for (std::uint32_t i = 0; i < call_.batch.count; ++i) {
    if (batch_.packets_[i].flow != flow || !call_.batch.leaves(i)) continue;
    call_.batch.drop(i, why);
    ++dropped;
  }
  return dropped;
}

/// Flows that begin, by their place: a question of theirs is not dropped.
std::bitset<kBatchCapacityMax> FlowTracker::asked() const noexcept {
  std::bitset<kBatchCapacityMax> asked;
  for (std::uint32_t i = 0; i < call_.batch.count; ++i) {
    const std::uint32_t flow = batch_.packets_[i].flow;
    if (flow == kNoFlow || !batch_.is_question_[i] || call_.batch.is_dropped(i)) continue;
    if ((flow & FlowBatch::kBeginning) != 0) asked.set(flow & ~FlowBatch::kBeginning);
  }
  return asked;
}

/// Writes a flow that begins; false: there is no room.
bool FlowTracker::keep_one(FlowBatch::Beginning& one) noexcept {
  if (one.in_table == kNoFlow && batch_.insert(one, one.answer).what != FlowTable::Inserted::kNew) {
    hit(FlowCounter::kTableFull);
    return false;
  }
  hit(FlowCounter::kBegun);
  if (is_established(one.tuple, one.own)) {
    batch_.table().establish(one.in_table);
    hit(FlowCounter::kEstablished);
  }
  return true;
}

EndOfBatch FlowTracker::keep(Reason refused, Reason full) noexcept {
  EndOfBatch end{{{{0, refused}, {0, full}}}};
  auto& [of_refused, of_full] = end.drops;
  std::bitset<kBatchCapacityMax> asked;
  if (batch_.beginning_count_ != 0) asked = this->asked();
  for (std::uint32_t i = 0; i < batch_.beginning_count_; ++i) {
    FlowBatch::Beginning& one = batch_.beginnings_[i];
    const std::uint32_t flow = i | FlowBatch::kBeginning;
    if (one.gone) {
      if (one.in_table != kNoFlow) hit(FlowCounter::kBegun);
      continue;
    }
    const bool stays = asked[i] || one.is_kept;
    if (stays && keep_one(one)) continue;
    if (stays) of_full.packets += refuse(flow, full);
    if (!stays) of_refused.packets += refuse(flow, refused);
    if (one.in_table != kNoFlow) hit(FlowCounter::kBegun);
    batch_.forget(flow);
  }
  for (std::uint32_t i = 0; batch_.over_.any() && i < call_.batch.count; ++i) {
    if (batch_.over_[i] && batch_.packets_[i].flow != kNoFlow) {
      batch_.end(batch_.packets_[i].flow, FlowEndReason::kClosed);
    }
  }
  hit(FlowCounter::kGivenUp, batch_.given_up_);
  hit(FlowCounter::kEnded, batch_.ended_);
  hit(FlowCounter::kEstablishedEnded, batch_.established_ended_);
  return end;
}

}  // namespace millrace
