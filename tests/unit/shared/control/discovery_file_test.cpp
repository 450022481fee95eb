// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/discovery_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "shared/base/error.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"

namespace millrace {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(DiscoveryFile, LiesBesideTheRunDirectoryForEverybody) {
  const test::TestFolder folder;
  const std::string run_dir = folder.path("edge");
  write_discovery(run_dir, "edge", "127.0.0.1:43210");
  EXPECT_EQ(discovery_path(run_dir), folder.path("edge.telemetry.json"));
  EXPECT_EQ(text_of(discovery_path(run_dir)),
            R"([{"targets": ["127.0.0.1:43210"], "labels": {"topology": "edge"}}])"
            "\n");
  struct stat info {};
  ASSERT_EQ(::stat(discovery_path(run_dir).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644U);
}

TEST(DiscoveryFile, OfABypassHasALabelAndATargetThatNeverAnswers) {
  const test::TestFolder folder;
  const std::string run_dir = folder.path("edge");
  write_discovery(run_dir, "edge", "127.0.0.1:43210");
  write_bypass_discovery(run_dir, "edge");
  EXPECT_EQ(text_of(discovery_path(run_dir)),
            R"([{"targets": ["127.0.0.1:0"], "labels": {"topology": "edge", "bypass": "on"}}])"
            "\n");
  EXPECT_THROW(write_bypass_discovery(folder.path("gone/edge"), "edge"), Error);
}

}  // namespace
}  // namespace millrace
