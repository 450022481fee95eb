// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "shared/config/plan_reasons.hpp"

/// Fates of packets and their reasons, in the words of the commands that show packets.

namespace millrace {

/// "pass", "drop", "done" or "consumed".
constexpr std::string_view fate_name(Verdict fate) {
  constexpr std::string_view kNames[] = {"pass", "drop", "done", "consumed"};
  return kNames[static_cast<std::size_t>(fate) & 3];
}

/// "dropped: rule", "consumed: fragmented", "answer: reply"; empty for a packet that goes on, or
/// leaves as itself. `reasons`: Plan::reasons.
inline std::string fate_text(std::span<const PlanReason> reasons, Verdict fate, Reason reason) {
  const bool leaves = millrace::leaves(static_cast<std::uint8_t>(fate));
  if (leaves && (fate == Verdict::kPass || reason == Reason::kNone)) return "";
  const std::string what = leaves ? "answer" : fate == Verdict::kDrop ? "dropped" : "consumed";
  return what + ": " + std::string(reason_text(reasons, static_cast<std::size_t>(reason)));
}

}  // namespace millrace
