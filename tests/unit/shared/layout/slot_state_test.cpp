// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/slot_state.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace millrace {
namespace {

constexpr SlotKind kKinds[] = {SlotKind::kFree,   SlotKind::kFilling, SlotKind::kHeld,
                               SlotKind::kWorked, SlotKind::kSending, SlotKind::kFreeing};

/// States that recovery puts a slot through, as rescue.cpp and quarantine.cpp do.
std::vector<SlotKind> steps_of(Rescue rescue) {
  switch (rescue) {
    case Rescue::kGiveBack:
    case Rescue::kHandOn:
      return {};
    case Rescue::kDiscard:
      return {SlotKind::kFree};
    case Rescue::kLose:
      return {SlotKind::kHeld};
    case Rescue::kAccountAndFree:
      return {SlotKind::kFreeing, SlotKind::kFree};
    case Rescue::kFreeRest:
      return {SlotKind::kFree};
  }
  return {};
}

std::set<SlotKind> reachable_from(SlotKind start) {
  std::set<SlotKind> reached;
  std::vector<SlotKind> open{start};
  while (!open.empty()) {
    const SlotKind from = open.back();
    open.pop_back();
    for (const SlotKind to : kKinds) {
      if (may_become(from, to) && reached.insert(to).second) open.push_back(to);
    }
  }
  return reached;
}

TEST(SlotState, EveryKindHasItsRuleAtItsIndexAndANameOfItsOwn) {
  std::set<std::string_view> names;
  ASSERT_EQ(std::size(kKinds), kSlotKindCount);
  for (std::size_t i = 0; i < kSlotKindCount; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kKinds[i]), i);
    EXPECT_EQ(kSlotRules[i].kind, kKinds[i]);
    EXPECT_EQ(&rule_of(kKinds[i]), &kSlotRules[i]);
    EXPECT_TRUE(names.insert(kSlotRules[i].name).second) << kSlotRules[i].name;
  }
}

TEST(SlotState, RecoveryLeadsOnlyAlongAllowedTransitions) {
  for (const SlotRule& rule : kSlotRules) {
    SlotKind now = rule.kind;
    for (const SlotKind next : steps_of(rule.rescue)) {
      EXPECT_TRUE(may_become(now, next)) << rule.name;
      now = next;
    }
    const bool ends_well = now == SlotKind::kFree || now == SlotKind::kHeld;
    EXPECT_TRUE(ends_well) << rule.name << " is left to nobody";
  }
}

TEST(SlotState, TheWayOfABatchIsAllowed) {
  const SlotKind way[] = {SlotKind::kFree,    SlotKind::kFilling, SlotKind::kHeld,
                          SlotKind::kWorked,  SlotKind::kHeld,    SlotKind::kSending,
                          SlotKind::kFreeing, SlotKind::kFree};
  for (std::size_t i = 0; i + 1 < std::size(way); ++i) {
    EXPECT_TRUE(may_become(way[i], way[i + 1])) << i;
  }
}

TEST(SlotState, NoShortCutSkipsTheAccounting) {
  EXPECT_FALSE(may_become(SlotKind::kHeld, SlotKind::kFree));
  EXPECT_FALSE(may_become(SlotKind::kWorked, SlotKind::kFree));
  EXPECT_FALSE(may_become(SlotKind::kSending, SlotKind::kFree));
  EXPECT_FALSE(may_become(SlotKind::kSending, SlotKind::kHeld));
  EXPECT_FALSE(may_become(SlotKind::kFreeing, SlotKind::kSending));
}

TEST(SlotState, EveryKindIsReachedFromFreeAndFindsBackToIt) {
  EXPECT_EQ(reachable_from(SlotKind::kFree).size(), kSlotKindCount);
  for (const SlotKind kind : kKinds) EXPECT_TRUE(reachable_from(kind).contains(SlotKind::kFree));
}

TEST(SlotState, TheWordKeepsKindAndStageAndFreeIsZero) {
  EXPECT_EQ((SlotState{SlotKind::kFree, 0}.word()), 0u);
  for (const SlotKind kind : kKinds) {
    for (const int stage : {0, 1, 31, 254, 255}) {
      const SlotState state{kind, static_cast<std::uint8_t>(stage)};
      EXPECT_EQ(SlotState::from_word(state.word()), state);
      EXPECT_TRUE(is_slot_state(state.word()));
    }
  }
  EXPECT_FALSE(is_slot_state(kSlotKindCount));
  EXPECT_FALSE(is_slot_state(0xff));
}

}  // namespace
}  // namespace millrace
