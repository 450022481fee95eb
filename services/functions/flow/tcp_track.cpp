// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/tcp_track.hpp"

#include <algorithm>

#include "services/functions/flow/tcp_moves.hpp"
#include "services/functions/flow/tcp_window_check.hpp"
#include "shared/base/check.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kRepeatsMax = 3;
constexpr std::uint32_t kSynDataBytesMax = 0xffff;  // those of one segment

TcpKind last_kind(const TcpTrack& track) noexcept { return static_cast<TcpKind>(track.last_kind); }

void set_last(TcpTrack& track, std::uint8_t direction, TcpKind kind) noexcept {
  track.last_kind = static_cast<std::uint16_t>(kind) & 7;
  track.last_direction = direction & 1;
}

/// A SYN may open a connection anew that has been closed, or that its own side has reset.
bool reopens(const TcpTrack& track, std::uint8_t direction) noexcept {
  return track.has_close_begun != 0 ||
         (track.last_direction == direction && last_kind(track) == TcpKind::kReset);
}

/// The SYN+ACK for a SYN that passed without being believed: both hosts agree on a connection that
/// the track does not know.
bool answers_passed_syn(const TcpTrack& track, std::uint8_t direction,
                        const TcpSegment& segment) noexcept {
  return segment.kind == TcpKind::kSynAck && last_kind(track) == TcpKind::kSyn &&
         track.last_direction != direction && segment.acknowledgment == track.last_end;
}

/// The connection is the one that the SYN which passed asked for.
void adopt_passed_syn(TcpTrack& track) noexcept {
  TcpTrack::Side& asker = track.side[track.last_direction];
  const std::uint32_t scale = asker.passed_scale, may_sack = asker.passed_may_sack;
  const std::uint32_t window = std::max<std::uint32_t>(track.last_window, 1);
  asker = {};
  asker.end = asker.max_end = track.last_end;
  asker.window = TcpWindow::packed(window);
  asker.scale = scale & 15;
  asker.may_sack = may_sack & 1;
  track.side[1 - track.last_direction] = {};
  track.liberal = track.has_close_begun = track.challenge = track.simultaneous = 0;
}

/// Lets the segment pass: the hosts may know better than the track. What they say next decides.
void let_pass(TcpTrack& track, std::uint8_t direction, const TcpSegment& segment) noexcept {
  const TcpState state = state_of(track);
  set_last(track, direction, segment.kind);
  track.last_end = segment.end;
  track.last_window = segment.window;
  if (segment.kind == TcpKind::kSyn && direction == 0) {
    track.side[0].passed_scale = segment.scale & 15;
    track.side[0].passed_may_sack = segment.may_sack ? 1 : 0;
    track.simultaneous = 0;
    track.challenge = state == TcpState::kLastAck ? 1 : 0;
  }
  if (state == TcpState::kSynSent && segment.kind == TcpKind::kAck && direction == 1) {
    // Of that side nothing else is known yet: a challenge ACK, which a RST with this number ends.
    track.side[1].max_ack = segment.acknowledgment;
  }
}

/// The ACK of RFC 5961 4 for a SYN that passed in kLastAck does not acknowledge the FIN.
bool is_challenge(const TcpTrack& track, std::uint8_t direction,
                  const TcpSegment& segment) noexcept {
  return state_of(track) == TcpState::kLastAck && segment.kind == TcpKind::kAck &&
         track.last_direction != direction && last_kind(track) == TcpKind::kSyn &&
         track.challenge != 0;
}

struct Reset {
  bool valid = true;
  bool windowed = true;   ///< the window check decides, too
  bool doubtful = false;  ///< the state stays: the receiver asks back with a challenge ACK
};

/// It answers what passed without being believed: a SYN, or an ACK of a half-open connection.
bool answers_passed(const TcpTrack& track, const TcpSegment& segment) noexcept {
  const bool passed = (track.answered != 0 && last_kind(track) == TcpKind::kSyn) ||
                      (track.assured == 0 && last_kind(track) == TcpKind::kAck);
  if (passed && segment.acknowledgment == track.last_end) return true;
  return state_of(track) == TcpState::kSynSent && last_kind(track) == TcpKind::kAck &&
         track.last_direction == 1 && segment.sequence == track.side[1].max_ack;
}

/// RFC 5961 3: a RST counts with exactly the number that the other side awaits next.
Reset judge_reset(const TcpTrack& track, std::uint8_t direction,
                  const TcpSegment& segment) noexcept {
  const TcpTrack::Side& other = track.side[1 - direction];
  Reset reset;
  if (state_of(track) == TcpState::kSynSent && direction == 1) {
    // RFC 9293 3.10.7.3: the sender of a SYN believes a RST that acknowledges it, and no other.
    reset.valid = segment.acknowledges && other.end - segment.acknowledgment <= kSynDataBytesMax;
    return reset;
  }
  // Behind a SYN that passed, the answerer may know nothing of the numbers: the window decides.
  if (other.has_acked != 0 && last_kind(track) != TcpKind::kSyn) {
    const bool established = state_of(track) == TcpState::kEstablished && track.assured != 0;
    if (segment.sequence == 0 && !established) return reset;  // it answers a SYN
    reset.valid = !tcp_before(segment.sequence, other.max_ack);
    if (!reset.valid || !established || segment.sequence == other.max_ack) return reset;
    // Directly behind the data that it follows, which the other side has not acknowledged yet.
    if (last_kind(track) == TcpKind::kAck && track.last_direction == direction &&
        segment.sequence == track.last_end) {
      return reset;
    }
    reset.doubtful = true;
  }
  reset.windowed = !answers_passed(track, segment);
  return reset;
}

/// Whether the same ACK comes again and again.
void count_repeats(TcpTrack& track, std::uint8_t direction, const TcpSegment& segment) noexcept {
  const bool same = track.last_direction == direction && last_kind(track) == TcpKind::kAck &&
                    track.last_end == segment.end && track.last_window == segment.window &&
                    track.side[direction].max_ack == segment.acknowledgment;
  track.repeats = same ? std::min<std::uint32_t>(track.repeats + 1u, kRepeatsMax) & 3 : 0;
}

/// The segment is believed.
TcpStep move(TcpTrack& track, std::uint8_t direction, const TcpSegment& segment, TcpState before,
             TcpState next) noexcept {
  set_last(track, direction, segment.kind);
  track.state = static_cast<std::uint16_t>(next) & 15;
  if (before != next && next == TcpState::kFinWait) track.has_close_begun = 1;
  if (track.answered == 0) {
    if (segment.kind == TcpKind::kReset) return TcpStep::kOver;
    // A question that is only repeated is not prolonged.
    if (segment.kind == TcpKind::kSyn && before == TcpState::kSynSent) return TcpStep::kIgnored;
  } else if ((before == TcpState::kSynRecv || before == TcpState::kEstablished) &&
             next == TcpState::kEstablished) {
    track.assured = 1;
  }
  return TcpStep::kFine;
}

/// A RST or FIN that is not valid counts as the last segment of an assured connection.
TcpStep refuse(TcpTrack& track, std::uint8_t direction, const TcpSegment& segment) noexcept {
  const bool ends = segment.kind == TcpKind::kReset || segment.kind == TcpKind::kFin;
  const bool answers = track.last_direction != direction &&
                       (last_kind(track) == TcpKind::kFin || last_kind(track) == TcpKind::kReset);
  if (track.assured != 0 && ends && !answers) set_last(track, direction, segment.kind);
  return TcpStep::kInvalid;
}

/// The segment is believed if it is in the window.
TcpStep move_in_window(TcpTrack& track, std::uint8_t direction, const TcpSegment& segment,
                       const TcpPolicy& policy, TcpState before, TcpState next) noexcept {
  switch (check_tcp_window(track, direction, segment, policy)) {
    case TcpWindowCheck::kIgnored:
      return TcpStep::kIgnored;
    case TcpWindowCheck::kOut:
      return refuse(track, direction, segment);
    case TcpWindowCheck::kUpdated:
      if (segment.kind == TcpKind::kAck) {
        count_repeats(track, direction, segment);
        track.last_end = segment.end;
        track.last_window = segment.window;
      }
      break;
    case TcpWindowCheck::kIn:
      break;
  }
  return move(track, direction, segment, before, next);
}

TcpStep judge(TcpTrack& track, std::uint8_t direction, const TcpSegment& segment,
              const TcpPolicy& policy) noexcept {
  TcpState before = state_of(track);
  if (segment.kind == TcpKind::kAck && before == TcpState::kEstablished) [[likely]] {
    return move_in_window(track, direction, segment, policy, before, before);
  }
  TcpMove next = tcp_move(direction, segment.kind, before);
  if (next == TcpMove::kReopen) {
    if (reopens(track, direction)) return TcpStep::kReopened;
    next = TcpMove::kLetPass;
  }
  if (next == TcpMove::kInvalid) return TcpStep::kInvalid;
  TcpState state = static_cast<TcpState>(next);
  if (next == TcpMove::kLetPass) {
    if (!answers_passed_syn(track, direction, segment)) {
      let_pass(track, direction, segment);
      return TcpStep::kIgnored;
    }
    adopt_passed_syn(track);
    before = TcpState::kSynSent;
    state = TcpState::kSynRecv;
  }
  if (is_challenge(track, direction, segment)) {
    track.challenge = 0;
    return TcpStep::kIgnored;
  }
  if (state == TcpState::kSynSent2) track.simultaneous = 1;
  if (state == TcpState::kSynRecv && direction == 1 && segment.kind == TcpKind::kAck &&
      track.simultaneous != 0) {
    state = TcpState::kEstablished;
  }
  if (segment.kind == TcpKind::kReset) {
    const Reset reset = judge_reset(track, direction, segment);
    if (!reset.valid) return TcpStep::kInvalid;
    if (reset.doubtful) state = before;
    if (!reset.windowed) return move(track, direction, segment, before, state);
  }
  return move_in_window(track, direction, segment, policy, before, state);
}

}  // namespace

std::optional<TcpTrack> begin_tcp(const TcpSegment& segment, const TcpPolicy& policy) noexcept {
  if (segment.kind != TcpKind::kSyn && (segment.kind != TcpKind::kAck || !policy.pickup)) {
    return std::nullopt;
  }
  TcpTrack track = {};
  TcpTrack::Side& sender = track.side[0];
  const std::uint32_t window = std::max<std::uint32_t>(segment.window, 1);
  sender.end = sender.max_end = segment.end;
  sender.window = TcpWindow::packed(window);
  if (segment.kind == TcpKind::kSyn) {
    sender.scale = segment.scale & 15;
    sender.may_sack = segment.may_sack ? 1 : 0;
  } else {
    sender.max_end += window;
    sender.may_sack = track.side[1].may_sack = 1;
    track.liberal = 1;
  }
  if (judge(track, 0, segment, policy) == TcpStep::kInvalid) return std::nullopt;
  return track;
}

TcpStep follow_tcp(TcpTrack& track, std::uint8_t direction, const TcpSegment& segment,
                   const TcpPolicy& policy) noexcept {
  MILLRACE_CHECK(direction <= 1);
  const TcpStep step = judge(track, direction, segment, policy);
  if (direction == 1 && (step == TcpStep::kFine || step == TcpStep::kIgnored)) track.answered = 1;
  return step;
}

std::uint32_t tcp_timeout_s(const TcpTrack& track, const TcpTimeouts& timeouts) noexcept {
  const std::uint32_t usual_s =
      timeouts.state_s[std::min<std::size_t>(track.state, kTcpStates - 1)];
  if (track.repeats >= kRepeatsMax && usual_s > timeouts.retransmitted_s) {
    return timeouts.retransmitted_s;
  }
  if (last_kind(track) == TcpKind::kReset) {
    return timeouts.state_s[static_cast<std::size_t>(TcpState::kClose)];
  }
  const bool one_sided = state_of(track) == TcpState::kEstablished && track.answered == 0;
  if (is_unacknowledged(track) || one_sided) return std::min(usual_s, timeouts.unacknowledged_s);
  return track.last_window == 0 ? std::min(usual_s, timeouts.retransmitted_s) : usual_s;
}

}  // namespace millrace
