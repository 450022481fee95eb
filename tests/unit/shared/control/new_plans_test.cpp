// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/control/new_plans.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

class NewPlansTest : public testing::Test {
 protected:
  NewPlansTest() {
    std::string pattern = fs::temp_directory_path() / "millrace-plans-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~NewPlansTest() override { fs::remove_all(folder_); }
  /// As if a second had passed each time.
  void save() {
    save_plan(plan_, path());
    fs::last_write_time(path(), time_ += std::chrono::seconds(1));
  }
  std::string path() const { return folder_ / "plan.bin"; }

  fs::path folder_;
  fs::file_time_type time_ = fs::file_time_type::clock::now();
  Plan plan_ = test::plan_of_text(test::kTwoPaths);
};

TEST_F(NewPlansTest, OneThatIsSavedIsReadOnce) {
  save();
  NewPlans plans(path(), status_layout(plan_).hash);
  EXPECT_FALSE(plans.next());
  plan_.revision = 7;
  save();
  const auto next = plans.next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->revision, 7u);
  EXPECT_FALSE(plans.next());
}

TEST_F(NewPlansTest, OneOfAnotherLayoutOrNoneIsLeftAlone) {
  save();
  NewPlans plans(path(), status_layout(plan_).hash + 1);
  save();
  EXPECT_FALSE(plans.next());
  fs::remove(path());
  EXPECT_FALSE(plans.next());
}

}  // namespace
}  // namespace millrace
