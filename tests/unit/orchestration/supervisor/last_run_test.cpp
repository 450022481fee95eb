// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/last_run.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "orchestration/supervisor/history.hpp"
#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"
#include "shared/control/run_state.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

class LastRunTest : public testing::Test {
 protected:
  LastRunTest() {
    char pattern[] = "/tmp/millrace-last-run-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    run_dir_ = folder_ + "/last";
    fs::create_directory(run_dir_);
    save_plan(plan_, plan_path(run_dir_));
    History(run_dir_).add(plan_, "start", 1);
    plan_.generation = 2;
    History(run_dir_).add(plan_, "scale", 2);
  }
  ~LastRunTest() override { fs::remove_all(folder_); }

  Plan plan_ = test::small_plan("last");
  std::string folder_, run_dir_;
};

TEST_F(LastRunTest, OutlivesTheRunDirectoryAndGoesWithItsOwner) {
  std::string kept;
  {
    const LastRun last(run_dir_);
    kept = last.folder();
    fs::remove_all(run_dir_);
    EXPECT_EQ(load_plan(last.plan_path()).name, plan_.name);
    const std::string next = folder_ + "/next";
    fs::create_directory(next);
    EXPECT_EQ(History(next).resume(kept), 2U);
    ASSERT_EQ(History(next).entries().size(), 2U);
    EXPECT_EQ(History(next).entries()[1].what, "scale");
    EXPECT_EQ(History(next).plan_of(1).generation, 1U);
    EXPECT_FALSE(SupervisorLock::attempt(kept)) << "a start of another topology would remove it";
  }
  EXPECT_FALSE(fs::exists(kept));
}

TEST_F(LastRunTest, HasWhatNoPlanHas) {
  save_run_state(run_dir_,
                 {.stopping = true, .control = RemoteControl{"tcp://127.0.0.1:1", "k", {"c"}}});
  save_bypass(run_dir_, {.topology = "last", .command = {"/bin/true"}, .on = true});
  const LastRun last(run_dir_);
  const auto control = load_run_state(last.folder()).control;
  ASSERT_TRUE(control);
  EXPECT_EQ(control->address, "tcp://127.0.0.1:1");
  EXPECT_FALSE(load_run_state(last.folder()).stopping) << "of the run that has ended";
  const auto bypass = bypass_of_last_run(last.folder());
  ASSERT_TRUE(bypass);
  EXPECT_EQ(bypass->command, std::vector<std::string>{"/bin/true"});
  EXPECT_FALSE(bypass->on) << "what starts turns it off itself";
}

TEST_F(LastRunTest, MayHaveNeither) {
  const LastRun last(run_dir_);
  EXPECT_FALSE(load_run_state(last.folder()).control);
  EXPECT_FALSE(bypass_of_last_run(last.folder()));
}

TEST_F(LastRunTest, OfNothingIsAnError) {
  EXPECT_THROW(LastRun(folder_ + "/none"), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1)
      << "what could not be kept is left";
  EXPECT_EQ(History(run_dir_ + ".empty").resume(folder_ + "/none"), 0U);
}

}  // namespace
}  // namespace millrace
