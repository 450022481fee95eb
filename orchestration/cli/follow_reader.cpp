// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/follow_reader.hpp"

#include <algorithm>

#include "services/functions/stream/stream_table.hpp"
#include "services/functions/stream/tcp_data.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

constexpr std::int32_t kDistanceMax = 1 << 30;

/// Of a number near position `near`; negative: in front of the first one.
std::int64_t position_of(std::uint32_t start, std::uint64_t near, std::uint32_t sequence) {
  const std::uint32_t at = start + static_cast<std::uint32_t>(near);
  return static_cast<std::int64_t>(near) + sequence_distance(at, sequence);
}

}  // namespace

void FollowReader::take(std::span<const std::byte> frame) {
  const PacketHeaders headers = parse_headers(frame);
  if (headers.protocol != ip_protocol::kTcp) return;
  const auto tuple = flow_tuple_of(frame, headers);
  if (!tuple || (*tuple != tuple_ && *tuple != reversed(tuple_))) return;
  if (headers.status != ParseStatus::kOk || headers.fragment || headers.payload_offset == 0) {
    ++unread_;
    return;
  }
  const std::uint8_t direction = *tuple == tuple_ ? 0 : 1;
  const bool is_syn = is_tcp_syn(frame, headers);
  const std::span<const std::byte> data = tcp_data(frame, headers);
  const std::uint32_t sequence = tcp_sequence(frame, headers) + (is_syn ? 1 : 0);
  Side& side = sides_[direction];
  if (is_syn && side.start && *side.start != sequence) {  // another connection
    finish();
    side = {};
  }
  if (!side.start && (is_syn || !data.empty())) side.start = sequence;
  if (is_tcp_reset(frame, headers)) {
    side.is_reset = true;
    return;
  }
  if (!data.empty()) take_data(direction, sequence, data);
  if (const auto acknowledged = tcp_acknowledgment(frame, headers)) {
    take_acknowledgment(1 - direction, *acknowledged);
  }
  if (is_tcp_fin(frame, headers)) {
    const std::uint32_t end = sequence + static_cast<std::uint32_t>(data.size());
    const std::int64_t at = side.start ? position_of(*side.start, side.next, end) : 0;
    side.fin = static_cast<std::uint64_t>(std::max<std::int64_t>(at, 0));
  }
}

void FollowReader::take_data(std::uint8_t direction, std::uint32_t sequence,
                             std::span<const std::byte> data) {
  Side& side = sides_[direction];
  const std::int64_t at = position_of(*side.start, side.next, sequence);
  const auto old = static_cast<std::int64_t>(side.next) - at;
  if (old >= static_cast<std::int64_t>(data.size()) || -old > kDistanceMax) return;
  if (old >= 0) {
    tell(direction, data.subspan(static_cast<std::size_t>(old)), 0);
    return tell_waiting(direction, 0);
  }
  // Of two that wait and begin alike the longer one has the shorter one's bytes in front.
  std::vector<std::byte>& kept = side.waiting[static_cast<std::uint64_t>(at)];
  if (kept.size() >= data.size()) return;
  side.waiting_bytes += data.size() - kept.size();
  const auto more = data.subspan(kept.size());
  kept.insert(kept.end(), more.begin(), more.end());
  if (side.waiting_bytes > kWaitingMax) tell_waiting(direction, side.waiting.begin()->first);
}

/// The receiver has what it acknowledges, though it has not come by.
void FollowReader::take_acknowledgment(std::uint8_t direction, std::uint32_t acknowledged) {
  const Side& side = sides_[direction];
  if (!side.start || side.waiting.empty()) return;
  const std::int64_t until = position_of(*side.start, side.next, acknowledged);
  if (until > static_cast<std::int64_t>(side.next)) {
    tell_waiting(direction, static_cast<std::uint64_t>(until));
  }
}

void FollowReader::tell(std::uint8_t direction, std::span<const std::byte> bytes,
                        std::uint64_t missing) {
  Side& side = sides_[direction];
  tell_({direction, side.next, missing, bytes});
  side.next += bytes.size();
}

/// What continues the stream, and what begins at `give_up_until` at the latest.
void FollowReader::tell_waiting(std::uint8_t direction, std::uint64_t give_up_until) {
  Side& side = sides_[direction];
  while (!side.waiting.empty()) {
    const auto first = side.waiting.begin();
    const auto& [position, bytes] = *first;
    if (position > side.next && position > give_up_until) return;
    const std::uint64_t missing = position > side.next ? position - side.next : 0;
    const std::uint64_t old =
        std::min<std::uint64_t>(side.next - std::min(side.next, position), bytes.size());
    side.next += missing;
    if (old < bytes.size()) tell(direction, std::span(bytes).subspan(old), missing);
    side.waiting_bytes -= bytes.size();
    side.waiting.erase(first);
  }
}

void FollowReader::finish() {
  for (const std::uint8_t direction : {0, 1}) tell_waiting(direction, UINT64_MAX);
}

bool FollowReader::has_ended() const {
  const auto is_done = [](const Side& side) { return side.fin && side.next >= *side.fin; };
  return sides_[0].is_reset || sides_[1].is_reset || (is_done(sides_[0]) && is_done(sides_[1]));
}

}  // namespace millrace
