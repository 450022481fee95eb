// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/table_build.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "orchestration/supervisor/run_dir.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/orchestration/supervisor/scripts.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class TableBuildTest : public testing::Test {
 protected:
  TableBuildTest() {
    char pattern[] = "/tmp/millrace-build-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    make_run_dir(folder_ + "/run");
    plan_.functions.resize(3);
    plan_.functions[0].name = "plain";
    plan_.functions[1] = {.name = "route", .image = folder_ + "/route.image"};
    plan_.functions[2] = {.name = "match", .image = folder_ + "/match.image"};
    builder(
        "echo '{\"accepted\":'$4',\"refused\":0,\"counter_count\":1,\"refusals\":[]}'; "
        "touch " +
        folder_ + "/made.$4");
  }
  ~TableBuildTest() override { fs::remove_all(folder_); }
  void builder(const std::string& script) const { test::write_script(folder_, "builder", script); }
  TableBuild build(std::vector<std::uint32_t> numbers) const {
    return {plan_, std::move(numbers), folder_, folder_ + "/run"};
  }
  static void finish(TableBuild& build) {
    for (int i = 0; i < 2000 && !build.tend(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  static std::string error_of(TableBuild& build) {
    try {
      finish(build);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  Plan plan_ = test::small_plan("build");
  std::string folder_;
};

TEST_F(TableBuildTest, BuildsWhatIsAskedForAndHasATable) {
  TableBuild both = build({0, 2});
  finish(both);
  ASSERT_EQ(both.reports().size(), 1u);
  EXPECT_EQ(both.reports()[0].function, "match");
  EXPECT_EQ(both.reports()[0].accepted, 2u);
  EXPECT_FALSE(fs::exists(folder_ + "/made.1"));
}

TEST_F(TableBuildTest, DoesNotWait) {
  builder("sleep 30");
  const auto start = std::chrono::steady_clock::now();
  {
    TableBuild slow = build({1});
    EXPECT_FALSE(slow.tend());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST_F(TableBuildTest, TellsWhatABuilderSaidAndRemovesWhatWasBuilt) {
  builder(
      "[ $4 = 1 ] || { echo 'line 3 is wrong' >&2; exit 1; }\n"
      "touch " +
      folder_ +
      "/route.image\n"
      "echo '{\"accepted\":1,\"refused\":0,\"counter_count\":1,\"refusals\":[]}'");
  {
    TableBuild bad = build({1, 2});
    EXPECT_EQ(error_of(bad), "table of 'match': builder exited with 1\nline 3 is wrong");
    EXPECT_TRUE(fs::exists(folder_ + "/route.image"));
  }
  EXPECT_FALSE(fs::exists(folder_ + "/route.image"));
  EXPECT_FALSE(fs::exists(folder_ + "/run/plan.bin.next"));
}

TEST_F(TableBuildTest, LeavesWhatIsKept) {
  builder("touch " + folder_ +
          "/route.image\n"
          "echo '{\"accepted\":1,\"refused\":0,\"counter_count\":1,\"refusals\":[]}'");
  {
    TableBuild good = build({1});
    finish(good);
    good.keep();
  }
  EXPECT_TRUE(fs::exists(folder_ + "/route.image"));
}

TEST_F(TableBuildTest, RefusesAReportThatIsNone) {
  builder("echo hello");
  TableBuild bad = build({1});
  EXPECT_THAT(error_of(bad), HasSubstr("the builder printed no report"));
}

}  // namespace
}  // namespace millrace
