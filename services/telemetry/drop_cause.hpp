// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "shared/layout/reason.hpp"

namespace millrace {

/// Whose doing a drop is: the configuration's, the packet's own, or ours. Alerts look at the last.
constexpr std::string_view cause_of(Reason reason) {
  switch (reason) {
    case Reason::kRule:
    case Reason::kNoRoute:
    case Reason::kNoPath:
    case Reason::kOwnAddress:
    case Reason::kNotForwarded:
    case Reason::kNotIpv4:
    case Reason::kNotUnicast:
    case Reason::kTtlExpired:
    case Reason::kNoNeighbour:  // a host that is not there; senders are told
      return "policy";
    case Reason::kOversize:
    case Reason::kTruncated:
    case Reason::kMalformed:
    case Reason::kBadChecksum:
      return "packet";
    default:  // a new one is loss until somebody says otherwise
      return "loss";
  }
}

/// Packets end for it as they should.
constexpr bool is_consumption(Reason reason) {
  return reason >= Reason::kAnswered && reason <= Reason::kControl;
}

/// Packets are born for it.
constexpr bool is_generation(Reason reason) {
  return reason == Reason::kHeld || (reason >= Reason::kCopy && reason <= Reason::kPunt);
}

/// Who gave it. Functions' drops are in millrace_function_drops_total too, by function and group.
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
