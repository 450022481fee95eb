// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packets/inner_flows.hpp"

#include "services/functions/stream/stream_table.hpp"
#include "services/functions/stream/tcp_data.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

/// Of a direction whose other one takes another way, so that no acknowledgment comes by: bytes in
/// front of the last one that may be sent once more.
constexpr std::uint32_t kUnacknowledgedMax = 128u << 10;

/// Of a segment with its whole header.
struct Segment {
  bool is_tcp = false;
  bool is_syn = false;
  std::uint32_t end = 0;  ///< sequence number behind it
  std::optional<std::uint32_t> acknowledges{};
};

Segment segment_of(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  if (headers.protocol != ip_protocol::kTcp || headers.payload_offset == 0) return {};
  const auto bytes = static_cast<std::uint32_t>(tcp_data(frame, headers).size());
  const bool is_syn = is_tcp_syn(frame, headers);
  return {.is_tcp = true,
          .is_syn = is_syn,
          .end = tcp_sequence(frame, headers) + bytes + (is_syn ? 1 : 0),
          .acknowledges = tcp_acknowledgment(frame, headers)};
}

}  // namespace

/// AgedEntry::own. By direction.
struct InnerFlows::Own {
  std::uint32_t acknowledged[2];     ///< up to where its receiver has acknowledged
  std::uint32_t end[2];              ///< behind the last byte that was sent
  std::uint8_t has_acknowledged[2];  ///< 1: `acknowledged` says something
  std::uint8_t has_sent[2];          ///< 1: a packet has come by
  std::uint8_t is_picked_up;         ///< 1: its beginning has not been seen
  std::uint8_t padding[43];

  void begin_anew() noexcept { has_acknowledged[0] = has_acknowledged[1] = is_picked_up = 0; }
  void take(const Segment& segment, std::uint8_t direction) noexcept;
  std::optional<std::uint32_t> acknowledged_of(std::uint8_t direction) const noexcept;
};

InnerFlows::Own& InnerFlows::own_of(AgedEntry& entry) noexcept {
  static_assert(sizeof(Own) == kCacheLine && alignof(Own) <= alignof(AgedEntry));
  return *reinterpret_cast<Own*>(&entry.own);
}

void InnerFlows::Own::take(const Segment& segment, std::uint8_t direction) noexcept {
  if (segment.is_syn && !segment.acknowledges) begin_anew();
  if (has_sent[direction] == 0 || segment.is_syn ||
      sequence_distance(end[direction], segment.end) > 0) {
    end[direction] = segment.end;
  }
  if (!segment.acknowledges) return;
  const int other = 1 - direction;
  if (has_acknowledged[other] == 0 || segment.is_syn ||
      sequence_distance(acknowledged[other], *segment.acknowledges) > 0) {
    acknowledged[other] = *segment.acknowledges;
  }
  has_acknowledged[other] = 1;
}

std::optional<std::uint32_t> InnerFlows::Own::acknowledged_of(
    std::uint8_t direction) const noexcept {
  if (has_acknowledged[direction] != 0) return acknowledged[direction];
  if (has_sent[1 - direction] != 0 || has_sent[direction] == 0) return std::nullopt;
  return end[direction] - kUnacknowledgedMax;
}

/// The flow that was seen the longest time ago, if that is `idle_s` or more.
void InnerFlows::end_oldest(std::uint32_t idle_s, std::uint32_t now_s,
                            Followed& followed) noexcept {
  AgedEntry* const oldest = table_.oldest();
  if (oldest == nullptr || now_s - oldest->seen_s < idle_s) return;
  followed.ended[followed.ended_count++] = oldest->tuple;
  table_.end(*oldest);
}

AgedEntry* InnerFlows::begin(const FlowTuple& tuple, std::uint32_t now_s,
                             Followed& followed) noexcept {
  AgedEntry* const begun = table_.begin(tuple, now_s);
  if (begun != nullptr) return begun;
  end_oldest(kRoomTimeoutS, now_s, followed);
  return table_.begin(tuple, now_s);
}

InnerFlows::Followed InnerFlows::follow(std::span<const std::byte> frame,
                                        const PacketHeaders& headers, FlowTuple tuple,
                                        std::uint32_t now_s) noexcept {
  Followed followed;
  end_oldest(kTimeoutS, now_s, followed);
  tuple.zone = kZone;
  const Segment segment = segment_of(frame, headers);
  AgedEntry* entry = table_.find(tuple);
  if (entry == nullptr) {
    entry = table_.find(reversed(tuple));
    if (entry != nullptr) followed.flow.direction = 1;
  }
  if (entry == nullptr) {
    const bool is_answer = segment.is_syn && segment.acknowledges;
    entry = begin(is_answer ? reversed(tuple) : tuple, now_s, followed);
    if (entry == nullptr) return followed;
    followed.flow.direction = is_answer ? 1 : 0;
    own_of(*entry).is_picked_up = segment.is_syn && !is_answer ? 0 : 1;
  }
  table_.see(*entry, now_s);
  table_.change_own(*entry);
  Own& own = own_of(*entry);
  if (segment.is_tcp) own.take(segment, followed.flow.direction);
  own.has_sent[followed.flow.direction] = 1;
  const bool is_answered = own.has_sent[0] != 0 && own.has_sent[1] != 0;
  followed.tuple = &entry->tuple;
  followed.flow.state = is_answered ? FlowState::kEstablished : FlowState::kNew;
  followed.flow.opens = segment.is_syn;
  followed.flow.acknowledged = {own.acknowledged_of(0), own.acknowledged_of(1)};
  followed.flow.is_picked_up = own.is_picked_up != 0 || !is_answered;
  return followed;
}

}  // namespace millrace
