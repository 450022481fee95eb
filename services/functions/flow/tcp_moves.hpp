// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/flow/tcp_track.hpp"

/// For tcp_track.cpp: into which state a segment takes a connection, by flags alone.

namespace millrace {

/// A TcpState, or one of these.
enum class TcpMove : std::uint8_t {
  kInvalid = kTcpStates,
  kLetPass,  ///< against the state; it passes, as the hosts may know better
  kReopen,   ///< a SYN behind the end of a connection
};

/// `direction`: 0 or 1. A segment of TcpKind::kNone is invalid in each state.
TcpMove tcp_move(std::uint8_t direction, TcpKind kind, TcpState state) noexcept;

}  // namespace millrace
