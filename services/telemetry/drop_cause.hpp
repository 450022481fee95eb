// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "shared/config/plan_reasons.hpp"

namespace millrace {

/// The cause of a core reason.
constexpr ReasonCause cause_of(Reason reason) {
  switch (reason) {
    case Reason::kNoPath:
    case Reason::kNoNeighbour:  // a host that is not there; senders are told
      return ReasonCause::kPolicy;
    case Reason::kOversize:
    case Reason::kMalformed:
      return ReasonCause::kPacket;
    default:  // a new reason counts as loss until it has a line here
      return ReasonCause::kLoss;
  }
}

/// The cause of any reason; `declared`: Plan::reasons.
inline ReasonCause cause_of(std::span<const PlanReason> declared, Reason reason) {
  const PlanReason* const own = declared_reason(declared, static_cast<std::size_t>(reason));
  return own == nullptr ? cause_of(reason) : own->cause;
}

/// Whether packets that end for this reason end as they should.
constexpr bool is_consumption(Reason reason) {
  return reason >= Reason::kAnswered && reason <= Reason::kControl;
}

/// Whether packets are generated for this reason.
constexpr bool is_generation(Reason reason) {
  return reason == Reason::kHeld || (reason >= Reason::kCopy && reason <= Reason::kPunt);
}

/// The part of the system that drops for this reason. millrace_function_drops_total has the drops
/// of functions too, by function and group.
constexpr std::string_view dropped_by(Reason reason) {
  switch (reason) {
    case Reason::kNoPath:
      return "ingress";
    case Reason::kTxFull:
    case Reason::kNoOutput:
    case Reason::kNoBuffer:
    case Reason::kHoldFull:
      return "egress";
    case Reason::kOversize:
      return "port";
    case Reason::kWorkerLost:
    case Reason::kEgressLost:
    case Reason::kQuarantined:
      return "recovery";
    default:
      return "function";
  }
}

}  // namespace millrace
