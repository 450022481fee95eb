// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/config/plan_diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PlanDiffTest : public testing::Test {
 protected:
  PlanDiff diff() const { return diff_plans(now_, next_); }
  /// The topology of small_world.hpp with `from` replaced.
  static Plan changed(const std::string& from, const std::string& to) {
    std::string text = test::kTwoPaths;
    const std::size_t at = text.find(from);
    if (at == text.npos) std::abort();
    return test::plan_of_text(text.replace(at, from.size(), to));
  }

  Plan now_ = test::plan_of_text(test::kTwoPaths);
  Plan next_ = now_;
};

TEST_F(PlanDiffTest, NothingDiffersFromItself) { EXPECT_TRUE(diff().empty()); }

TEST_F(PlanDiffTest, WhatAChangeWroteIntoThePlanIsNoDifference) {
  now_.revision = 7;
  now_.generation = 3;
  now_.functions[0].edition = 5;
  now_.functions[0].image = "/dev/shm/other.5.image";
  now_.actors[2].core = 1;
  EXPECT_TRUE(diff().empty());
}

TEST_F(PlanDiffTest, SettingsOfAFunctionChangeWhileItRuns) {
  now_.functions[1].settings = {{"rules", "a"}, {"rules", "b"}, {"mode", "x"}};
  next_.functions[1].settings = {{"rules", "a"}, {"rules", "c"}};
  const PlanDiff diff = this->diff();
  EXPECT_THAT(diff.functions, ElementsAre(1U));
  EXPECT_THAT(diff.lines, ElementsAre("function second: rules a, b -> a, c; mode x -> (default)"));
  EXPECT_THAT(diff.restart, IsEmpty());
}

TEST_F(PlanDiffTest, SoDoesWhatIsInItsFiles) {
  now_.functions[0].settings = next_.functions[0].settings = {{"rules", "/a"}};
  now_.sources = {"0000000000000001 /a", "0000000000000001 /t.yaml"};
  next_.sources = {"0000000000000002 /a", "0000000000000002 /t.yaml"};
  const PlanDiff diff = this->diff();
  EXPECT_THAT(diff.functions, ElementsAre(0U));
  EXPECT_THAT(diff.lines, ElementsAre("function first: what is in /a"));
}

TEST_F(PlanDiffTest, SecretsAreNotShown) {
  next_.functions[0].settings = {{"key", "hidden"}};
  next_.secrets = {"hidden"};
  EXPECT_THAT(diff().lines, ElementsAre("function first: key (default) -> (secret)"));
}

TEST_F(PlanDiffTest, NumbersOfWorkersChangeWhileItRunsButNotTheirMost) {
  next_.groups[0].count = 1;
  next_.groups[1].autoscale = {1, 2};
  PlanDiff diff = this->diff();
  ASSERT_EQ(diff.counts.size(), 1U);
  EXPECT_EQ(diff.counts[0].before, 3U);
  EXPECT_EQ(diff.counts[0].after, 1U);
  EXPECT_THAT(diff.autoscale, ElementsAre(1U));
  EXPECT_THAT(diff.lines, ElementsAre("group front: 3 -> 1 workers", "group deep: autoscale"));
  next_.groups[0].max = 5;
  EXPECT_THAT(this->diff().restart, ElementsAre("group front: max 3 -> 5"));
}

TEST_F(PlanDiffTest, TheRestNeedsARestartAndIsNamed) {
  const auto restart = [&](const std::string& from, const std::string& to) {
    next_ = changed(from, to);
    return diff().restart;
  };
  EXPECT_THAT(restart("  b: { device: \"null\" }", "  b: { device: \"null\", mtu: 9000 }"),
              testing::Contains("port b: device, mtu or addresses"));
  EXPECT_THAT(restart("run: [fourth]", "run: []"), ElementsAre("path short: match, lanes or run"));
  EXPECT_THAT(restart("run: [first, second", "run: [second"), testing::Not(IsEmpty()));
  EXPECT_THAT(restart("capacity: 8", "capacity: 16"), testing::Contains("batch: capacity"));
  EXPECT_THAT(restart("dispatch: any", "dispatch: flow"), ElementsAre("group front: dispatch"));
  EXPECT_THAT(restart("on: front }", "on: front, unavailable: pass }"),
              ElementsAre("function first: unavailable, overload or share"));
  EXPECT_THAT(
      restart("lanes: 2 }", "lanes: 2, match: ip }\n  more: { from: [b], match: ip6, run: [] }"),
      testing::Contains("path more comes"));
}

TEST_F(PlanDiffTest, APortOfOneQueueGetsFurtherOnesWhereThereIsRoom) {
  now_.ports[0].device = next_.ports[0].device = "afpacket";
  now_.ports[0].settings = {{"interface", "eth0"}, {"queues_max", "4"}};
  next_.ports[0].settings = {{"interface", "eth0"}, {"queues", "3"}, {"queues_max", "4"}};
  PlanDiff diff = this->diff();
  EXPECT_THAT(diff.restart, IsEmpty());
  EXPECT_THAT(diff.lines, ElementsAre("port a: queues (default) -> 3"));
  ASSERT_EQ(diff.queues.size(), 1u);
  EXPECT_EQ(diff.queues[0].port, 0u);
  EXPECT_EQ(diff.queues[0].before, 1u);
  EXPECT_EQ(diff.queues[0].after, 3u);
}

TEST_F(PlanDiffTest, OtherChangesOfQueuesNeedARestartAndSayWhy) {
  const auto restart = [&](const char* device, Settings now, Settings next) {
    now_.ports[0].device = next_.ports[0].device = device;
    now_.ports[0].settings = std::move(now);
    next_.ports[0].settings = std::move(next);
    EXPECT_THAT(diff().queues, IsEmpty());
    return diff().restart;
  };
  EXPECT_THAT(restart("afpacket", {{"queues", "2"}, {"queues_max", "4"}},
                      {{"queues", "1"}, {"queues_max", "4"}}),
              ElementsAre("port a: queues 2 -> 1 (queues cannot be taken away while it runs)"));
  EXPECT_THAT(restart("afpacket", {}, {{"queues", "2"}}),
              ElementsAre("port a: queues (default) -> 2 (there is room for 1: queues_max)"));
  EXPECT_THAT(
      restart("generate", {}, {{"queues", "2"}}),
      ElementsAre("port a: queues (default) -> 2 (there is room for 1: queues_max, of afpacket "
                  "ports)"));
  EXPECT_THAT(restart("afpacket", {{"queues", "2"}, {"queues_max", "4"}},
                      {{"queues", "3"}, {"queues_max", "4"}}),
              ElementsAre("port a: queues 2 -> 3 (only a port of one queue gets further ones while "
                          "it runs)"));
  EXPECT_THAT(restart("afpacket", {{"queues_max", "4"}}, {{"queues_max", "5"}, {"queues", "2"}}),
              ElementsAre("port a: queues_max 4 -> 5; queues (default) -> 2"));
}

TEST_F(PlanDiffTest, WhatComesAndGoesIsNamed) {
  next_.functions.pop_back();
  next_.ports.push_back({.name = "c"});
  EXPECT_THAT(diff().restart, ElementsAre("port c comes", "function fourth goes"));
}

}  // namespace
}  // namespace millrace
