// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "shared/layout/status_file.hpp"

/// Life of an actor's entry, as data. "May hand to it": producers choose it.

namespace millrace {

inline constexpr std::size_t kActorStateCount = 7;

struct ActorRule {
  ActorState state;
  std::string_view name;
  bool may_be_chosen;
  std::array<bool, kActorStateCount> may_become;  ///< indexed by ActorState
};

// clang-format off
inline constexpr std::array<ActorRule, kActorStateCount> kActorRules = {{
    //                                                     vacant starting alive drain fenced reclaim quarantined
    {ActorState::kVacant,      "vacant",      false, {false, true,  false, false, false, false, false}},
    {ActorState::kStarting,    "starting",    false, {true,  false, true,  false, false, false, false}},
    {ActorState::kAlive,       "alive",       true,  {false, false, false, true,  true,  false, true}},
    {ActorState::kDraining,    "draining",    false, {false, false, false, false, true,  false, true}},
    {ActorState::kFenced,      "fenced",      false, {false, false, false, false, false, true,  false}},
    {ActorState::kReclaiming,  "reclaiming",  false, {true,  false, false, false, false, false, false}},
    {ActorState::kQuarantined, "quarantined", false, {false, false, false, false, false, false, false}},
}};
// clang-format on

constexpr const ActorRule& rule_of(ActorState state) {
  return kActorRules[static_cast<std::size_t>(state)];
}
constexpr bool may_become(ActorState from, ActorState to) {
  return rule_of(from).may_become[static_cast<std::size_t>(to)];
}

}  // namespace millrace
