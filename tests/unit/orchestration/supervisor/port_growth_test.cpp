// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/port_growth.hpp"

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
using testing::HasSubstr;

constexpr const char* kTopology =
    "millrace: 1\nname: grows\n"
    "ports: { a: { device: afpacket, interface: x, queues_max: 3 }, b: { device: \"null\" } }\n"
    "paths: { one: { from: [a], run: [] } }\n";

Plan plan_that_grows() {
  Plan plan = test::plan_of_text(kTopology);
  plan.name = "grows-" + std::to_string(::getpid());
  return plan;
}

/// Queues 1 and 2 come to port a, whose ingresses are scripts.
class PortGrowthTest : public test::FleetFixture {
 protected:
  PortGrowthTest() : FleetFixture(plan_that_grows()) {}
  Post& post(const std::string& name) {
    return *std::ranges::find(fleet_->posts(), name, &Post::name);
  }
  bool runs(const std::string& name) { return post(name).seat().child.has_value(); }
  std::string queues_of_file() const {
    const Plan plan = load_plan(folder_ + "/run/plan.bin");
    for (const auto& [key, value] : plan.ports[0].settings) {
      if (key == "queues") return value;
    }
    return "none";
  }
  bool tend() {
    fleet_->reap();
    fleet_->tend();
    return growth_.tend(PortGrowth::Clock::now());
  }
  std::string error_of_tend() {
    try {
      for (int i = 0; i < 6000; ++i) {
        if (tend()) return "it is done";
        std::this_thread::sleep_for(milliseconds(5));
      }
    } catch (const Error& error) {
      return error.what();
    }
    return "it goes on";
  }
  void opened(const std::string& name) { ready_.insert(post(name).seat().actor); }

  std::set<std::uint32_t> ready_;
  PortGrowth growth_{
      plan_, *fleet_,
      PortGrowth::Means{folder_ + "/run",
                        [this](std::uint32_t actor) { return ready_.contains(actor); },
                        [this](std::uint32_t actor) { ready_.erase(actor); }}};
};

TEST_F(PortGrowthTest, QueuesAreOpenedOneAfterTheOtherAndTheLastOneEndsIt) {
  opened("ingress.a.1");  // in a life before
  growth_.begin({{0, 1, 3}});
  EXPECT_EQ(queues_of_file(), "3") << "who starts goes by it";
  EXPECT_FALSE(tend());
  fleet_->tend();
  EXPECT_TRUE(runs("ingress.a.1"));
  EXPECT_FALSE(runs("ingress.a.2"));
  opened("ingress.a.1");
  EXPECT_FALSE(tend());
  fleet_->tend();
  EXPECT_TRUE(runs("ingress.a.2"));
  EXPECT_FALSE(tend());
  opened("ingress.a.2");
  EXPECT_TRUE(tend());
  EXPECT_FALSE(growth_.idle());
  growth_.forget();
  EXPECT_TRUE(growth_.idle());
  EXPECT_EQ(post("ingress.a.2").wish, Wish::kUp);
  EXPECT_EQ(post("ingress.a.0").wish, Wish::kDown) << "not its business";
}

TEST_F(PortGrowthTest, OneThatEndsTakesAllOfItBack) {
  growth_.begin({{0, 1, 3}});
  tend();
  opened("ingress.a.1");
  tend();
  fleet_->tend();
  ASSERT_TRUE(runs("ingress.a.2"));
  post("ingress.a.2").seat().child->signal(SIGKILL);
  EXPECT_THAT(error_of_tend(), HasSubstr("before it had opened its queue"));
  EXPECT_TRUE(growth_.idle());
  EXPECT_EQ(queues_of_file(), "1");
  for (int i = 0; i < 6000 && (runs("ingress.a.1") || runs("ingress.a.2")); ++i) {
    fleet_->reap();
    fleet_->tend();
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(post("ingress.a.1").wish, Wish::kDown);
  EXPECT_EQ(post("ingress.a.2").wish, Wish::kDown);
}

TEST_F(PortGrowthTest, SoDoesOneThatNeverOpensItsQueue) {
  growth_.begin({{0, 1, 2}});
  tend();
  EXPECT_THROW(growth_.tend(PortGrowth::Clock::now() + std::chrono::seconds(60)), Error);
  EXPECT_TRUE(growth_.idle());
  EXPECT_EQ(queues_of_file(), "1");
}

TEST_F(PortGrowthTest, APlanThatCannotBeWrittenChangesNothing) {
  std::filesystem::remove_all(folder_ + "/run");
  EXPECT_THROW(growth_.begin({{0, 1, 2}}), Error);
  EXPECT_TRUE(growth_.idle());
  EXPECT_EQ(post("ingress.a.1").wish, Wish::kDown);
}

}  // namespace
}  // namespace millrace
