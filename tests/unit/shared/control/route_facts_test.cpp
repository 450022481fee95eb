// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/route_facts.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/io-worker/ports/capture_files.hpp"

namespace millrace {
namespace {

TEST(RouteFacts, AreReadAsWritten) {
  const test::TestFolder run_dir;
  EXPECT_TRUE(read_routes(run_dir.path("")).empty());
  const std::vector<RouteFacts> routes = {{"north", 3, 40, 2, 1}, {"south", 1, 0, 1, 0}};
  note_routes(run_dir.path(""), routes);
  EXPECT_EQ(read_routes(run_dir.path("")), routes);
  std::ofstream(run_dir.path("telemetry.routes")) << "north 1 5 0 1\nsouth 2 ";
  EXPECT_EQ(read_routes(run_dir.path("")).size(), 1u) << "whole lines";
}

}  // namespace
}  // namespace millrace
