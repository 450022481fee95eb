// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/observer_facts.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/io-worker/ports/capture_files.hpp"

namespace millrace {
namespace {

TEST(TableFacts, GenerationsGrowByOneABuild) {
  const test::TestFolder run_dir;
  const std::string path = run_dir.path("");
  EXPECT_TRUE(read_tables(path).empty());
  note_tables(path, {{.function = "route", .accepted = 5}, {.function = "ids", .accepted = 7}});
  note_tables(path, {{.function = "ids", .generation = 99, .accepted = 8, .refused = 2}});
  const std::vector<TableFacts> tables = read_tables(path);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].function, "route");
  EXPECT_EQ(tables[0].generation, 1u);
  EXPECT_EQ(tables[0].accepted, 5u);
  EXPECT_EQ(tables[1].generation, 2u);
  EXPECT_EQ(tables[1].accepted, 8u);
  EXPECT_EQ(tables[1].refused, 2u);
}

TEST(TableFacts, ATableThatIsNotNewIsNoGeneration) {
  const test::TestFolder run_dir;
  const std::string path = run_dir.path("");
  note_tables(path, {{.function = "route", .accepted = 5, .is_new = false}});
  EXPECT_EQ(read_tables(path).at(0).generation, 1u) << "the first";
  note_tables(path, {{.function = "route", .accepted = 5, .refused = 3, .is_new = false}});
  EXPECT_EQ(read_tables(path).at(0).generation, 1u);
  EXPECT_EQ(read_tables(path).at(0).refused, 3u);
  note_tables(path, {{.function = "route", .accepted = 6}});
  EXPECT_EQ(read_tables(path).at(0).generation, 2u);
}

TEST(TableFacts, AFileThatIsCutShortGivesItsWholeLines) {
  const test::TestFolder run_dir;
  std::ofstream(run_dir.path("telemetry.tables")) << "route 1 5 0\nids 2 ";
  EXPECT_EQ(read_tables(run_dir.path("")).size(), 1u);
}

TEST(RouteFacts, AreReadAsWritten) {
  const test::TestFolder run_dir;
  EXPECT_TRUE(read_routes(run_dir.path("")).empty());
  const std::vector<RouteFacts> routes = {{"north", 3, 40, 2, 1}, {"south", 1, 0, 1, 0}};
  note_routes(run_dir.path(""), routes);
  EXPECT_EQ(read_routes(run_dir.path("")), routes);
}

}  // namespace
}  // namespace millrace
