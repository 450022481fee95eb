// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/table_losses.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "orchestration/planner/plan_sources.hpp"
#include "orchestration/supervisor/run_dir.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

class TableLosses : public testing::Test {
 protected:
  TableLosses() {
    plan_.functions = {{.name = "wall", .type = "acl"}, {.name = "way", .type = "route"}};
    plan_.functions[1].settings = {{"routes", "kernel"}};
  }
  /// Why a build of `function` is refused whose files have so many entries each.
  std::string refused(const std::string& function, std::vector<TableFileFacts> files,
                      std::vector<TableFileFacts> before, std::uint64_t kernel = 0,
                      std::uint64_t kernel_before = 0) const {
    TableReport report{.function = function, .accepted = kernel, .files = std::move(files)};
    TableFacts facts{.function = function, .accepted = kernel_before, .files = std::move(before)};
    for (const TableFileFacts& file : report.files) report.accepted += file.accepted;
    for (const TableFileFacts& file : facts.files) facts.accepted += file.accepted;
    try {
      refuse_shrunk({report}, plan_, {facts});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  Plan plan_ = test::small_plan("losses");
};

TEST_F(TableLosses, AFileThatBecameEmptyBesideALargeOneIsRefused) {
  EXPECT_EQ(refused("wall", {{"/big", 1000}, {"/small", 0}}, {{"/big", 1000}, {"/small", 1}}),
            "table of 'wall': under half of the entries of a file are left; the table in use "
            "stays; were its files cut short? (--accept-shrunk takes it all the same)\n"
            "  /small: 0 entries, 1 in the one in use");
}

TEST_F(TableLosses, UnderHalfOfAFileIsRefusedWhateverOthersHaveMore) {
  EXPECT_EQ(refused("wall", {{"/big", 2000}, {"/small", 4}}, {{"/big", 1000}, {"/small", 9}}),
            "table of 'wall': under half of the entries of a file are left; the table in use "
            "stays; were its files cut short? (--accept-shrunk takes it all the same)\n"
            "  /small: 4 entries, 9 in the one in use");
  EXPECT_EQ(refused("wall", {{"/big", 500}, {"/small", 5}}, {{"/big", 1000}, {"/small", 9}}), "");
}

TEST_F(TableLosses, UnderHalfOfAllNamesTheFilesThatItIsIn) {
  EXPECT_EQ(refused("wall", {{"/big", 2}, {"/small", 9}}, {{"/big", 1000}, {"/small", 9}}),
            "table of 'wall': 11 entries, under half of the 1009 of the one in use, which stays; "
            "were its files cut short? (--accept-shrunk takes it all the same)\n"
            "  /big: 2 entries, 1000 in the one in use");
}

TEST_F(TableLosses, FilesThatComeAndGoAreWanted) {
  EXPECT_EQ(refused("wall", {{"/big", 1000}, {"/new", 0}}, {{"/big", 1000}, {"/old", 9}}), "");
  EXPECT_EQ(refused("new", {{"/big", 0}}, {{"/big", 1000}}), "") << "no table of that name is used";
}

TEST_F(TableLosses, RoutesOfTheKernelComeAndGoButFilesAreCompared) {
  EXPECT_EQ(refused("way", {{"/own", 3}}, {{"/own", 3}}, 0, 900'000), "");
  EXPECT_EQ(refused("way", {{"/own", 1}}, {{"/own", 3}}, 900'000, 900'000),
            "table of 'way': under half of the entries of a file are left; the table in use "
            "stays; were its files cut short? (--accept-shrunk takes it all the same)\n"
            "  /own: 1 entries, 3 in the one in use");
}

TEST_F(TableLosses, AStartSaysWhichTablesAndFilesAreEmpty) {
  const auto said = [&](const TableReport& report) { return what_is_empty(report, plan_); };
  EXPECT_EQ(said({.function = "wall", .accepted = 5, .files = {{"/a", 5}}}), "");
  EXPECT_EQ(said({.function = "wall", .files = {{"/a", 0}}}), "table of wall has no entries");
  EXPECT_EQ(said({.function = "wall", .accepted = 5, .files = {{"/a", 0}, {"/b", 5}, {"/c", 0}}}),
            "table of wall has no entries of /a, /c");
  EXPECT_EQ(said({.function = "way"}), "") << "the kernel has none yet";
  EXPECT_EQ(said({.function = "way", .files = {{"/a", 0}}}), "table of way has no entries of /a");
}

TEST(TableLossesAsWritten, ACopyThatARollbackPutStandsForTheFile) {
  const std::string folder = ::mkdtemp(std::string("/tmp/millrace-losses-XXXXXX").data());
  make_run_dir(folder + "/run");
  const std::string rules = folder + "/wall.rules";
  std::ofstream(rules) << "drop any\n";
  Plan plan = test::small_plan("losses");
  plan.functions = {{.name = "wall", .type = "acl", .settings = {{"rules", rules}}}};
  plan.sources = {source_of(rules)};
  plan.generation = 1;
  const History history(folder + "/run");
  history.add(plan, "start", 1);
  std::ofstream(rules) << "# none any more\n";
  const std::string kept = history.plan_of(1).functions[0].settings[0].second;
  ASSERT_NE(kept, rules);
  const std::vector<TableFacts> facts =
      facts_as_written({{.function = "wall", .files = {{kept, 1}, {"/b", 2}}}}, plan, history);
  EXPECT_EQ(facts[0].files, (std::vector<TableFileFacts>{{rules, 1}, {"/b", 2}}));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace millrace
