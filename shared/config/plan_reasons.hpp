// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/error.hpp"
#include "shared/base/reason.hpp"
#include "shared/config/plan.hpp"

/// Numbers and names of the reasons for which packets are dropped, consumed and generated: those of
/// the core, and behind them those that the functions of a plan declare (Plan::reasons).

namespace millrace {

/// "policy", "packet" or "loss": a label value of the metrics.
constexpr std::string_view cause_name(ReasonCause cause) {
  constexpr std::string_view kNames[] = {"policy", "packet", "loss"};
  return kNames[static_cast<std::size_t>(cause)];
}

/// What functions declare of number `number`; null: it is none of theirs.
inline const PlanReason* declared_reason(std::span<const PlanReason> declared, std::size_t number) {
  if (number < kCoreReasonCount || number - kCoreReasonCount >= declared.size()) return nullptr;
  return &declared[number - kCoreReasonCount];
}

/// Empty for a number that has no name.
inline std::string_view reason_name(std::span<const PlanReason> declared, std::size_t number) {
  if (number < kReasonNames.size()) return kReasonNames[number];
  const PlanReason* const own = declared_reason(declared, number);
  return own == nullptr ? std::string_view() : own->name;
}

/// Likewise for people and JSON: "?" for a number that has no name.
inline std::string_view reason_text(std::span<const PlanReason> declared, std::size_t number) {
  const std::string_view name = reason_name(declared, number);
  return name.empty() ? "?" : name;
}

/// kReasonCount for a name that nothing has.
inline std::size_t reason_number(std::span<const PlanReason> declared, std::string_view name) {
  for (std::size_t number = 0; number < kReasonCount; ++number) {
    if (!name.empty() && reason_name(declared, number) == name) return number;
  }
  return kReasonCount;
}

/// Puts it behind the others, unless one of `all` or of the core has its name. There may be too
/// many then: the maker of a plan has to look.
inline void number_reason(std::vector<PlanReason>& all, PlanReason reason) {
  const bool known = std::ranges::find(kReasonNames, reason.name) != kReasonNames.end() ||
                     std::ranges::find(all, reason.name, &PlanReason::name) != all.end();
  if (!known) all.push_back(std::move(reason));
}

/// Likewise, what one function declares.
inline void number_reasons(std::vector<PlanReason>& all, std::span<const DeclaredReason> declared) {
  for (const DeclaredReason& one : declared) {
    number_reason(all, {std::string(one.name), one.cause, std::string(one.summary)});
  }
}

/// Numbers of what a function declares, by place. Throws Error for a name that the plan does not
/// have: a build made it whose function knew less.
inline std::vector<std::uint8_t> reason_numbers(std::span<const PlanReason> declared,
                                                std::span<const DeclaredReason> of) {
  std::vector<std::uint8_t> numbers;
  for (const DeclaredReason& one : of) {
    const std::size_t number = reason_number(declared, one.name);
    if (number == kReasonCount) {
      throw Error(
          "drop reason '" + std::string(one.name) +
          "' has no number in the plan, which an older build has made; with a start by this "
          "build (millrace down, millrace up) it has");
    }
    numbers.push_back(static_cast<std::uint8_t>(number));
  }
  return numbers;
}

}  // namespace millrace
