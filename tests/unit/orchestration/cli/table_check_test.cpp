// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/table_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "orchestration/supervisor/run_dir.hpp"
#include "shared/base/error.hpp"
#include "shared/control/run_state.hpp"
#include "tests/unit/orchestration/supervisor/scripts.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A script builds; what was in use had ten entries, five of each file.
class TableCheck : public testing::Test {
 protected:
  TableCheck() {
    make_run_dir(run_dir_);
    plan_.functions = {{.name = "plain"},
                       {.name = "wall", .type = "acl", .image = folder_ + "/wall.1.image"}};
    save_run_state(run_dir_, {.tables = {{"wall", 1, 10, 0, {{"/a", 5}, {"/b", 5}}}}});
  }
  ~TableCheck() override { fs::remove_all(folder_); }
  /// Why the new tables are refused that a builder makes and reports so.
  std::string refusal(const std::string& report, AcceptedLosses losses = {}) const {
    test::write_script(folder_, "builder", "touch " + image() + "\n" + report);
    std::string why;
    try {
      check_tables(plan_, plan_, folder_, run_dir_, losses);
    } catch (const Error& error) {
      why = error.what();
    }
    EXPECT_FALSE(fs::exists(image())) << "it was built to be looked at";
    for (const auto& entry : fs::directory_iterator(run_dir_)) {
      EXPECT_FALSE(entry.path().filename().string().starts_with("plan.bin")) << entry.path();
    }
    return why;
  }
  std::string image() const { return folder_ + "/wall.0.image"; }
  static std::string report(int refused, int a, int b) {
    return "echo '{\"accepted\":" + std::to_string(a + b) +
           ",\"refused\":" + std::to_string(refused) +
           ",\"counter_count\":1,\"refusals\":[],\"files\":[{\"path\":\"/a\",\"accepted\":" +
           std::to_string(a) + "},{\"path\":\"/b\",\"accepted\":" + std::to_string(b) + "}]}'";
  }

  Plan plan_ = test::small_plan("table-check");
  std::string folder_ = ::mkdtemp(std::string("/tmp/millrace-check-XXXXXX").data());
  std::string run_dir_ = folder_ + "/run";
};

TEST_F(TableCheck, TablesLikeThoseInUseAreGood) {
  EXPECT_EQ(refusal(report(0, 5, 5)), "");
  EXPECT_EQ(refusal(report(0, 9, 3)), "");
}

TEST_F(TableCheck, WhatIsLostIsRefusedUnlessItIsTaken) {
  EXPECT_THAT(refusal(report(0, 9, 0)), HasSubstr("/b: 0 entries, 5 in the one in use"));
  EXPECT_EQ(refusal(report(0, 9, 0), {.shrunk = true}), "");
  EXPECT_THAT(refusal(report(1, 5, 5)), HasSubstr("1 lines are refused, 0 of the one in use"));
  EXPECT_EQ(refusal(report(1, 5, 5), {.refused = true}), "");
  EXPECT_NE(refusal(report(1, 5, 0), {.refused = true}), "");
}

TEST_F(TableCheck, ABuilderThatFailsIsHeardBeforeAnythingEnds) {
  const std::string why = refusal("echo 'a zero byte' >&2; exit 1");
  EXPECT_TRUE(why.starts_with("nothing has changed: table of 'wall': builder exited with 1"))
      << why;
  EXPECT_THAT(why, HasSubstr("a zero byte"));
}

}  // namespace
}  // namespace millrace
