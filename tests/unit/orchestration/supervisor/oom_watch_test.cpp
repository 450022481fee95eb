// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/oom_watch.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/io-worker/ports/capture_files.hpp"

namespace millrace {
namespace {

using std::chrono::seconds;

class OomWatchTest : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_.path("") + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void host_kills(int count) const {
    put("/proc/vmstat", "oom_kill_x 7\nnr_free 5\noom_kill " + std::to_string(count) + "\nzz 1\n");
  }
  void group_kills(int count) const {
    put("/sys/fs/cgroup/mill.slice/memory.events",
        "low 0\noom 3\noom_kill " + std::to_string(count) + "\n");
  }
  void of_version_2(const std::string& limit) const {
    put("/proc/self/cgroup", "0::/mill.slice\n");
    put("/sys/fs/cgroup/mill.slice/memory.max", limit + "\n");
    host_kills(9);
    group_kills(4);
  }
  OomWatch watch() const { return OomWatch(root_.path("")); }

  const test::TestFolder root_;
  OomWatch::Time now_ = OomWatch::Time(seconds(1000));
};

TEST_F(OomWatchTest, NamesTheGroupAndItsLimit) {
  of_version_2("67108864");
  OomWatch watch = this->watch();
  EXPECT_FALSE(watch.explain(now_)) << "all that was before it is of no interest";
  host_kills(10);
  group_kills(5);
  EXPECT_EQ(watch.explain(now_),
            "out of memory: the kernel ended it, in control group /mill.slice, "
            "whose limit is 64 MB (" +
                root_.path("") + "/sys/fs/cgroup/mill.slice/memory.max)");
  EXPECT_FALSE(watch.explain(now_)) << "one count explains one end";
  of_version_2("max");
  host_kills(11);
  group_kills(6);
  EXPECT_EQ(watch.explain(now_),
            "out of memory: the kernel ended it, in control group /mill.slice, "
            "which has no limit of its own");
}

TEST_F(OomWatchTest, KnowsGroupsOfVersion1) {
  put("/proc/self/cgroup", "5:devices:/\n4:cpu,memory:/a/b\n0::/elsewhere\n");
  const std::string folder = "/sys/fs/cgroup/memory/a/b/";
  put(folder + "memory.limit_in_bytes", "1048576\n");
  put(folder + "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
  OomWatch watch = this->watch();
  put(folder + "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  EXPECT_EQ(watch.explain(now_),
            "out of memory: the kernel ended it, in control group /a/b, whose "
            "limit is 1 MB (" +
                root_.path("") + folder + "memory.limit_in_bytes)");
}

TEST_F(OomWatchTest, WithoutAGroupTheHostsCountSaysIt) {
  host_kills(1);
  OomWatch watch = this->watch();
  EXPECT_FALSE(watch.explain(now_));
  host_kills(3);
  EXPECT_EQ(watch.explain(now_),
            "out of memory: the kernel ended it (oom_kill of /proc/vmstat has risen)");
  EXPECT_TRUE(watch.explain(now_)) << "it counted two";
  EXPECT_FALSE(watch.explain(now_));
  std::filesystem::remove_all(root_.path("proc"));
  EXPECT_FALSE(watch.explain(now_));
}

TEST_F(OomWatchTest, WhatWasCountedLongAgoExplainsNothing) {
  of_version_2("max");
  OomWatch watch = this->watch();
  watch.look(now_);
  host_kills(10);
  group_kills(5);
  now_ += seconds(2);
  watch.look(now_);
  now_ += seconds(9);
  watch.look(now_);
  OomWatch soon = watch;
  EXPECT_TRUE(soon.explain(now_)) << "a large process takes its time to end";
  now_ += seconds(2);
  EXPECT_FALSE(watch.explain(now_));
}

}  // namespace
}  // namespace millrace
