// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/event_history.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

class EventHistoryTest : public ::testing::Test {
 protected:
  EventHistoryTest() {
    std::filesystem::create_directory(folder_);
    plan_.name = "edge";
    plan_.events = PlanEvents{.file = folder_ + "/eve.json", .keep = 3};
  }
  ~EventHistoryTest() override { std::filesystem::remove_all(folder_); }
  void put(const std::string& ending, const std::string& text) const {
    std::ofstream(plan_.events->file + ending, std::ios::binary) << text;
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    visit_event_files(plan_, [&](const std::string& line) { all.push_back(line); });
    return all;
  }

  std::string folder_ = testing::TempDir() + "event_history_test";
  Plan plan_;
};

TEST_F(EventHistoryTest, FilesAreReadFromTheOldestOn) {
  put("", "5\n6\nhalf");
  put(".1", "3\n4\n");
  put(".3", "1\n2\n");
  put(".4", "of another time\n");
  EXPECT_EQ(lines(), (std::vector<std::string>{"1", "2", "3", "4", "5", "6"}));
}

TEST_F(EventHistoryTest, AFileWithTwoNamesIsReadOnce) {
  put("", "1\n");
  std::filesystem::create_hard_link(plan_.events->file, plan_.events->file + ".1");
  EXPECT_EQ(lines(), std::vector<std::string>{"1"});
}

TEST_F(EventHistoryTest, LinesMayBeLongerThanABlock) {
  const std::string line(3'000'000, 'x');
  put("", line + "\n\n" + line + "\n");
  EXPECT_EQ(lines(), (std::vector<std::string>{line, "", line}));
}

TEST_F(EventHistoryTest, WithoutFilesItSaysWhatIsMissing) {
  EXPECT_THROW(lines(), Error) << "no such file";
  put(".1", "1\n");
  EXPECT_EQ(lines().size(), 1u);
  plan_.events->file = "";
  EXPECT_THROW(lines(), Error) << "there is the socket alone";
  plan_.events.reset();
  EXPECT_THROW(lines(), Error);
}

}  // namespace
}  // namespace millrace
