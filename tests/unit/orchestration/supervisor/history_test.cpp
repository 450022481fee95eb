// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "orchestration/planner/plan_sources.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class HistoryTest : public testing::Test {
 protected:
  HistoryTest() {
    char pattern[] = "/tmp/millrace-history-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    history_.emplace(folder_);
    plan_.functions = {{.name = "scan", .settings = {{"rules", rules_path()}}}};
    write("one");
  }
  ~HistoryTest() override { fs::remove_all(folder_); }
  std::string rules_path() const { return folder_ + "/scan.rules"; }
  void write(const std::string& text) {
    std::ofstream(rules_path()) << text;
    plan_.sources = {source_of(rules_path())};
    plan_.hash = hash_of_sources(plan_.sources);
  }
  void add(const std::string& what) {
    history_->add(plan_, what, 1000 + plan_.generation);
    ++plan_.generation;
  }
  std::string error_of(std::uint64_t generation) const {
    try {
      static_cast<void>(history_->plan_of(generation));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  Plan plan_ = test::small_plan("history");
  std::string folder_;
  std::optional<History> history_;
};

TEST_F(HistoryTest, SaysWhatWasDoneWhen) {
  EXPECT_TRUE(history_->entries().empty());
  add("start");
  add("scale front=2\nand more");
  const auto entries = history_->entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].what, "start");
  EXPECT_EQ(entries[0].hash, plan_.hash);
  EXPECT_EQ(entries[1].generation, 2U);
  EXPECT_EQ(entries[1].time_ns, 1002U);
  EXPECT_EQ(entries[1].what, "scale front=2 and more");
}

TEST_F(HistoryTest, APlanOfTheFilesAsTheyAreIsWhatItWas) {
  add("start");
  EXPECT_EQ(history_->plan_of(1).functions[0].settings[0].second, rules_path());
}

TEST_F(HistoryTest, AFileThatChangedIsReplacedByWhatItWas) {
  add("start");
  write("two");
  const Plan then = history_->plan_of(1);
  const std::string kept = then.functions[0].settings[0].second;
  EXPECT_NE(kept, rules_path());
  std::string text;
  std::ifstream(kept) >> text;
  EXPECT_EQ(text, "one");
  EXPECT_EQ(fs::path(kept).filename(), "scan.rules");
  EXPECT_EQ(path_of_source(then.sources[0]), rules_path()) << "what people write";
  EXPECT_EQ(history_->as_written(then).functions[0].settings[0].second, rules_path());
  EXPECT_EQ(history_->as_written(plan_).functions[0].settings, plan_.functions[0].settings);
}

TEST_F(HistoryTest, FilesOfOneNameAndTextInTwoPlacesAreTwo) {
  const std::string other = folder_ + "/other/scan.rules";
  fs::create_directory(folder_ + "/other");
  std::ofstream(other) << "one";
  plan_.functions.push_back({.name = "look", .settings = {{"rules", other}}});
  plan_.sources = {source_of(rules_path()), source_of(other)};
  add("start");
  std::ofstream(rules_path()) << "two";
  std::ofstream(other) << "three";
  const Plan then = history_->plan_of(1);
  EXPECT_NE(then.functions[1].settings[0].second, other);
  const Plan written = history_->as_written(then);
  EXPECT_EQ(written.functions[0].settings[0].second, rules_path());
  EXPECT_EQ(written.functions[1].settings[0].second, other);
}

TEST_F(HistoryTest, WhatWasNotKeptIsNamed) {
  std::ofstream(rules_path()) << std::string(History::kFileBytesMax + 1, 'x');
  plan_.sources = {source_of(rules_path())};
  add("start");
  write("two");
  EXPECT_THAT(error_of(1), HasSubstr("scan.rules: it is not what it was then, and was not kept"));
}

TEST_F(HistoryTest, KnowsWhichGenerationsThereAre) {
  EXPECT_THAT(error_of(1), HasSubstr("there are none"));
  for (std::size_t i = 0; i < History::kGenerationsKept + 5; ++i) add("scale");
  EXPECT_EQ(history_->entries().size(), History::kGenerationsKept);
  EXPECT_EQ(error_of(2), "no generation 2; there are 6 to 55");
  EXPECT_EQ(error_of(6), "no error");
  EXPECT_FALSE(fs::exists(folder_ + "/history/5.plan"));
}

TEST_F(HistoryTest, KeepsFilesOfTheGenerationsThereAreOnly) {
  for (std::size_t i = 0; i < History::kGenerationsKept + 5; ++i) {
    write("rules " + std::to_string(i));
    plan_.sources = {source_of(rules_path())};
    add("reload");
  }
  write("later");
  std::size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(folder_ + "/history")) {
    folders += entry.is_directory() ? 1 : 0;
  }
  EXPECT_EQ(folders, History::kGenerationsKept);
  EXPECT_EQ(error_of(6), "no error");
}

}  // namespace
}  // namespace millrace
