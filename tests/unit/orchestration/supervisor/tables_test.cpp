// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "orchestration/supervisor/run_dir.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/orchestration/supervisor/scripts.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Tables : public testing::Test {
 protected:
  Tables() {
    char pattern[] = "/tmp/millrace-tables-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    make_run_dir(folder_ + "/run");
    plan_.functions.resize(3);
    plan_.functions[0].name = "plain";
    plan_.functions[1] = {.name = "route", .image = folder_ + "/image"};
    plan_.functions[2] = {.name = "match", .image = folder_ + "/image2"};
  }
  ~Tables() override { fs::remove_all(folder_); }
  void builder(const std::string& script) const { test::write_script(folder_, "builder", script); }
  std::string error_of_build() {
    try {
      build_tables(plan_, folder_, folder_ + "/run");
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  Plan plan_ = test::small_plan("tables");
  std::string folder_;
};

TEST_F(Tables, AreBuiltForEachFunctionWithAnImage) {
  builder(R"(test "$1 $3" = "--plan --function" || exit 9
echo '{"accepted":'$4'0,"refused":1,"counter_count":'$4',"refusals":["r.txt:3: no mask"],'\
'"files":[{"path":"r.txt","accepted":'$4'}]}')");
  const auto reports = build_tables(plan_, folder_, folder_ + "/run");
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].function, "route");
  EXPECT_EQ(reports[0].accepted, 10U);
  EXPECT_EQ(reports[1].accepted, 20U);
  EXPECT_EQ(reports[1].refused, 1U);
  EXPECT_THAT(reports[1].refusals, testing::ElementsAre("r.txt:3: no mask"));
  EXPECT_EQ(reports[1].files, (std::vector<TableFileFacts>{{"r.txt", 2}}));
  EXPECT_EQ(plan_.functions[0].counter_count, 0U);
  EXPECT_EQ(plan_.functions[1].counter_count, 1U);
  EXPECT_EQ(plan_.functions[2].counter_count, 2U);
}

TEST_F(Tables, TellWhatAFailedBuilderSaid) {
  builder("echo 'no such file: routes.txt' >&2; exit 1");
  EXPECT_EQ(error_of_build(), "table of 'route': builder exited with 1\nno such file: routes.txt");
}

TEST_F(Tables, TellThatABuilderPrintedNoReport) {
  builder("echo hello");
  EXPECT_THAT(error_of_build(), HasSubstr("table of 'route': the builder printed no report"));
}

TEST_F(Tables, RefuseAReportWithoutItsNumbers) {
  EXPECT_THROW(parse_table_report("route", R"({"accepted": 1})"), Error);
  EXPECT_THROW(parse_table_report("route", ""), Error);
}

TEST_F(Tables, GenerationsGrowByOneANewTable) {
  StateFile state(folder_ + "/run");
  note_tables(state, {{.function = "route", .accepted = 5, .is_new = false},
                      {.function = "ids", .accepted = 7}});
  note_tables(state, {{.function = "ids", .accepted = 8, .refused = 2, .files = {{"r", 8}}}});
  note_tables(state, {{.function = "route", .accepted = 5, .refused = 3, .is_new = false}});
  EXPECT_EQ(state.now().tables,
            (std::vector<TableFacts>{{"route", 1, 5, 3}, {"ids", 2, 8, 2, {{"r", 8}}}}));
  EXPECT_EQ(load_run_state(folder_ + "/run"), state.now());
  StateFile nowhere("/nowhere/at/all");
  note_tables(nowhere, {{.function = "ids", .accepted = 7}});
  EXPECT_EQ(nowhere.now().tables, (std::vector<TableFacts>{{"ids", 1, 7, 0}}));
}

}  // namespace
}  // namespace millrace
