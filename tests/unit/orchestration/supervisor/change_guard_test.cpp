// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/change_guard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "shared/base/boot.hpp"
#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using testing::HasSubstr;
using testing::IsEmpty;

class ChangeGuardTest : public testing::Test {
 protected:
  ChangeGuardTest() {
    plan_.generation = 1;
    history_.add(plan_, "start", 1000);
  }
  ~ChangeGuardTest() override { fs::remove_all(folder_); }
  ChangeGuard make() {
    return {history_, state_, "net", [this](const std::string& text) { told_.push_back(text); }};
  }
  static std::string new_folder() {
    char pattern[] = "/tmp/millrace-guard-XXXXXX";
    return ::mkdtemp(pattern);
  }
  static ChangeRequest confirmed_within(std::uint32_t seconds) {
    ChangeRequest wanted;
    wanted.confirm_seconds = seconds;
    return wanted;
  }

  /// A supervisor before has noted that its change is to be confirmed, or to go back to 1.
  void waits(const std::string& boot) {
    state_.change([&](RunState& state) { state.deadline = ConfirmDeadline{UINT64_MAX, 1, boot}; });
  }

  Plan plan_ = test::small_plan("guard");
  std::string folder_ = new_folder();
  History history_{folder_};
  StateFile state_{folder_};
  std::vector<std::string> told_;
};

TEST_F(ChangeGuardTest, WhatIsConfirmedStays) {
  ChangeGuard guard = make();
  EXPECT_EQ(error_of([&] { guard.confirm(); }), "no change waits to be confirmed");
  guard.promise(confirmed_within(60), 1);
  EXPECT_EQ(state_.now().deadline->generation, 1u) << "a successor would take it back";
  guard.made(confirmed_within(60), 1);
  EXPECT_TRUE(guard.waits_for_confirm());
  EXPECT_GT(guard.confirm_seconds(), 0u);
  EXPECT_THAT(error_of([&] { guard.refuse({}); }), HasSubstr("waits to be confirmed"));
  guard.confirm();
  EXPECT_NO_THROW(guard.refuse({}));
  EXPECT_FALSE(state_.now().deadline);
}

TEST_F(ChangeGuardTest, PromisesNoWayBackThatThereIsNot) {
  ChangeGuard guard = make();
  EXPECT_THAT(error_of([&] { guard.promise(confirmed_within(60), 7); }), HasSubstr("--confirm: "));
  EXPECT_FALSE(state_.now().deadline);
  guard.promise({}, 7);  // nothing is to be confirmed
}

TEST_F(ChangeGuardTest, AChangeThatEndsWithoutATraceLeavesNoDeadline) {
  ChangeGuard guard = make();
  guard.promise(confirmed_within(60), 1);
  guard.dropped();
  EXPECT_FALSE(state_.now().deadline);
}

TEST_F(ChangeGuardTest, WhatAKilledSupervisorWasAboutGoesBackAtOnce) {
  waits(boot_id());
  ChangeGuard guard = make();
  ASSERT_TRUE(guard.resume(1));
  guard.tend(true);
  EXPECT_FALSE(guard.is_going_back()) << "while something changes";
  guard.tend(false);
  EXPECT_TRUE(guard.is_going_back());
  EXPECT_THAT(guard.way_back_text(), HasSubstr("as it was not confirmed"));
}

TEST_F(ChangeGuardTest, AChangeThatWasMadeBeforeTheKillKeepsItsTime) {
  waits(boot_id());
  ChangeGuard guard = make();
  EXPECT_FALSE(guard.resume(2));
  guard.tend(false);
  EXPECT_FALSE(guard.is_going_back());
  EXPECT_TRUE(guard.waits_for_confirm());
}

TEST_F(ChangeGuardTest, ADeadlineOfAnotherBootHasPassed) {
  waits("another-boot");
  ChangeGuard guard = make();
  EXPECT_FALSE(guard.resume(2)) << "the user has heard of it";
  guard.tend(false);
  EXPECT_TRUE(guard.is_going_back());
}

TEST_F(ChangeGuardTest, WhatCannotBeNotedIsNotConfirmed) {
  ChangeGuard guard = make();
  guard.promise(confirmed_within(60), 1);
  guard.made(confirmed_within(60), 1);
  fs::create_directory(run_state_path(folder_) + ".tmp");
  EXPECT_THAT(error_of([&] { guard.confirm(); }), HasSubstr("supervisor.state"));
  EXPECT_TRUE(guard.waits_for_confirm());
  fs::remove(run_state_path(folder_) + ".tmp");
  guard.confirm();
  EXPECT_FALSE(load_run_state(folder_).deadline);
}

TEST_F(ChangeGuardTest, WhatIsMadeWaitsAlsoWhereItsDeadlineCannotBeNoted) {
  ChangeGuard guard = make();
  guard.promise(confirmed_within(60), 1);
  fs::create_directory(run_state_path(folder_) + ".tmp");
  guard.made(confirmed_within(60), 1);
  EXPECT_TRUE(guard.waits_for_confirm());
  EXPECT_EQ(load_run_state(folder_).deadline->generation, 1u) << "the promise";
  fs::remove(run_state_path(folder_) + ".tmp");
  guard.confirm();
  EXPECT_FALSE(load_run_state(folder_).deadline);
}

TEST_F(ChangeGuardTest, GoesBackByARequestOfItsOwnUntilThatHasWorked) {
  ChangeGuard guard = make();
  const std::string path = folder_ + "/back";
  EXPECT_FALSE(guard.next_try(path));
  guard.take_back(1, "as only half of a change was made");
  EXPECT_EQ(state_.now().deadline->time_ns, 0u) << "a successor would go on with it";
  EXPECT_THAT(error_of([&] { guard.refuse({}); }), HasSubstr("nothing else changes meanwhile"));
  const auto back = guard.next_try(path);
  ASSERT_TRUE(back);
  EXPECT_EQ(load_plan(path).generation, 1u);
  EXPECT_EQ(back->what, "taken back to 1, as only half of a change was made");
  EXPECT_TRUE(guard.is_try({.peer = "", .message = {.id = 0, .body = *back}}));
  EXPECT_FALSE(guard.is_try({.peer = "cli", .message = {.id = 5, .body = *back}}));
  EXPECT_FALSE(guard.next_try(path)) << "one at a time";
  guard.failed("front.1 does not start");
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_THAT(told_[0], HasSubstr("front.1 does not start"));
  guard.forget_way_back();
  EXPECT_FALSE(guard.is_going_back());
  EXPECT_THAT(guard.way_back_text(), IsEmpty());
}

TEST_F(ChangeGuardTest, AGenerationThatIsNotKeptIsAFailedTry) {
  ChangeGuard guard = make();
  guard.take_back(9, "as it was not confirmed");
  EXPECT_FALSE(guard.next_try(folder_ + "/back"));
  EXPECT_EQ(told_.size(), 1u);
}

TEST_F(ChangeGuardTest, AFailedRollbackIsNotTakenBackItself) {
  ChangeGuard guard = make();
  ChangeRequest rollback;
  rollback.rollback = true;
  EXPECT_TRUE(guard.is_for(rollback));
  guard.made(confirmed_within(60), 1);
  EXPECT_FALSE(guard.is_for(rollback));
  EXPECT_TRUE(guard.is_for({}));
}

}  // namespace
}  // namespace millrace
