// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/tcp_streams.hpp"

#include "services/functions/stream/tcp_data.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {

void TcpStreams::hit(const FinishContext& call, StreamCounter counter) const noexcept {
  call.counters.hit(options_.first_counter + static_cast<std::size_t>(counter));
}

TcpStreams::Taken TcpStreams::refuse(const FinishContext& call,
                                     StreamCounter counter) const noexcept {
  hit(call, counter);
  return {.fate = Fate::kRefused, .counter = counter};
}

TcpStreams::Taken TcpStreams::unread(const FinishContext& call,
                                     StreamCounter counter) const noexcept {
  Taken taken = refuse(call, counter);
  taken.is_unread = true;
  return taken;
}

/// What the headers of a segment tell of its stream. False: it must not pass.
bool TcpStreams::follow(StreamTable& table, const FlowTuple& tuple, const PacketFlow& flow,
                        std::span<const std::byte> frame,
                        const PacketHeaders& headers) const noexcept {
  if (is_tcp_syn(frame, headers) &&
      !reader_.handshake(table, tuple, flow.direction, tcp_sequence(frame, headers) + 1,
                         tcp_acknowledgment(frame, headers))) {
    return false;
  }
  const auto other = static_cast<std::uint8_t>(1 - flow.direction);
  if (const auto until = flow.acknowledged[other]) reader_.acknowledge(table, tuple, other, *until);
  return true;
}

TcpStreams::Taken TcpStreams::take(const FinishContext& call, StreamTable* table,
                                   std::uint16_t packet, const PacketHeaders& headers) noexcept {
  const PacketFlow flow = call.flows == nullptr ? PacketFlow{} : call.flows->of(packet);
  const FlowTuple* const tuple = flow.flow == kNoFlow ? nullptr : &call.flows->tuple(flow.flow, 0);
  return take(call, table, {call.batch.bytes(packet), headers, flow, tuple});
}

TcpStreams::Taken TcpStreams::take(const FinishContext& call, StreamTable* table,
                                   const Segment& segment) noexcept {
  const auto& [frame, headers, flow, tuple, may_change, overlaps] = segment;
  if (headers.status != ParseStatus::kOk || headers.fragment || headers.payload_offset == 0) {
    return refuse(call, StreamCounter::kUnread);
  }
  const bool has_stream = tuple != nullptr && flow.state != FlowState::kInvalid && table != nullptr;
  const std::span<const std::byte> data = tcp_data(frame, headers);
  if (has_stream && !follow(*table, *tuple, flow, frame, headers)) {
    return refuse(call, StreamCounter::kConflicts);
  }
  const bool is_urgent = !options_.keeps_urgent && is_tcp_urgent(frame, headers);
  if (is_urgent && !may_change) return refuse(call, StreamCounter::kUnread);
  if (data.empty()) return {};
  if (!has_stream) return unread(call, StreamCounter::kNoFlow);
  if (!options_.trusts_checksums && !has_good_tcp_checksum(frame, headers)) {
    return refuse(call, StreamCounter::kChecksum);
  }
  const bool is_syn = is_tcp_syn(frame, headers);
  const bool is_answer = is_syn && tcp_acknowledgment(frame, headers);
  if ((is_syn || flow.opens) && (!reads_opening_ || is_answer)) {
    return unread(call, StreamCounter::kUnread);
  }
  return offer(call, *table,
               {.tuple = *tuple,
                .direction = flow.direction,
                .sequence = tcp_sequence(frame, headers) + (is_syn ? 1 : 0),
                .acknowledged = flow.acknowledged,
                .is_picked_up = flow.is_picked_up,
                .data = data,
                .begins = is_syn,
                .is_answered = flow.state == FlowState::kEstablished,
                .overlaps = overlaps});
}

TcpStreams::Taken TcpStreams::offer(const FinishContext& call, const StreamTable& table,
                                    const StreamSegment& segment) noexcept {
  Taken taken{.fate = Fate::kOffered, .offer = reader_.offer(table, segment)};
  if (taken.offer.fate == StreamReader::Fate::kConflicts) {
    return refuse(call, StreamCounter::kConflicts);
  }
  if (taken.offer.fate == StreamReader::Fate::kNoRoom) return refuse(call, StreamCounter::kNoRoom);
  const StreamCounter without_text =
      taken.offer.has_new ? StreamCounter::kAhead : StreamCounter::kSeen;
  taken.counter = taken.offer.text.empty() ? without_text : StreamCounter::kTexts;
  taken.segment.emplace(segment);
  return taken;
}

void TcpStreams::pass(const FinishContext& call, std::span<std::byte> frame,
                      const PacketHeaders& headers) const noexcept {
  const bool has_flags = headers.protocol == ip_protocol::kTcp && !headers.fragment &&
                         headers.status == ParseStatus::kOk && headers.payload_offset != 0;
  if (options_.keeps_urgent || !has_flags) return;
  if (clear_urgent(frame, headers)) hit(call, StreamCounter::kUrgent);
}

TcpStreams::Taken TcpStreams::skip(const FinishContext& call, const StreamTable& table,
                                   std::uint16_t packet, std::uint8_t direction) noexcept {
  const PacketFlow flow = call.flows->of(packet);
  const auto& acknowledged = flow.acknowledged[direction];
  if (!acknowledged) return {};
  const StreamSegment segment{.tuple = call.flows->tuple(flow.flow, 0),
                              .direction = direction,
                              .sequence = *acknowledged,
                              .acknowledged = flow.acknowledged,
                              .is_picked_up = flow.is_picked_up,
                              .data = {}};
  Taken taken{.offer = reader_.skip(table, segment)};
  if (taken.offer.text.empty()) return {};
  taken.fate = Fate::kOffered;
  taken.segment.emplace(segment);
  return taken;
}

bool TcpStreams::commit(const FinishContext& call, StreamTable& table,
                        const Taken& taken) noexcept {
  const bool has_room = reader_.commit(table, *taken.segment);
  hit(call, has_room ? taken.counter : StreamCounter::kNoRoom);
  return has_room;
}

}  // namespace millrace
