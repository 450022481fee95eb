// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/config/plan.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace {

/// Packets of a port of device `loop` since the topology started, read from ledgers and ingresses.
/// While packets move, the two counts are not of one moment: `received` is read later.
struct LoopBalance {
  std::uint64_t sent = 0;      ///< to the port, by any egress; and born there
  std::uint64_t received = 0;  ///< from it, refused ones too

  /// Packets that were sent and not received yet.
  std::uint64_t under_way() const noexcept { return sent > received ? sent - received : 0; }
};

LoopBalance loop_balance(const Plan& plan, const StatusView& status, std::uint32_t port);

/// Packets under way in all loops.
std::uint64_t packets_in_loops(const Plan& plan, const StatusView& status);

}  // namespace millrace
