// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "shared/layout/reason.hpp"

/// Fates of packets and their reasons, in the words of the commands that show packets.

namespace millrace {

/// "pass", "drop", "done" or "consumed".
constexpr std::string_view fate_name(Verdict fate) {
  constexpr std::string_view kNames[] = {"pass", "drop", "done", "consumed"};
  return kNames[static_cast<std::size_t>(fate) & 3];
}

/// "?" for a number that has no name.
constexpr std::string_view reason_name(Reason reason) {
  const auto number = static_cast<std::size_t>(reason);
  return number < kReasonNames.size() ? kReasonNames[number] : "?";
}

/// "dropped: rule", "consumed: fragmented", "answer: reply"; empty for a packet that goes on, or
/// leaves as itself.
inline std::string fate_text(Verdict fate, Reason reason) {
  const bool leaves = millrace::leaves(static_cast<std::uint8_t>(fate));
  if (leaves && (fate == Verdict::kPass || reason == Reason::kNone)) return "";
  const std::string what = leaves ? "answer" : fate == Verdict::kDrop ? "dropped" : "consumed";
  return what + ": " + std::string(reason_name(reason));
}

}  // namespace millrace
