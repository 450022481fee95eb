// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/try_events.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace millrace {
namespace {

TEST(TryEvents, WritesALineForEachRecord) {
  const std::string path = testing::TempDir() + "try_events_test.json";
  Plan plan;
  plan.functions.push_back({.name = "scan", .type = "match"});
  TryEvents events(path, plan);
  EXPECT_EQ(events.lines(), 0u);
  for (int i = 0; i < 3; ++i) {
    EventRecord* const record = events.log().add();
    ASSERT_NE(record, nullptr);
    *record = {};
    record->kind = EventKind::kAlert;
  }
  events.write(1'700'000'000'000'000'000);
  EXPECT_EQ(events.lines(), 3u);
  EXPECT_EQ(events.lost(), 0u);
  events.write(1'700'000'000'000'000'000);
  std::ifstream file(path);
  std::string line;
  int lines = 0;
  for (; std::getline(file, line); ++lines) {
    EXPECT_NE(line.find("\"event_type\":\"alert\""), std::string::npos) << line;
    EXPECT_NE(line.find("2023-11-14T"), std::string::npos) << line;
  }
  EXPECT_EQ(lines, 3);
}

}  // namespace
}  // namespace millrace
