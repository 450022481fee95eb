// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "services/functions/flow/tcp_segment.hpp"

/// What a middlebox that sees the segments of both directions knows of one TCP connection: its
/// state, and whether a further segment can belong to it. States and windows are those of Linux's
/// conntrack (the oracle: tests/golden/flow-cases), after G. van Rooij, "Real Stateful TCP Packet
/// Filtering in IP Filter" (2001); resets and challenge ACKs after RFC 5961.

namespace millrace {

/// Direction 0 is that of the segment with which the flow began, 1 that of answers.
enum class TcpState : std::uint8_t {
  kNone,         ///< nothing has been seen
  kSynSent,      ///< SYN
  kSynRecv,      ///< SYN and the SYN+ACK for it
  kEstablished,  ///< and the ACK of direction 0; or picked up without its beginning
  kFinWait,      ///< FIN of one side
  kCloseWait,    ///< which has been followed by an ACK
  kLastAck,      ///< FIN of both sides
  kTimeWait,     ///< and the ACK for the second
  kClose,        ///< RST
  kSynSent2,     ///< SYN of both sides: simultaneous open
};
inline constexpr std::size_t kTcpStates = 10;

/// A window of up to 65,535 << 14 bytes in 20 bits: exactly as a header and a scale say it; a
/// number between two of those is the higher one.
class TcpWindow {
 public:
  static constexpr std::uint32_t packed(std::uint64_t bytes) noexcept {
    std::uint32_t shift = 0;
    while ((bytes + (1u << shift) - 1) >> shift > 0xffff && shift < kShiftMax) ++shift;
    const std::uint64_t number = (bytes + (1u << shift) - 1) >> shift;
    return shift << 16 | static_cast<std::uint32_t>(number > 0xffff ? 0xffff : number);
  }
  static constexpr std::uint32_t bytes(std::uint32_t packed) noexcept {
    return (packed & 0xffff) << (packed >> 16);
  }

 private:
  static constexpr std::uint32_t kShiftMax = 14;
};

/// All zero: nothing is known. For follow_tcp(); others ask the functions below.
struct TcpTrack {
  /// What one side has sent and may send, from segments of both. Numbers are of sequence.
  struct Side {
    std::uint32_t end;          ///< one more than the highest sent
    std::uint32_t max_end;      ///< one more than the highest that the other side has room for
    std::uint32_t max_ack;      ///< the highest that it has acknowledged, if `has_acked`
    std::uint32_t window : 20;  ///< TcpWindow: the largest that it has announced; 0: not seen yet
    std::uint32_t scale : 4;    ///< its option window scale: shift + 1; 0: none
    std::uint32_t may_sack : 1, has_acked : 1;
    std::uint32_t unacknowledged : 1;  ///< the other side has not acknowledged all of `end`
    /// Options of its SYN that passed in a state where none is due.
    std::uint32_t passed_scale : 4, passed_may_sack : 1;
  } side[2];
  std::uint32_t last_end;  ///< of the last ACK, or of what passed without being believed
  std::uint16_t last_window;
  std::uint16_t state : 4;
  std::uint16_t last_kind : 3, last_direction : 1;
  std::uint16_t repeats : 2;  ///< how often the last ACK was seen again, up to 3
  std::uint16_t assured : 1, answered : 1;
  std::uint16_t liberal : 1;          ///< picked up: its scales are not known
  std::uint16_t has_close_begun : 1;  ///< by a FIN
  std::uint16_t simultaneous : 1;     ///< both sides opened it
  std::uint16_t challenge : 1;        ///< a SYN passed in kLastAck: the next ACK answers that
};
static_assert(sizeof(TcpTrack) == 40 && alignof(TcpTrack) == 4);
static_assert(std::is_trivially_copyable_v<TcpTrack>);

struct TcpPolicy {
  bool pickup = true;    ///< a flow may begin in the middle, with an ACK
  bool liberal = false;  ///< windows decide nothing; states and resets do
};

enum class TcpStep : std::uint8_t {
  kFine,      ///< the flow's time begins anew: tcp_timeout_s()
  kIgnored,   ///< it passes and proves nothing: the flow's deadline stays as it is
  kOver,      ///< it passes, and the flow ends with it: a RST before any answer
  kInvalid,   ///< out of window, or against the state; the deadline stays
  kReopened,  ///< this SYN begins another connection: forget the flow, begin anew
};

/// The track after the first segment of a flow. Nothing: no flow may begin with it.
std::optional<TcpTrack> begin_tcp(const TcpSegment& segment, const TcpPolicy& policy) noexcept;

/// The track after a further segment. `direction`: 0 or 1. After kReopened, which may come from
/// either direction, the track is as before.
TcpStep follow_tcp(TcpTrack& track, std::uint8_t direction, const TcpSegment& segment,
                   const TcpPolicy& policy) noexcept;

inline TcpState state_of(const TcpTrack& track) noexcept {
  return static_cast<TcpState>(track.state);
}
/// A segment of direction 1 has been believed, or has passed.
inline bool is_answered(const TcpTrack& track) noexcept { return track.answered != 0; }
/// Established with valid segments of both directions, now or before: not one to give up for room.
inline bool is_assured(const TcpTrack& track) noexcept { return track.assured != 0; }
/// One side has sent what the other has not acknowledged yet.
inline bool is_unacknowledged(const TcpTrack& track) noexcept {
  return (track.side[0].unacknowledged | track.side[1].unacknowledged) != 0;
}
/// It was begun by a segment in the middle of a connection.
inline bool is_picked_up(const TcpTrack& track) noexcept { return track.liberal != 0; }
/// Its sides tell each other where their numbers begin.
inline bool is_opening(const TcpTrack& track) noexcept {
  const TcpState state = state_of(track);
  return state == TcpState::kSynSent || state == TcpState::kSynRecv || state == TcpState::kSynSent2;
}
/// Up to where the other side has acknowledged what `direction` sends; nothing: it has sent no ACK.
inline std::optional<std::uint32_t> acknowledged(const TcpTrack& track,
                                                 std::uint8_t direction) noexcept {
  const TcpTrack::Side& receiver = track.side[1 - direction];
  if (receiver.has_acked == 0) return std::nullopt;
  return receiver.max_ack;
}

/// How long a flow stays without a segment, in seconds. The defaults are conntrack's.
struct TcpTimeouts {
  /// By TcpState; kNone has none.
  std::array<std::uint32_t, kTcpStates> state_s = {0, 120, 60, 432000, 120, 60, 30, 120, 10, 120};
  std::uint32_t unacknowledged_s = 300;  ///< at most, while one side waits for an ACK
  std::uint32_t retransmitted_s = 300;   ///< at most, with the same ACK three times, or no window
};

/// That of a flow after a step that was kFine, or after begin_tcp().
std::uint32_t tcp_timeout_s(const TcpTrack& track, const TcpTimeouts& timeouts) noexcept;

}  // namespace millrace
