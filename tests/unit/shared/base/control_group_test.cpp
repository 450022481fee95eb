// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/control_group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace millrace {
namespace {

using testing::ElementsAre;

class ControlGroups : public testing::Test {
 protected:
  ControlGroups() {
    char pattern[] = "/tmp/millrace-groups-XXXXXX";
    root_ = ::mkdtemp(pattern);
    std::filesystem::create_directories(root_ + "/proc/self");
  }
  ~ControlGroups() override { std::filesystem::remove_all(root_); }

  std::vector<std::string> groups(const std::string& text, const std::string& controller) const {
    std::ofstream(root_ + "/proc/self/cgroup") << text;
    std::vector<std::string> found;
    for_each_control_group(root_, controller, [&](const ControlGroup& group) {
      found.push_back(group.folder + (group.version2 ? " 2" : " 1"));
    });
    return found;
  }

  std::string root_;
};

TEST_F(ControlGroups, AreTheOwnOneAndThoseAboveIt) {
  EXPECT_THAT(groups("0::/a/b\n", "memory"),
              ElementsAre("/sys/fs/cgroup/a/b 2", "/sys/fs/cgroup/a 2", "/sys/fs/cgroup 2"));
  EXPECT_THAT(groups("0::/\n", "memory"), ElementsAre("/sys/fs/cgroup 2"));
}

TEST_F(ControlGroups, OfVersion1AreInTheFolderOfTheirController) {
  EXPECT_THAT(groups("3:pids:/p\n2:cpu,cpuacct:/c\n", "cpu"),
              ElementsAre("/sys/fs/cgroup/cpu/c 1", "/sys/fs/cgroup/cpu 1"));
}

TEST_F(ControlGroups, OfAnotherShapeAreNone) {
  EXPECT_THAT(groups("", "cpu"), ElementsAre());
  EXPECT_THAT(groups("nonsense\n1:cpuset:/x\n", "cpu"), ElementsAre());
}

}  // namespace
}  // namespace millrace
