// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/tcp_moves.hpp"

#include <array>

namespace millrace {
namespace {

using enum TcpState;
constexpr std::size_t kKinds = 6;

constexpr TcpMove to(TcpState state) noexcept { return static_cast<TcpMove>(state); }

constexpr TcpMove on_syn(bool asks, TcpState state) noexcept {
  switch (state) {
    case kNone:
    case kSynSent:
      if (asks) return to(kSynSent);
      return state == kNone ? TcpMove::kInvalid : to(kSynSent2);
    case kSynSent2:
      return to(kSynSent2);
    case kTimeWait:
      return TcpMove::kReopen;
    case kClose:
      return asks ? TcpMove::kReopen : TcpMove::kInvalid;
    default:
      return asks ? TcpMove::kLetPass : TcpMove::kInvalid;
  }
}

constexpr TcpMove on_syn_ack(bool asks, TcpState state) noexcept {
  switch (state) {
    case kNone:
      return TcpMove::kInvalid;
    case kSynSent:
      return asks ? TcpMove::kInvalid : to(kSynRecv);
    case kSynSent2:
      return to(kSynRecv);
    case kSynRecv:
      return asks ? to(kSynRecv) : TcpMove::kLetPass;
    default:
      return asks ? TcpMove::kInvalid : TcpMove::kLetPass;
  }
}

constexpr TcpMove on_fin(TcpState state) noexcept {
  switch (state) {
    case kSynRecv:
    case kEstablished:
      return to(kFinWait);
    case kFinWait:
    case kCloseWait:
    case kLastAck:
      return to(kLastAck);
    case kTimeWait:
    case kClose:
      return to(state);
    default:
      return TcpMove::kInvalid;
  }
}

constexpr TcpMove on_ack(bool asks, TcpState state) noexcept {
  switch (state) {
    case kNone:
      return asks ? to(kEstablished) : TcpMove::kInvalid;
    case kSynSent:
    case kSynSent2:
      return asks ? TcpMove::kInvalid : TcpMove::kLetPass;
    case kSynRecv:
      return to(asks ? kEstablished : kSynRecv);
    case kFinWait:
      return to(kCloseWait);
    case kLastAck:
      return to(kTimeWait);
    default:
      return to(state);
  }
}

constexpr TcpMove move_of(bool asks, TcpKind kind, TcpState state) noexcept {
  switch (kind) {
    case TcpKind::kSyn:
      return on_syn(asks, state);
    case TcpKind::kSynAck:
      return on_syn_ack(asks, state);
    case TcpKind::kFin:
      return on_fin(state);
    case TcpKind::kAck:
      return on_ack(asks, state);
    case TcpKind::kReset:
      return state == kNone ? TcpMove::kInvalid : to(kClose);
    case TcpKind::kNone:
      break;
  }
  return TcpMove::kInvalid;
}

using Moves = std::array<std::array<std::array<TcpMove, kTcpStates>, kKinds>, 2>;

constexpr Moves kMoves = [] {
  Moves moves = {};
  for (std::size_t direction = 0; direction < 2; ++direction) {
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      for (std::size_t state = 0; state < kTcpStates; ++state) {
        moves[direction][kind][state] =
            move_of(direction == 0, static_cast<TcpKind>(kind), static_cast<TcpState>(state));
      }
    }
  }
  return moves;
}();

}  // namespace

TcpMove tcp_move(std::uint8_t direction, TcpKind kind, TcpState state) noexcept {
  return kMoves[direction & 1][static_cast<std::size_t>(kind)][static_cast<std::size_t>(state)];
}

}  // namespace millrace
