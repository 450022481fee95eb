// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/table_switch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "orchestration/planner/plan_renumber.hpp"
#include "orchestration/supervisor/run_dir.hpp"
#include "services/functions/image_file.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"
#include "tests/unit/orchestration/supervisor/scripts.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

constexpr int kPatience = 60'000;  // looks a millisecond apart: only what fails takes as long
namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::HasSubstr;

/// A script builds; processes that do nothing are the actors, whose tallies the test writes.
class TableSwitchTest : public testing::Test {
 protected:
  TableSwitchTest() {
    make_run_dir(run_dir_);
    plan_.functions = {{.name = "scan",
                        .type = "match",
                        .settings = {{"rules", "old"}},
                        .image = folder_ + "/scan.1.image",
                        .counter_count = 3}};
    plan_.stages = {{.group = 1, .functions = {0}}};
    std::ofstream(plan_.functions[0].image) << "old";
    test::write_scripts(folder_);
    builder(0);
    memory_ = Mapping::create_status(status_file_name(plan_.name), status_layout(plan_).bytes);
    view_ = StatusView::create(memory_.base(), plan_, 1'000'000'000);
    fleet_ = std::make_unique<Fleet>(plan_, FleetPlace{folder_, run_dir_, RestartLimits{}},
                                     [](const Event&) {});
    fleet_->attach_status();
    for (Post& post : fleet_->posts()) {
      const bool wanted =
          post.name == "front.0" || post.name == "gpu.0.a" || post.name == "egress.0";
      if (wanted) fleet_->start(post);
    }
    for (std::uint32_t actor = 0; actor < plan_.actors.size(); ++actor) {
      view_.actor(actor).state = static_cast<std::uint32_t>(ActorState::kAlive);
    }
    TableSwitch::Means means{folder_, run_dir_, [this](std::uint32_t actor, std::uint32_t) {
                               told_.push_back(plan_.actors[actor].name);
                             }};
    means.limit = std::chrono::seconds(60);
    switch_ = std::make_unique<TableSwitch>(plan_, *fleet_, state_, means);
  }
  ~TableSwitchTest() override {
    fleet_->stop([](const Post&) { return true; }, milliseconds(0));
    destroy_shared_memory(plan_.name);
    fs::remove_all(folder_);
  }
  void program(const std::string& part, const std::string& script) const {
    test::write_script(folder_, part, script);
  }
  void builder(int refused, int accepted = 5, const std::string& make = "touch ") {
    program("builder", make + folder_ + "/scan.2.image\necho '{\"accepted\":" +
                           std::to_string(accepted) + ",\"refused\":" + std::to_string(refused) +
                           ",\"counter_count\":9,\"refusals\":[\"x:1: why\"]}'");
  }
  void begin(bool accept_refused = false, bool accept_shrunk = false) {
    PlanEdition wish{0, plan_.functions[0]};
    wish.function.settings = {{"rules", "new"}};
    switch_->begin(
        {.functions = {wish}, .accept_refused = accept_refused, .accept_shrunk = accept_shrunk});
  }
  /// All actors work by the plan's present revision, but those that are left out.
  void follow(const std::string& but = "") {
    for (std::uint32_t actor = 0; actor < plan_.actors.size(); ++actor) {
      if (plan_.actors[actor].name != but) view_.actor_tally(actor).revision = plan_.revision;
    }
  }
  /// Tends for that long, until there is an outcome.
  std::optional<TableSwitch::Outcome> tend(int ms, const std::string& but = "nobody") {
    for (int i = 0; i < ms; ++i) {
      if (but != "nobody") follow(but);
      if (auto outcome = switch_->tend(TableSwitch::Clock::now())) return outcome;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return std::nullopt;
  }
  /// The same until something holds that a builder's end, or a step, brings about.
  template <typename Condition>
  void tend_until(const Condition& holds, const std::string& but = "nobody") {
    for (int i = 0; i < kPatience && !holds(); ++i) ASSERT_FALSE(tend(1, but));
    ASSERT_TRUE(holds());
  }
  void tend_until_idle() {
    for (int i = 0; i < kPatience && !switch_->idle(); ++i) tend(1, "");
  }
  bool has_others() const { return !plan_.others.empty(); }
  /// plan.bin cannot be written, as where no room is left.
  void disk_is_full(bool full) const {
    const std::string draft = run_dir_ + "/plan.bin.tmp";
    full ? fs::create_directory(draft) : fs::remove(draft);
  }
  Plan saved() const { return load_plan(plan_path(run_dir_)); }
  bool has_image(int number) const {
    return fs::exists(folder_ + "/scan." + std::to_string(number) + ".image");
  }

  Plan plan_ = test::small_plan("switch-" + std::to_string(::getpid()));
  std::string folder_ = ::mkdtemp(std::string("/tmp/millrace-switch-XXXXXX").data());
  std::string run_dir_ = folder_ + "/run";
  StateFile state_{run_dir_};
  Mapping memory_;
  StatusView view_;
  std::unique_ptr<Fleet> fleet_;
  std::vector<std::string> told_;
  std::unique_ptr<TableSwitch> switch_;
};

void write_image(const std::string& path, std::uint64_t checksum) {
  ImageHeader header{.checksum = checksum};
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<char*>(&header), sizeof header);
}

TEST_F(TableSwitchTest, ATableLikeTheOneInUseIsLeftAlone) {
  write_image(plan_.functions[0].image, 7);
  for (const std::uint64_t checksum : {7u, 8u}) {
    write_image(folder_ + "/made", checksum);
    builder(0, 5, "cp " + folder_ + "/made ");
    const PlanEdition one{0, plan_.functions[0]};
    switch_->begin({.functions = {one}, .reasons = {{.name = "odd"}}, .only_if_differs = true});
    const auto outcome = tend(kPatience, "");
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->error, "");
    EXPECT_EQ(outcome->reports.at(0).is_new, checksum != 7u);
    EXPECT_EQ(switch_->idle(), checksum == 7u);
    EXPECT_EQ(plan_.revision * plan_.reasons.size() == 0, checksum == 7u) << "nobody is told";
    EXPECT_EQ(has_image(2), checksum != 7u);
  }
}

TEST_F(TableSwitchTest, GoesOverInStepsThatEverybodyHasTaken) {
  begin();
  tend_until([&] { return has_others(); });
  EXPECT_FALSE(tend(20)) << "nobody has followed yet";
  EXPECT_THAT(told_, testing::Contains("gpu.0.a"));
  EXPECT_THAT(told_, testing::Not(testing::Contains("hub")));
  Plan now = saved();
  EXPECT_EQ(now.functions[0].settings[0].second, "old") << "all make the new one ready first";
  ASSERT_EQ(now.others.size(), 1u);
  EXPECT_EQ(now.others[0].function.settings[0].second, "new");
  EXPECT_EQ(now.others[0].function.counter_count, 3u) << "the status file is laid out by it";
  const auto outcome = tend(kPatience, "");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error, "");
  EXPECT_EQ(outcome->reports.at(0).accepted, 5u);
  EXPECT_EQ(saved().functions[0].settings[0].second, "new");
  tend_until_idle();
  EXPECT_TRUE(switch_->idle());
  now = saved();
  EXPECT_TRUE(now.others.empty());
  EXPECT_EQ(now.functions[0].image, folder_ + "/scan.2.image");
  EXPECT_TRUE(has_image(2));
  EXPECT_FALSE(has_image(1));
}

TEST_F(TableSwitchTest, KeepsTheOldTableWhileABatchThatMetItIsUnderWay) {
  view_.ingress_lane(0, 1).sealed_sequence = 8;
  view_.ledger(0, 1).released = 7;
  begin();
  ASSERT_TRUE(tend(kPatience, ""));
  tend(100, "");
  EXPECT_FALSE(switch_->idle());
  EXPECT_TRUE(has_image(1));
  view_.ledger(0, 1).released = 8;
  tend_until_idle();
  EXPECT_FALSE(has_image(1));
}

TEST_F(TableSwitchTest, OneThatDoesNotFollowInTimeTakesAllBack) {
  begin();
  tend_until([&] { return has_others(); }, "egress.0");
  std::optional<TableSwitch::Outcome> outcome;
  for (int i = 0; i < 500 && !outcome; ++i) {
    follow("egress.0");
    outcome = switch_->tend(TableSwitch::Clock::now() + std::chrono::minutes(2));
  }
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->error, HasSubstr("made the new tables ready in time"));
  EXPECT_EQ(saved().functions[0].settings[0].second, "old");
  EXPECT_TRUE(saved().others.empty());
  EXPECT_TRUE(has_image(1));
  EXPECT_FALSE(has_image(2));
}

TEST_F(TableSwitchTest, ADeviceThatRefusesTakesAllBackInSteps) {
  begin();
  for (int i = 0; i < kPatience && plan_.functions[0].edition == 0; ++i) {
    follow();
    ASSERT_FALSE(tend(1));
  }
  switch_->refused("gpu.0.a", plan_.revision, "no room");
  EXPECT_EQ(saved().functions[0].settings[0].second, "old");
  EXPECT_EQ(saved().others.size(), 1u) << "some have computed with the new one";
  const auto outcome = tend(kPatience, "");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error, "gpu.0.a: no room");
  tend_until_idle();
  EXPECT_TRUE(has_image(1));
  EXPECT_FALSE(has_image(2));
}

TEST_F(TableSwitchTest, APlanThatCannotBeWrittenKeepsTheTablesInUse) {
  begin();
  tend_until([&] { return has_others(); });
  disk_is_full(true);
  const auto outcome = tend(kPatience, "");
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->error, HasSubstr("plan.bin"));
  EXPECT_EQ(plan_.functions[0].settings[0].second, "old");
  EXPECT_EQ(saved().others.size(), 1u);
  EXPECT_TRUE(has_image(1) && has_image(2)) << "whoever starts looks for what plan.bin names";
  disk_is_full(false);
  tend_until_idle();
  EXPECT_TRUE(saved().others.empty());
  EXPECT_TRUE(has_image(1));
  EXPECT_FALSE(has_image(2));
}

TEST_F(TableSwitchTest, APlanThatCannotBeWrittenBeginsNothing) {
  begin();
  disk_is_full(true);  // nothing is published before a look
  const auto outcome = tend(kPatience, "");
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->error, HasSubstr("plan.bin"));
  EXPECT_TRUE(switch_->idle());
  EXPECT_TRUE(plan_.others.empty());
  disk_is_full(false);
  builder(0);
  begin();
  EXPECT_EQ(tend(kPatience, "").value().error, "");
  EXPECT_EQ(saved().functions[0].settings[0].second, "new");
}

TEST_F(TableSwitchTest, OldTablesGoOnceThePlanCanBeWritten) {
  begin();
  ASSERT_TRUE(tend(kPatience, ""));
  disk_is_full(true);
  tend(100, "");
  EXPECT_TRUE(has_image(1)) << "plan.bin names it";
  disk_is_full(false);
  tend_until_idle();
  EXPECT_FALSE(has_image(1));
  EXPECT_TRUE(has_image(2));
}

TEST_F(TableSwitchTest, MoreRefusedLinesThanBeforeAreRefusedUnlessWanted) {
  builder(2);
  begin();
  const auto outcome = tend(kPatience, "");
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->error, HasSubstr("2 lines are refused"));
  EXPECT_THAT(outcome->error, HasSubstr("x:1: why"));
  EXPECT_TRUE(switch_->idle());
  EXPECT_FALSE(has_image(2));
  begin(true);
  EXPECT_EQ(tend(kPatience, "").value().error, "");
}

TEST_F(TableSwitchTest, AsManyRefusedLinesAsBeforeAreAccepted) {
  builder(2);
  note_tables(state_, {{.function = "scan", .accepted = 1, .refused = 2}});
  begin();
  EXPECT_EQ(tend(kPatience, "").value().error, "");
}

TEST_F(TableSwitchTest, UnderHalfOfTheEntriesIsRefusedUnlessWanted) {
  note_tables(state_, {{.function = "scan", .accepted = 11}});
  begin();
  EXPECT_EQ(tend(5000, "").value().error,
            "table of 'scan': 5 entries, under half of the 11 of the one in use, which stays; were "
            "its files cut short? (--accept-shrunk takes it all the same)");
  EXPECT_TRUE(switch_->idle());
  EXPECT_FALSE(has_image(2));
  EXPECT_EQ(plan_.revision, 0u);
  begin(false, true);
  EXPECT_EQ(tend(5000, "").value().error, "");
}

TEST_F(TableSwitchTest, AnEmptyTableInThePlaceOfOneEntryIsRefused) {
  note_tables(state_, {{.function = "scan", .accepted = 1}});
  builder(0, 0);
  begin();
  EXPECT_THAT(tend(5000, "").value().error, HasSubstr("0 entries, under half of the 1 of the one"));
}

TEST_F(TableSwitchTest, HalfOfTheEntriesIsAccepted) {
  note_tables(state_, {{.function = "scan", .accepted = 10}});
  begin();
  EXPECT_EQ(tend(5000, "").value().error, "");
}

TEST_F(TableSwitchTest, NothingIsUnderHalfOfAnEmptyTable) {
  note_tables(state_, {{.function = "scan", .accepted = 0}});
  builder(0, 0);
  begin();
  EXPECT_EQ(tend(5000, "").value().error, "");
}

TEST_F(TableSwitchTest, ABuilderThatFailsChangesNothing) {
  program("builder", "echo 'no such file' >&2; exit 1");
  begin();
  const auto outcome = tend(kPatience, "");
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->error, HasSubstr("no such file"));
  EXPECT_TRUE(switch_->idle());
  EXPECT_EQ(plan_.revision, 0u);
}

TEST_F(TableSwitchTest, AFunctionComesGoesAndComesBackToItsPlace) {
  program("builder",
          "cp /dev/null " + folder_ +
              "/more.2.image\n"
              "echo '{\"accepted\":5,\"refused\":0,\"counter_count\":9000,\"refusals\":[]}'");
  const std::uint64_t layout = status_layout(plan_).hash;
  PlanFunction more{.name = "more", .type = "match", .image = folder_ + "/more.1.image"};
  const auto change = [&](const PlanFunction& function, std::vector<std::uint32_t> list) {
    TableSwitch::Wish wish{{{1, function}}};
    wish.stages = {{0, std::move(list)}};
    switch_->begin(std::move(wish));
    EXPECT_EQ(tend(kPatience, "").value().error, "");
    tend_until_idle();
    EXPECT_EQ(status_layout(saved()).hash, layout);
    EXPECT_TRUE(saved().others.empty() && saved().other_stages.empty());
  };
  change(more, {0, 1});
  EXPECT_EQ(saved().stages[0].functions, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(saved().stages[0].edition, 1u);
  EXPECT_EQ(saved().functions.at(1).counter_count, kCounterMaxOfComer);
  EXPECT_TRUE(fs::exists(folder_ + "/more.2.image"));
  const std::uint32_t left = plan_.spare_counters;
  change(gone(plan_.functions[1]), {0});
  EXPECT_TRUE(saved().functions.at(1).gone);
  EXPECT_FALSE(fs::exists(folder_ + "/more.2.image"));
  change(more, {1, 0});
  EXPECT_FALSE(saved().functions.at(1).gone);
  EXPECT_EQ(plan_.spare_counters, left) << "it has its counters already";
}

TEST_F(TableSwitchTest, BuildersReadAPlanInWhichWhatGoesIsStillThere) {
  plan_.functions.push_back({.name = "more", .type = "count"});
  plan_.stages[0].functions = {0, 1};
  PlanFunction scan = plan_.functions[0];
  scan.settings = {{"rules", "new"}};
  switch_->begin({{{0, scan}, {1, gone(plan_.functions[1])}}, false, {{0, {0}}}});
  EXPECT_NO_THROW(load_plan(next_plan_path(run_dir_)));
  EXPECT_EQ(tend(kPatience, "").value().error, "");
  EXPECT_TRUE(saved().functions[1].gone);
}

TEST_F(TableSwitchTest, AFunctionThatSomebodyCannotRunDoesNotCome) {
  PlanFunction more{.name = "more", .type = "count"};
  switch_->begin({{{1, more}}, false, {{0, {0, 1}}}});
  tend_until([&] { return has_others(); });
  EXPECT_EQ(stage_edition(saved(), 0), 0u);
  EXPECT_EQ(stage_edition(saved(), 0, true), 1u);
  switch_->refused("front.0", plan_.revision, "no");
  EXPECT_EQ(tend(kPatience, "").value().error, "front.0: no");
  EXPECT_TRUE(saved().functions.at(1).gone);
  EXPECT_EQ(saved().stages[0].functions, (std::vector<std::uint32_t>{0}));
  EXPECT_TRUE(saved().other_stages.empty());
}

TEST_F(TableSwitchTest, ASuccessorEndsWhatWasBegun) {
  begin();
  tend_until([&] { return has_others(); });
  TableSwitch::Means means{folder_, run_dir_, [](std::uint32_t, std::uint32_t) {}};
  TableSwitch successor(plan_, *fleet_, state_, means);
  successor.resume();
  for (int i = 0; i < kPatience && !successor.idle(); ++i) {
    follow();
    successor.tend(TableSwitch::Clock::now());
  }
  EXPECT_TRUE(successor.idle());
  EXPECT_TRUE(saved().others.empty());
  EXPECT_FALSE(has_image(2));
}

}  // namespace
}  // namespace millrace
