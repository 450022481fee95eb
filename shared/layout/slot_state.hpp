// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "shared/base/limits.hpp"

/// States of a slot, and what recovery does with a slot of a dead owner in each. Data, not code:
/// the ingress, workers and egress CHECK their transitions against it, recovery looks its action up
/// in it, a test walks it.

namespace millrace {

enum class SlotKind : std::uint8_t {
  kFree = 0,     ///< empty; with its ingress or on the way back to it
  kFilling = 1,  ///< open at the ingress
  kHeld = 2,     ///< untouched, meant for `stage`: sealed, in a link, in a window, or just taken
  kWorked = 3,   ///< functions of `stage` are changing it
  kSending = 4,  ///< the egress transmits its packets
  kFreeing = 5,  ///< accounted for; its buffers go back one after the other
};
inline constexpr std::size_t kSlotKindCount = 6;

/// State word of a slot: kind, and the stage it speaks of (kHeld, kWorked).
struct SlotState {
  SlotKind kind = SlotKind::kFree;
  std::uint8_t stage = 0;
  friend constexpr bool operator==(SlotState, SlotState) = default;
  constexpr std::uint32_t word() const {
    return static_cast<std::uint32_t>(kind) | std::uint32_t{stage} << 8;
  }
  static constexpr SlotState from_word(std::uint32_t word) {
    return {static_cast<SlotKind>(word & 0xff), static_cast<std::uint8_t>(word >> 8)};
  }
};

/// What recovery does with a slot that a dead actor owns and no link holds.
enum class Rescue : std::uint8_t {
  kGiveBack,  ///< return it to its ingress
  kDiscard,   ///< never left: buffers and slot become the ingress's again (it reads them anew, or
              ///< lost them)
  kHandOn,    ///< untouched: pass it on to `stage`
  kLose,  ///< half changed: verdict drop, reason worker_lost, on to the next stage that must see it
  kAccountAndFree,  ///< some may have left: dropped{egress_lost} unless the ledger has it already;
                    ///< then free
  kFreeRest,        ///< free the buffers that are not back yet, then the slot
};

struct SlotRule {
  SlotKind kind;
  Rescue rescue;
  std::string_view name;
  /// Indexed by SlotKind; recovery's own steps included.
  std::array<bool, kSlotKindCount> may_become;
};

// clang-format off
inline constexpr std::array<SlotRule, kSlotKindCount> kSlotRules = {{
    //                                                                    free   filling held   worked sending freeing
    {SlotKind::kFree,    Rescue::kGiveBack,       "free",    {false, true,  true,  false, false, false}},
    {SlotKind::kFilling, Rescue::kDiscard,        "filling", {true,  false, true,  false, false, false}},
    {SlotKind::kHeld,    Rescue::kHandOn,         "held",    {false, false, true,  true,  true,  false}},
    {SlotKind::kWorked,  Rescue::kLose,           "worked",  {false, false, true,  false, false, false}},
    {SlotKind::kSending, Rescue::kAccountAndFree, "sending", {false, false, false, false, false, true}},
    {SlotKind::kFreeing, Rescue::kFreeRest,       "freeing", {true,  false, false, false, false, false}},
}};
// clang-format on

constexpr const SlotRule& rule_of(SlotKind kind) {
  return kSlotRules[static_cast<std::size_t>(kind)];
}
constexpr bool may_become(SlotKind from, SlotKind to) {
  return rule_of(from).may_become[static_cast<std::size_t>(to)];
}
/// True for a state word that this version knows; what is read from shared memory is checked.
constexpr bool is_slot_state(std::uint32_t word) { return (word & 0xff) < kSlotKindCount; }

}  // namespace millrace
