// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/hub/neighbour_keeper.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>

#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using std::chrono_literals::operator""ms;

constexpr NeighbourKey kHost = {
    .family = NeighbourFamily::kIpv4, .port = 0, .address = {10, 1, 0, 5}};

class NeighbourKeeperTest : public test::VethTest {
 protected:
  NeighbourKeeperTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "millrace-keeper-XXXXXX").string();
    run_dir_ = mkdtemp(pattern.data());
    plan_.ports[0].host = static_cast<int>(plan_.ports.size());
    plan_.ports.push_back({.name = "a.host", .settings = {{"interface", "here"}}});
  }
  ~NeighbourKeeperTest() override { std::filesystem::remove_all(run_dir_); }

  void write_plan(bool follows) {
    Plan plan = plan_;
    plan.functions[0].settings.clear();
    if (follows) plan.functions[0].settings = {{"neighbours", "kernel"}};
    save_plan(plan, plan_path(run_dir_));
  }
  ActorContext hub() const {
    ActorContext context = world_.context("hub");
    context.plan = &plan_;
    return context;
  }
  bool is_there() const { return world_.segment.neighbours().find(kHost).found(); }
  static bool soon(NeighbourKeeper& keeper, const std::function<bool()>& condition) {
    for (int i = 0; i < 2000; ++i) {
      keeper.look();
      if (condition()) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }

  std::string run_dir_;
  test::SmallWorld world_;
  Plan plan_ = world_.plan;
};

TEST_F(NeighbourKeeperTest, FollowsWhileThePlanSaysSo) {
  shell("ip neighbour add 10.1.0.5 lladdr 02:00:00:00:00:05 dev here nud permanent");
  NeighbourKeeper keeper(hub(), run_dir_, [](const std::string&) {});
  keeper.look();  // without a plan
  write_plan(false);
  keeper.look();
  EXPECT_FALSE(is_there());
  for (int turn = 0; turn < 2; ++turn) {
    write_plan(true);
    EXPECT_TRUE(soon(keeper, [&] { return is_there(); })) << turn;
    write_plan(false);
    EXPECT_TRUE(soon(keeper, [&] { return !is_there(); })) << turn;
  }
}

TEST_F(NeighbourKeeperTest, OneThatEndsLeavesTheTableToItsSuccessor) {
  shell("ip neighbour add 10.1.0.5 lladdr 02:00:00:00:00:05 dev here nud permanent");
  write_plan(true);
  {
    NeighbourKeeper keeper(hub(), run_dir_, [](const std::string&) {});
    EXPECT_TRUE(soon(keeper, [&] { return is_there(); }));
  }
  EXPECT_TRUE(is_there());
  shell("ip neighbour del 10.1.0.5 dev here");
  NeighbourKeeper successor(hub(), run_dir_, [](const std::string&) {});
  EXPECT_TRUE(soon(successor, [&] { return !is_there(); }));
}

TEST_F(NeighbourKeeperTest, APlanThatCannotBeReadChangesNothing) {
  shell("ip neighbour add 10.1.0.5 lladdr 02:00:00:00:00:05 dev here nud permanent");
  write_plan(true);
  NeighbourKeeper keeper(hub(), run_dir_, [](const std::string&) {});
  EXPECT_TRUE(soon(keeper, [&] { return is_there(); }));
  std::filesystem::resize_file(plan_path(run_dir_), 3);
  keeper.look();
  EXPECT_TRUE(is_there());
}

}  // namespace
}  // namespace millrace
