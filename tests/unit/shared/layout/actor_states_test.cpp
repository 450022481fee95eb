// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/actor_states.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace millrace {
namespace {

using S = ActorState;
using Steps = std::set<std::pair<S, S>>;

// What recovery.hpp draws, and which process does it.
const Steps kDrawn = {
    {S::kVacant, S::kStarting},    // a process enters
    {S::kStarting, S::kAlive},     // granted
    {S::kStarting, S::kVacant},    // gone before it was granted
    {S::kAlive, S::kDraining},     // to be stopped
    {S::kAlive, S::kFenced},       // exit certain
    {S::kDraining, S::kFenced},    // the same
    {S::kAlive, S::kQuarantined},  // cannot be killed
    {S::kDraining, S::kQuarantined},
    {S::kFenced, S::kReclaiming},  // rings repaired, slots taken over
    {S::kReclaiming, S::kVacant},  // producers have taken back what was unread
};

TEST(ActorStates, EveryStateHasItsRuleAtItsIndexAndANameOfItsOwn) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kActorStateCount; ++i) {
    EXPECT_EQ(kActorRules[i].state, static_cast<S>(i));
    EXPECT_EQ(&rule_of(static_cast<S>(i)), &kActorRules[i]);
    EXPECT_TRUE(names.insert(kActorRules[i].name).second) << kActorRules[i].name;
  }
  EXPECT_EQ(static_cast<std::size_t>(S::kQuarantined) + 1, kActorStateCount);
}

TEST(ActorStates, ExactlyTheDrawnTransitionsAreAllowed) {
  for (std::size_t from = 0; from < kActorStateCount; ++from) {
    for (std::size_t to = 0; to < kActorStateCount; ++to) {
      const std::pair step{static_cast<S>(from), static_cast<S>(to)};
      EXPECT_EQ(may_become(step.first, step.second), kDrawn.contains(step))
          << kActorRules[from].name << " to " << kActorRules[to].name;
    }
  }
}

TEST(ActorStates, OnlyWhoIsAliveMayBeChosen) {
  for (const ActorRule& rule : kActorRules) EXPECT_EQ(rule.may_be_chosen, rule.state == S::kAlive);
}

TEST(ActorStates, NobodyRunsAgainBeforeRecoveryIsThrough) {
  EXPECT_FALSE(may_become(S::kFenced, S::kVacant));
  EXPECT_FALSE(may_become(S::kFenced, S::kStarting));
  EXPECT_FALSE(may_become(S::kReclaiming, S::kAlive));
  for (std::size_t to = 0; to < kActorStateCount; ++to) {
    EXPECT_FALSE(may_become(S::kQuarantined, static_cast<S>(to)));
  }
}

}  // namespace
}  // namespace millrace
