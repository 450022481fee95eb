// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/tcp_window_check.hpp"

#include <algorithm>

namespace millrace {
namespace {

/// How far an acknowledgment may lag behind at least: windows were smaller when it was sent.
constexpr std::uint32_t kAckLagMin = 66000;
constexpr std::uint32_t kSegmentBytesMax = 0xffff;

bool after(std::uint32_t a, std::uint32_t b) noexcept { return tcp_before(b, a); }

std::uint32_t shift_of(const TcpTrack::Side& side) noexcept {
  return side.scale == 0 ? 0 : side.scale - 1;
}

std::uint32_t packed_not_0(std::uint64_t bytes) noexcept {
  return TcpWindow::packed(std::max<std::uint64_t>(bytes, 1));
}

/// By its SYN or SYN+ACK. Windows are scaled only if both sides say so (RFC 7323 2.2).
void learn_from_syn(TcpTrack& track, std::uint8_t direction, const TcpSegment& segment) noexcept {
  TcpTrack::Side& sender = track.side[direction];
  TcpTrack::Side& receiver = track.side[1 - direction];
  sender.end = sender.max_end = segment.end;
  sender.window = packed_not_0(segment.window);
  sender.scale = segment.scale & 15;
  sender.may_sack = segment.may_sack ? 1 : 0;
  sender.has_acked = sender.unacknowledged = 0;
  if (direction == 1 && (sender.scale == 0 || receiver.scale == 0)) {
    sender.scale = receiver.scale = 0;
  }
}

/// By a segment in the middle of a connection: its history is not known.
void learn_from_middle(TcpTrack& track, std::uint8_t direction, const TcpSegment& segment,
                       std::uint32_t sack) noexcept {
  TcpTrack::Side& sender = track.side[direction];
  TcpTrack::Side& receiver = track.side[1 - direction];
  sender.end = segment.end;
  sender.window = packed_not_0(std::uint64_t{segment.window} << shift_of(sender));
  sender.max_end = segment.end + TcpWindow::bytes(sender.window);
  if (receiver.window == 0) {
    receiver.end = receiver.max_end = sack;
  } else if (sack == receiver.end + 1) {
    ++receiver.end;  // likely the answer to a keep-alive
  }
}

struct Numbers {
  std::uint32_t sequence, end, ack, sack;
};

/// What the segment says, put right where it says nothing.
Numbers numbers_of(const TcpTrack& track, std::uint8_t direction,
                   const TcpSegment& segment) noexcept {
  const TcpTrack::Side& sender = track.side[direction];
  const TcpTrack::Side& receiver = track.side[1 - direction];
  Numbers numbers{segment.sequence, segment.end, segment.acknowledgment,
                  receiver.may_sack != 0 ? segment.sack : segment.acknowledgment};
  const bool reset = segment.kind == TcpKind::kReset;
  // As if it had all data that there is room for, and that fits: what of that is acknowledged
  // later has been sent.
  if (segment.goes_on && sender.max_end - numbers.end <= kSegmentBytesMax) {
    numbers.end = sender.max_end;
  }
  // Some set ACK in a RST, and the number to 0.
  if (!segment.acknowledges || (reset && segment.acknowledgment == 0)) {
    numbers.ack = numbers.sack = receiver.end;
  }
  // It answers a SYN.
  if (reset && segment.sequence == 0 && state_of(track) == TcpState::kSynSent) {
    numbers.sequence = numbers.end = sender.end;
  }
  return numbers;
}

TcpWindowCheck check(TcpTrack& track, std::uint8_t direction, const Numbers& numbers) noexcept {
  TcpTrack::Side& sender = track.side[direction];
  const TcpTrack::Side& receiver = track.side[1 - direction];
  const std::uint32_t receiver_window = TcpWindow::bytes(receiver.window);
  const bool not_too_old =
      receiver_window == 0 || after(numbers.end, sender.end - receiver_window - 1);
  const std::uint32_t lag = std::max(TcpWindow::bytes(sender.window), kAckLagMin);
  const bool ack_not_too_old = after(numbers.sack, receiver.end - lag - 1);
  const bool ack_of_sent = !after(numbers.sack, receiver.end);
  if (after(numbers.sequence, sender.max_end)) {
    const std::uint32_t beyond = numbers.end - sender.max_end + 1;
    if (receiver_window == 0 || !not_too_old || !ack_not_too_old || !ack_of_sent ||
        beyond > receiver_window) {
      return TcpWindowCheck::kOut;
    }
    // Some send a little more than there is room for. Should the receiver take it, its ACK is for
    // something that was sent.
    sender.end = numbers.end;
    sender.unacknowledged = 1;
    return TcpWindowCheck::kIgnored;
  }
  if (!ack_of_sent) return TcpWindowCheck::kOut;
  return not_too_old && ack_not_too_old ? TcpWindowCheck::kUpdated : TcpWindowCheck::kIgnored;
}

void update(TcpTrack& track, std::uint8_t direction, const TcpSegment& segment,
            const Numbers& numbers) noexcept {
  TcpTrack::Side& sender = track.side[direction];
  TcpTrack::Side& receiver = track.side[1 - direction];
  const bool syn = segment.kind == TcpKind::kSyn || segment.kind == TcpKind::kSynAck;
  const std::uint32_t window = std::uint32_t{segment.window} << (syn ? 0 : shift_of(sender));
  const std::uint64_t reach = std::uint64_t{window} + (numbers.sack - numbers.ack);
  if (TcpWindow::bytes(sender.window) < reach) sender.window = TcpWindow::packed(reach);
  if (after(numbers.end, sender.end)) {
    sender.end = numbers.end;
    sender.unacknowledged = 1;
  }
  if (segment.acknowledges && (sender.has_acked == 0 || after(numbers.ack, sender.max_ack))) {
    sender.max_ack = numbers.ack;
    sender.has_acked = 1;
  }
  if (receiver.window != 0 && after(numbers.end, sender.max_end)) {
    receiver.window = TcpWindow::packed(std::uint64_t{TcpWindow::bytes(receiver.window)} +
                                        (numbers.end - sender.max_end));
  }
  if (after(numbers.sack + window, receiver.max_end - 1)) {
    // A closed window is probed with one byte (RFC 9293 3.8.6.1).
    receiver.max_end = numbers.sack + std::max(window, 1u);
  }
  if (numbers.ack == receiver.end) receiver.unacknowledged = 0;
}

}  // namespace

TcpWindowCheck check_tcp_window(TcpTrack& track, std::uint8_t direction, const TcpSegment& segment,
                                const TcpPolicy& policy) noexcept {
  const TcpTrack::Side& sender = track.side[direction];
  const bool syn = segment.kind == TcpKind::kSyn || segment.kind == TcpKind::kSynAck;
  const TcpState state = state_of(track);
  const bool opening = state == TcpState::kSynSent || state == TcpState::kSynRecv;
  if (syn && (sender.window == 0 || (opening && after(segment.end, sender.end)))) {
    // Also a SYN that is sent again with another number.
    const bool first = sender.window == 0;
    learn_from_syn(track, direction, segment);
    if (segment.kind == TcpKind::kSyn && (first || direction == 1)) return TcpWindowCheck::kIn;
  } else if (sender.window == 0) {
    const bool may_sack = track.side[1 - direction].may_sack != 0;
    learn_from_middle(track, direction, segment, may_sack ? segment.sack : segment.acknowledgment);
  }
  const Numbers numbers = numbers_of(track, direction, segment);
  const TcpWindowCheck result = check(track, direction, numbers);
  if (result == TcpWindowCheck::kUpdated) {
    update(track, direction, segment, numbers);
  } else if (policy.liberal || track.liberal != 0) {
    return TcpWindowCheck::kIn;
  }
  return result;
}

}  // namespace millrace
