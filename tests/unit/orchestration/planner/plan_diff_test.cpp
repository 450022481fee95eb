// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/plan_diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

class PlanDiffTest : public testing::Test {
 protected:
  PlanDiff diff() const { return diff_plans(now_, next_); }
  static std::vector<std::uint32_t> numbers_of(const PlanDiff& diff) {
    std::vector<std::uint32_t> numbers;
    for (const PlanEdition& one : diff.functions) numbers.push_back(one.number);
    return numbers;
  }
  /// The differences when the topology of small_world.hpp becomes that with replacements.
  PlanDiff to(std::initializer_list<std::pair<std::string, std::string>> replacements) {
    std::string text = test::kTwoPaths;
    for (const auto& [from, with] : replacements) {
      const std::size_t at = text.find(from);
      if (at == text.npos) std::abort();
      text.replace(at, from.size(), with);
    }
    next_ = test::plan_of_text(text);
    return diff();
  }
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

TEST_F(PlanDiffTest, CoresThatTheFileNamesNeedARestart) {
  next_.actors[2].core = 1;
  next_.actors[2].core_named = true;
  EXPECT_THAT(diff().restart, ElementsAre("cores of " + next_.actors[2].name));
  now_.actors[2] = next_.actors[2];
  EXPECT_TRUE(diff().empty());
  now_.actors[2].core = 3;
  EXPECT_THAT(diff().restart, ElementsAre("cores of " + next_.actors[2].name));
  next_.actors[2].core_named = false;
  EXPECT_THAT(diff().restart, ElementsAre("cores of " + next_.actors[2].name)) << "no longer named";
}

TEST_F(PlanDiffTest, SettingsOfAFunctionChangeWhileItRuns) {
  now_.functions[1].settings = {{"rules", "a"}, {"rules", "b"}, {"mode", "x"}};
  next_.functions[1].settings = {{"rules", "a"}, {"rules", "c"}};
  const PlanDiff diff = this->diff();
  EXPECT_THAT(numbers_of(diff), ElementsAre(1U));
  EXPECT_EQ(diff.functions[0].function.settings, next_.functions[1].settings);
  EXPECT_THAT(diff.lines, ElementsAre("function second: rules a, b -> a, c; mode x -> (default)"));
  EXPECT_THAT(diff.restart, IsEmpty());
}

TEST_F(PlanDiffTest, SoDoesWhatIsInItsFiles) {
  now_.functions[0].settings = next_.functions[0].settings = {{"rules", "/a"}};
  now_.sources = {"0000000000000001 /a", "0000000000000001 /t.yaml"};
  next_.sources = {"0000000000000002 /a", "0000000000000002 /t.yaml"};
  const PlanDiff diff = this->diff();
  EXPECT_THAT(numbers_of(diff), ElementsAre(0U));
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
  EXPECT_THAT(diff.lines, ElementsAre("group front: 3 -> 1 workers", "group deep: autoscale"));
  next_.groups[0].autoscale = {2, 4};
  EXPECT_THAT(this->diff().lines, ElementsAre("group front: autoscale", "group deep: autoscale"))
      << "3 is what it may have come to by itself";
  next_.groups[0].autoscale = {1, 2};
  EXPECT_THAT(this->diff().lines, Contains("group front: 3 -> 1 workers"));
  next_.groups[0].max = 5;
  EXPECT_THAT(this->diff().restart, ElementsAre("group front: max 3 -> 5"));
}

TEST_F(PlanDiffTest, TheRestNeedsARestartAndIsNamed) {
  const auto restart = [&](const std::string& from, const std::string& to) {
    next_ = changed(from, to);
    return diff().restart;
  };
  EXPECT_THAT(restart("  b: { device: \"null\" }", "  b: { device: \"null\", mtu: 9000 }"),
              testing::Contains("port b: mtu 1500 -> 9000"));
  EXPECT_THAT(restart("run: [fourth]", "run: []"), ElementsAre("path short: run"));
  EXPECT_THAT(restart("run: [first, second", "run: [second"), testing::Not(IsEmpty()));
  EXPECT_THAT(restart("capacity: 8", "capacity: 16"), testing::Contains("batch: capacity"));
  EXPECT_THAT(restart("dispatch: any", "dispatch: flow"), ElementsAre("group front: dispatch"));
  EXPECT_THAT(restart("on: front }", "on: front, unavailable: pass }"),
              ElementsAre("function first: unavailable"));
  EXPECT_THAT(
      restart("lanes: 2 }", "lanes: 2, match: ip }\n  more: { from: [b], match: ip6, run: [] }"),
      testing::Contains("path more comes"));
}

TEST_F(PlanDiffTest, QueuesComeAndGoWhereThereIsRoom) {
  now_.ports[0].device = next_.ports[0].device = "afpacket";
  now_.ports[0].settings = {{"interface", "eth0"}, {"queues_max", "4"}};
  next_.ports[0].settings = {{"interface", "eth0"}, {"queues", "3"}, {"queues_max", "4"}};
  const PlanDiff more = diff();
  EXPECT_THAT(more.restart, IsEmpty());
  EXPECT_THAT(more.lines, ElementsAre("port a: queues (default) -> 3"));
  ASSERT_EQ(more.queues.size(), 1u);
  EXPECT_EQ(more.queues[0].port, 0u);
  EXPECT_EQ(more.queues[0].before, 1u);
  EXPECT_EQ(more.queues[0].after, 3u);
  std::swap(now_, next_);
  const PlanDiff fewer = diff();
  EXPECT_THAT(fewer.restart, IsEmpty());
  ASSERT_EQ(fewer.queues.size(), 1u);
  EXPECT_EQ(fewer.queues[0].before, 3u);
  EXPECT_EQ(fewer.queues[0].after, 1u);
}

TEST_F(PlanDiffTest, OtherChangesOfQueuesNeedARestartAndSayWhy) {
  const auto restart = [&](const char* device, Settings now, Settings next) {
    now_.ports[0].device = next_.ports[0].device = device;
    now_.ports[0].settings = std::move(now);
    next_.ports[0].settings = std::move(next);
    EXPECT_THAT(diff().queues, IsEmpty());
    return diff().restart;
  };
  EXPECT_THAT(restart("afpacket", {{"queues", "2"}}, {{"queues", "1"}}),
              ElementsAre("port a: queues 2 -> 1 (while it runs only of a port with queues_max)"));
  EXPECT_THAT(restart("generate", {}, {{"queues", "2"}}),
              ElementsAre("port a: queues (default) -> 2 (while it runs only of afpacket ports)"));
  EXPECT_THAT(restart("afpacket", {{"queues", "2"}, {"queues_max", "4"}},
                      {{"queues", "5"}, {"queues_max", "4"}}),
              ElementsAre("port a: queues 2 -> 5 (there is room for 4: queues_max)"));
  EXPECT_THAT(restart("afpacket", {{"queues_max", "4"}}, {{"queues_max", "5"}, {"queues", "2"}}),
              ElementsAre("port a: queues_max 4 -> 5; queues (default) -> 2"));
}

TEST_F(PlanDiffTest, WhatComesAndGoesIsNamed) {
  next_.ports.push_back({.name = "c"});
  EXPECT_THAT(diff().restart, ElementsAre("port c comes"));
}

TEST_F(PlanDiffTest, AFunctionComesIntoAStageAndKeepsTheNumbersOfOthers) {
  const PlanDiff more = to({{"functions:\n", "functions:\n  new: { type: pass, on: front }\n"},
                            {"run: [first,", "run: [new, first,"}});
  EXPECT_THAT(more.restart, IsEmpty());
  EXPECT_THAT(more.lines, ElementsAre("function new comes",
                                      "path long: runs [first] -> [new, first] on front"));
  EXPECT_THAT(numbers_of(more), ElementsAre(4U));
  EXPECT_EQ(more.functions[0].function.name, "new");
  ASSERT_EQ(more.stages.size(), 1U);
  EXPECT_EQ(more.stages[0].number, 0U);
  EXPECT_THAT(more.stages[0].functions, ElementsAre(4U, 0U));
}

TEST_F(PlanDiffTest, AFunctionGoesAndComesBackToItsNumber) {
  now_ = changed("functions:\n", "functions:\n  new: { type: pass, on: front }\n");
  now_.stages[0].functions = {1, 0};
  const PlanDiff fewer = to({});
  EXPECT_THAT(fewer.restart, IsEmpty());
  EXPECT_THAT(fewer.lines,
              ElementsAre("function new goes", "path long: runs [first, new] -> [first] on front"));
  ASSERT_THAT(numbers_of(fewer), ElementsAre(0U));
  EXPECT_TRUE(fewer.functions[0].function.gone);
  EXPECT_EQ(fewer.functions[0].function.counter_count, 2U) << "memory is laid out by it";
  std::swap(now_, next_);
  next_.generation = 2;
  Plan without = now_;
  without.functions.push_back(fewer.functions[0].function);
  std::swap(now_, without);
  const PlanDiff again = diff();
  EXPECT_THAT(again.restart, IsEmpty());
  EXPECT_THAT(numbers_of(again), ElementsAre(4U));
  EXPECT_THAT(again.stages.at(0).functions, ElementsAre(0U, 4U));
  next_ = now_;
  EXPECT_TRUE(diff().empty()) << "who is gone already is no difference";
}

TEST_F(PlanDiffTest, FunctionsOfAStageChangePlaces) {
  now_ = changed("run: [fourth]", "run: [fourth, second]");
  const PlanDiff diff = to({{"run: [fourth]", "run: [second, fourth]"}});
  EXPECT_THAT(diff.restart, IsEmpty());
  EXPECT_THAT(diff.functions, IsEmpty());
  EXPECT_THAT(diff.lines,
              ElementsAre("path short: runs [fourth, second] -> [second, fourth] on gpu"));
}

TEST_F(PlanDiffTest, ClassesComeBehindThoseThatThereAre) {
  const PlanDiff diff = to(
      {{"functions:\n",
        "functions:\n"
        "  new: { type: pass, on: front, classes: [red] }\n"},
       {"run: [first,", "run: [new, first,"},
       {"third: { type: state, on: deep }", "third: { type: state, on: deep, when: class red }"}});
  EXPECT_THAT(diff.restart, IsEmpty());
  EXPECT_THAT(diff.classes, ElementsAre("red"));
  EXPECT_THAT(diff.lines, Contains("function third: when (all) -> red"));
  EXPECT_EQ(diff.functions.at(0).function.when_class, 1U);
}

TEST_F(PlanDiffTest, ReasonsOfFunctionsThatComeAreThoseOfNowAndTheirOwn) {
  now_.reasons = {{.name = "one"}};
  next_.reasons = {{.name = "two"}};
  const PlanDiff found = diff();
  EXPECT_TRUE(found.empty()) << "a function is a difference, a reason is not";
  ASSERT_EQ(found.reasons.size(), 2u);
  EXPECT_EQ(found.reasons[0].name, "one");
  EXPECT_EQ(found.reasons[1].name, "two");
}

TEST_F(PlanDiffTest, WhatOthersWouldHaveToKnowOfAListNeedsARestart) {
  EXPECT_THAT(to({{"functions:\n", "functions:\n  fifth: { type: state, on: deep }\n"},
                  {"second, third]", "second, third, fifth]"}})
                  .restart,
              ElementsAre("function fifth comes, and has state"));
  EXPECT_THAT(to({{", third], lanes: 4", "], lanes: 4"}}).restart, testing::Not(IsEmpty()));
  const std::string waits = "on: front }", passes = "on: front, unavailable: pass }";
  now_ = changed(waits, passes);
  EXPECT_THAT(to({{waits, passes + "\n  new: { type: pass, " + passes},
                  {"run: [first,", "run: [first, new,"}})
                  .restart,
              ElementsAre("path long: runs [first] -> [first, new] on front, and batches may go "
                          "past all of it (unavailable, overload)"));
}

TEST_F(PlanDiffTest, AFunctionThatMovesAlongItsPathNeedsARestart) {
  const std::string more =
      "functions:\n  new: { type: pass, on: front }\n  fifth: { type: pass, on: front }\n";
  to({{"functions:\n", more}, {"run: [first, second,", "run: [first, new, second, fifth,"}});
  now_ = next_;
  const PlanDiff diff =
      to({{"functions:\n", more}, {"run: [first, second,", "run: [first, second, fifth, new,"}});
  EXPECT_THAT(diff.restart, ElementsAre("path long: runs [fifth] -> [fifth, new] on front: new is "
                                        "in another part of the path"));
}

}  // namespace
}  // namespace millrace
