// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/config_watch.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "orchestration/planner/plan_sources.hpp"

namespace millrace {
namespace {

class ConfigWatchTest : public testing::Test {
 protected:
  ConfigWatchTest() {
    char pattern[] = "/tmp/millrace-watch-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    write("one");
    plan_.sources = {source_of(path())};
  }
  ~ConfigWatchTest() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/a.rules"; }
  void write(const std::string& text) const { std::ofstream(path()) << text; }
  /// A look, later than all before.
  bool differs() {
    now_ += ConfigWatch::kInterval;
    return watch_.differs(plan_, now_);
  }

  std::string folder_;
  Plan plan_;
  ConfigWatch watch_;
  ConfigWatch::Clock::time_point now_ = ConfigWatch::Clock::now();
};

TEST_F(ConfigWatchTest, SeesAFileThatIsEditedAndOneThatIsAsBefore) {
  EXPECT_FALSE(differs());
  write("other");
  EXPECT_TRUE(differs());
  write("one");
  EXPECT_FALSE(differs());
  std::filesystem::remove(path());
  EXPECT_TRUE(differs());
}

TEST_F(ConfigWatchTest, LooksEveryFewSecondsAndAtOnceAfterAChange) {
  EXPECT_FALSE(differs());
  write("other");
  EXPECT_FALSE(watch_.differs(plan_, now_)) << "not yet time";
  ++plan_.generation;
  EXPECT_TRUE(watch_.differs(plan_, now_));
  plan_.sources = {source_of(path())};
  ++plan_.generation;
  EXPECT_FALSE(watch_.differs(plan_, now_));
}

TEST_F(ConfigWatchTest, KnowsNothingOfAPlanWithoutFiles) {
  plan_.sources.clear();
  EXPECT_FALSE(differs());
}

}  // namespace
}  // namespace millrace
