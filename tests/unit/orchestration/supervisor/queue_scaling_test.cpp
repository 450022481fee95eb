// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/queue_scaling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <thread>

#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "tests/unit/orchestration/supervisor/fleet_fixture.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTopology =
    "millrace: 1\nname: scales\n"
    "ports:\n"
    "  a: { device: afpacket, interface: x, queues_max: 4 }\n"
    "  b: { device: afpacket, interface: y, queues: 3, queues_max: 4 }\n"
    "  c: { device: \"null\" }\n"
    "paths: { one: { from: [a, b], run: [], to: c } }\n";

Plan plan_that_scales() {
  Plan plan = test::plan_of_text(kTopology);
  plan.name = "scales-" + std::to_string(::getpid());
  return plan;
}

/// Port a has queue 0, port b queues 0 to 2. Ingresses are scripts; the test reads their shares.
class QueueScalingTest : public test::FleetFixture {
 protected:
  static constexpr std::uint32_t kA = 0, kB = 1;
  using Readers = std::vector<std::string>;

  QueueScalingTest() : FleetFixture(plan_that_scales()) {}
  Post& post(const std::string& name) {
    return *std::ranges::find(fleet_->posts(), name, &Post::name);
  }
  bool runs(const std::string& name) { return post(name).seat().child.has_value(); }
  void run(const std::string& name) { fleet_->start(post(name)); }
  void opened(const std::string& name) { ready_.insert(post(name).seat().actor); }
  std::string queues_of_file(std::uint32_t port) const {
    const Plan plan = load_plan(folder_ + "/run/plan.bin");
    for (const auto& [key, value] : plan.ports[port].settings) {
      if (key == "queues") return value;
    }
    return "none";
  }
  std::vector<ActorEntry*> entries(std::uint32_t port) const {
    std::vector<ActorEntry*> found;
    for (const PlanStream& stream : plan_.streams) {
      if (stream.port == port) found.push_back(&view_.actor(stream.ingress));
    }
    return found;
  }
  std::string name_of(std::uint32_t actor) const {
    return actor == 0 ? "" : plan_.actors[actor].name;
  }
  Readers wanted(std::uint32_t port) const {
    Readers names;
    for (const ActorEntry* entry : entries(port)) names.push_back(name_of(entry->share_wanted));
    return names;
  }
  Readers readers(std::uint32_t port) const {
    Readers names;
    for (const ActorEntry* entry : entries(port)) names.push_back(name_of(entry->share_reader));
    return names;
  }
  /// What an ingress does that has done with a share.
  void hand_over(std::uint32_t port, std::uint32_t share) const {
    ActorEntry& entry = *entries(port)[share];
    entry.share_reader = entry.share_wanted.load();
  }
  bool tend() {
    fleet_->reap();
    fleet_->tend();
    return scaling_.tend(QueueScaling::Clock::now());
  }
  bool tend_until_done() {
    for (int i = 0; i < 6000; ++i) {
      if (tend()) return true;
      std::this_thread::sleep_for(milliseconds(5));
    }
    return false;
  }
  void tend_for(milliseconds time) {
    const auto begin = QueueScaling::Clock::now();
    for (auto now = begin; now < begin + time; now += Patience::kLook) scaling_.tend(now);
  }

  std::string error_of_tend() {
    try {
      return tend_until_done() ? "it is done" : "it goes on";
    } catch (const Error& error) {
      return error.what();
    }
  }
  /// All that come open their queues.
  void start_all(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      opened(name);
      tend();
      fleet_->tend();
    }
  }

  std::set<std::uint32_t> ready_;
  QueueScaling scaling_{
      plan_, *fleet_,
      QueueScaling::Means{folder_ + "/run", "net",
                          [this](std::uint32_t actor) { return ready_.contains(actor); },
                          [this](std::uint32_t actor) { ready_.erase(actor); },
                          [this] { return ShareWords(plan_, view_); }}};
};

TEST_F(QueueScalingTest, QueuesAreOpenedOneAfterTheOtherAndThenSharesGoOver) {
  opened("ingress.a.1");  // in a life before
  scaling_.begin({{kA, 1, 3}});
  EXPECT_EQ(queues_of_file(kA), "3") << "who starts goes by it";
  EXPECT_FALSE(tend());
  fleet_->tend();
  EXPECT_TRUE(runs("ingress.a.1"));
  EXPECT_FALSE(runs("ingress.a.2"));
  opened("ingress.a.1");
  EXPECT_FALSE(tend());
  fleet_->tend();
  EXPECT_TRUE(runs("ingress.a.2"));
  EXPECT_FALSE(tend());
  EXPECT_THAT(wanted(kA), ElementsAre("", "", "", "")) << "one of them has not opened its queue";
  opened("ingress.a.2");
  EXPECT_FALSE(tend());
  EXPECT_THAT(wanted(kA), ElementsAre("ingress.a.0", "ingress.a.0", "ingress.a.1", "ingress.a.2"));
  hand_over(kA, 2);
  EXPECT_FALSE(tend());
  hand_over(kA, 3);
  EXPECT_TRUE(tend());
  EXPECT_FALSE(scaling_.idle());
  scaling_.forget();
  EXPECT_TRUE(scaling_.idle());
  EXPECT_EQ(post("ingress.a.2").wish, Wish::kUp);
  EXPECT_EQ(post("ingress.a.0").wish, Wish::kDown) << "not its business";
  EXPECT_EQ(queues_of_file(kA), "3");
}

TEST_F(QueueScalingTest, OneThatEndsTakesAllOfItBack) {
  scaling_.begin({{kA, 1, 3}});
  tend();
  opened("ingress.a.1");
  tend();
  fleet_->tend();
  ASSERT_TRUE(runs("ingress.a.2"));
  post("ingress.a.2").seat().child->signal(SIGKILL);
  EXPECT_THAT(error_of_tend(), HasSubstr("before it had opened its queue"));
  EXPECT_TRUE(scaling_.idle());
  EXPECT_EQ(queues_of_file(kA), "1");
  EXPECT_THAT(wanted(kA), ElementsAre("", "", "", ""));
  for (int i = 0; i < 6000 && (runs("ingress.a.1") || runs("ingress.a.2")); ++i) {
    fleet_->reap();
    fleet_->tend();
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(post("ingress.a.1").wish, Wish::kDown);
  EXPECT_EQ(post("ingress.a.2").wish, Wish::kDown);
}

TEST_F(QueueScalingTest, TheEndOfTheLifeBeforeIsNoFailedStart) {
  scaling_.begin({{kA, 1, 3}});
  tend();
  opened("ingress.a.1");
  tend();
  fleet_->tend();
  ASSERT_TRUE(runs("ingress.a.2"));
  post("ingress.a.2").seat().child->signal(SIGKILL);
  ASSERT_THAT(error_of_tend(), HasSubstr("before it had opened its queue"));
  ASSERT_TRUE(runs("ingress.a.1")) << "it drains";
  scaling_.begin({{kA, 1, 2}});
  EXPECT_EQ(post("ingress.a.1").wish, Wish::kDraining);
  post("ingress.a.1").seat().child->signal(SIGKILL);
  for (int i = 0; i < 6000 && post("ingress.a.1").wish != Wish::kUp; ++i) {
    ASSERT_FALSE(tend());
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(post("ingress.a.1").wish, Wish::kUp);
}

TEST_F(QueueScalingTest, SoDoesOneThatNeverOpensItsQueue) {
  scaling_.begin({{kA, 1, 2}});
  tend();
  EXPECT_THROW(tend_for(std::chrono::seconds(60)), Error);
  EXPECT_TRUE(scaling_.idle());
  EXPECT_EQ(queues_of_file(kA), "1");
}

TEST_F(QueueScalingTest, APlanThatCannotBeWrittenChangesNothing) {
  std::filesystem::remove_all(folder_ + "/run");
  EXPECT_THROW(scaling_.begin({{kA, 1, 2}}), Error);
  EXPECT_TRUE(scaling_.idle());
  EXPECT_EQ(post("ingress.a.1").wish, Wish::kDown);
}

TEST_F(QueueScalingTest, APlanThatCannotBeWrittenAtTheEndIsSaidOnce) {
  run("ingress.b.2");
  scaling_.begin({{kB, 3, 2}});
  EXPECT_FALSE(tend());
  hand_over(kB, 2);
  std::filesystem::remove_all(folder_ + "/run");
  EXPECT_THROW(tend(), Error);
  EXPECT_TRUE(scaling_.idle()) << "nothing else could be changed ever after";
}

TEST_F(QueueScalingTest, SharesThatDoNotGoOverAreSaidAndGoOnTrying) {
  run("ingress.b.2");
  scaling_.begin({{kB, 3, 1}});
  EXPECT_FALSE(tend());
  EXPECT_THROW(tend_for(std::chrono::seconds(61)), Error);
  EXPECT_TRUE(scaling_.idle());
  EXPECT_EQ(queues_of_file(kB), "3");
  EXPECT_TRUE(runs("ingress.b.2"));
  EXPECT_THAT(wanted(kB), testing::Each("ingress.b.0"));
}

TEST_F(QueueScalingTest, WhoWasGivenUpTakesPartInNothing) {
  for (int i = 0; i < 1000 && !post("ingress.b.0").policy.given_up(); ++i) {
    post("ingress.b.0").policy.started(QueueScaling::Clock::now());
    post("ingress.b.0").policy.ended(QueueScaling::Clock::now());
  }
  EXPECT_THROW(scaling_.begin({{kB, 3, 4}}), Error);
  EXPECT_TRUE(scaling_.idle());
}

TEST_F(QueueScalingTest, QueuesEndWhenTheirLastShareHasGoneOver) {
  for (const char* name : {"ingress.b.0", "ingress.b.1", "ingress.b.2"}) run(name);
  ASSERT_THAT(readers(kB), ElementsAre("ingress.b.0", "ingress.b.1", "ingress.b.2", "ingress.b.0"));
  scaling_.begin({{kB, 3, 1}});
  EXPECT_FALSE(tend());
  EXPECT_THAT(wanted(kB), ElementsAre("ingress.b.0", "ingress.b.0", "ingress.b.0", "ingress.b.0"));
  hand_over(kB, 1);
  EXPECT_FALSE(tend());
  EXPECT_EQ(queues_of_file(kB), "3");
  EXPECT_EQ(post("ingress.b.1").wish, Wish::kUp) << "that of queue 2 reads on";
  EXPECT_EQ(post("ingress.b.2").wish, Wish::kUp);
  hand_over(kB, 2);
  EXPECT_FALSE(tend());
  EXPECT_EQ(queues_of_file(kB), "1");
  EXPECT_EQ(post("ingress.b.1").wish, Wish::kDraining);
  EXPECT_EQ(post("ingress.b.2").wish, Wish::kDraining);
  EXPECT_TRUE(tend_until_done());
  EXPECT_FALSE(runs("ingress.b.1"));
  EXPECT_FALSE(runs("ingress.b.2"));
  EXPECT_TRUE(runs("ingress.b.0"));
  EXPECT_EQ(post("ingress.b.1").wish, Wish::kDown);
}

TEST_F(QueueScalingTest, ALeaverThatDoesNotRunIsNotWantedAnyMore) {
  run("ingress.b.0");
  post("ingress.b.2").wish = Wish::kUp;  // it is between two lives
  scaling_.begin({{kB, 3, 2}});
  EXPECT_FALSE(tend());
  EXPECT_FALSE(tend()) << "its next life gives its share away";
  fleet_->stop([](const Post& post) { return post.name == "ingress.b.2"; }, milliseconds(0));
  post("ingress.b.2").wish = Wish::kUp;
  hand_over(kB, 2);
  EXPECT_TRUE(scaling_.tend(QueueScaling::Clock::now()));
  EXPECT_EQ(post("ingress.b.2").wish, Wish::kDown);
  EXPECT_EQ(queues_of_file(kB), "2");
}

TEST_F(QueueScalingTest, OnePortGetsQueuesWhileAnotherOneGivesSomeUp) {
  run("ingress.b.2");
  scaling_.begin({{kA, 1, 2}, {kB, 3, 2}});
  EXPECT_EQ(queues_of_file(kA), "2");
  EXPECT_EQ(queues_of_file(kB), "3");
  EXPECT_FALSE(tend());
  EXPECT_THAT(wanted(kB), ElementsAre("", "", "", "")) << "it may be taken back";
  start_all({"ingress.a.1"});
  EXPECT_THAT(wanted(kA), ElementsAre("ingress.a.0", "ingress.a.0", "ingress.a.1", "ingress.a.1"));
  EXPECT_THAT(wanted(kB), ElementsAre("ingress.b.0", "ingress.b.1", "ingress.b.1", "ingress.b.0"));
  hand_over(kB, 2);
  EXPECT_FALSE(tend());
  EXPECT_EQ(queues_of_file(kB), "3") << "the other port is not done";
  hand_over(kA, 2);
  hand_over(kA, 3);
  EXPECT_TRUE(tend_until_done());
  EXPECT_EQ(queues_of_file(kA), "2");
  EXPECT_EQ(queues_of_file(kB), "2");
  EXPECT_TRUE(runs("ingress.a.1"));
  EXPECT_FALSE(runs("ingress.b.2"));
}

TEST_F(QueueScalingTest, APortOfSeveralQueuesGetsFurtherOnes) {
  scaling_.begin({{kA, 1, 2}});
  start_all({"ingress.a.1"});
  for (const std::uint32_t share : {2, 3}) hand_over(kA, share);
  ASSERT_TRUE(tend());
  scaling_.forget();
  scaling_.begin({{kA, 2, 4}});
  EXPECT_EQ(queues_of_file(kA), "4");
  EXPECT_FALSE(tend());
  fleet_->tend();
  EXPECT_TRUE(runs("ingress.a.2"));
  EXPECT_FALSE(runs("ingress.a.3"));
  start_all({"ingress.a.2", "ingress.a.3"});
  EXPECT_THAT(wanted(kA), ElementsAre("ingress.a.0", "ingress.a.2", "ingress.a.1", "ingress.a.3"));
  EXPECT_FALSE(tend());
  for (const std::uint32_t share : {1, 3}) hand_over(kA, share);
  EXPECT_TRUE(tend());
  EXPECT_EQ(queues_of_file(kA), "4");
}

TEST_F(QueueScalingTest, AQueueThatEndedComesAgain) {
  run("ingress.b.2");
  scaling_.begin({{kB, 3, 2}});
  tend();
  hand_over(kB, 2);
  ASSERT_TRUE(tend_until_done());
  scaling_.forget();
  scaling_.begin({{kB, 2, 3}});
  EXPECT_FALSE(tend());
  fleet_->tend();
  EXPECT_TRUE(runs("ingress.b.2"));
  start_all({"ingress.b.2"});
  EXPECT_EQ(std::ranges::count(wanted(kB), "ingress.b.2"), 1);
}

TEST_F(QueueScalingTest, ASupervisorThatComesWishesForWhatThereIs) {
  scaling_.resume();
  EXPECT_EQ(wanted(kA), readers(kA));
  EXPECT_EQ(wanted(kB), readers(kB));
  EXPECT_TRUE(scaling_.idle());
}

TEST_F(QueueScalingTest, OneThatComesAfterOneThatDiedInTheMiddleGoesByThePlan) {
  scaling_.begin({{kA, 1, 2}, {kB, 3, 2}});
  start_all({"ingress.a.1"});
  hand_over(kA, 2);
  hand_over(kB, 2);
  QueueScaling next(plan_, *fleet_,
                    {folder_ + "/run", "net", {}, {}, [this] { return ShareWords(plan_, view_); }});
  next.resume();
  EXPECT_THAT(wanted(kA), ElementsAre("ingress.a.0", "ingress.a.0", "ingress.a.1", "ingress.a.1"));
  EXPECT_EQ(std::ranges::count(wanted(kB), "ingress.b.2"), 1) << "it has queue 2 as yet";
}

}  // namespace
}  // namespace millrace
