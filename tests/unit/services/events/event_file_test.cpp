// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/event_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class EventFileTest : public ::testing::Test {
 protected:
  EventFileTest() {
    std::string pattern = fs::temp_directory_path() / "millrace-events-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~EventFileTest() override { fs::remove_all(folder_); }
  std::string path(const std::string& name = "eve.json") const { return folder_ / name; }
  PlanEvents settings(std::uint64_t rotate_bytes = 0, std::uint32_t keep = 2) const {
    return {.file = path(), .rotate_bytes = rotate_bytes, .keep = keep, .socket = ""};
  }
  std::string text(const std::string& name = "eve.json") const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& text) const { std::ofstream(path(), std::ios::binary) << text; }

  fs::path folder_;
};

TEST_F(EventFileTest, AddsLines) {
  put("before\n");
  EventFile file(settings());
  EXPECT_EQ(file.place().offset, 7u);
  EXPECT_EQ(file.write("one\ntwo\n"), 2u);
  EXPECT_EQ(file.write("three\n"), 1u);
  EXPECT_EQ(text(), "before\none\ntwo\nthree\n");
  struct stat info {};
  ASSERT_EQ(::stat(path().c_str(), &info), 0);
  EXPECT_EQ(file.place().file, info.st_ino);
}

TEST_F(EventFileTest, CutsNothingOffThatWasThereBefore) {
  put("not ours, and no end");
  EventFile file(settings());
  EXPECT_EQ(file.write("one\n"), 1u);
  EXPECT_EQ(text(), "not ours, and no end\none\n");
}

TEST_F(EventFileTest, RefusesWhatIsNoFile) {
  const auto error = [](const PlanEvents& settings) -> std::string {
    try {
      const EventFile file(settings);
    } catch (const Error& refused) {
      return refused.what();
    }
    return "opened";
  };
  PlanEvents there = settings();
  there.file = path("absent/eve.json");
  EXPECT_THAT(error(there), HasSubstr("absent/eve.json (`events: file`): No such file"));
  there.file = path("pipe");
  ASSERT_EQ(::mkfifo(there.file.c_str(), 0600), 0);
  EXPECT_THAT(error(there), HasSubstr("is a pipe; a regular file is needed"));
}

TEST_F(EventFileTest, FindsOutWhatAKilledOneWrote) {
  EventFile file(settings());
  file.write("one\n");
  const EventFile::Place before = file.place();
  put("one\ntwo\nthree\nfou");
  EXPECT_EQ(file.lines_behind(before), 2u);
  EXPECT_EQ(text(), "one\ntwo\nthree\n");
  EXPECT_EQ(file.lines_behind(before), 2u);
  EXPECT_EQ(file.lines_behind(file.place()), 0u);
  EXPECT_EQ(file.lines_behind({before.file + 1, before.offset}), 0u) << "of another file";
  put("one\nhal");
  EXPECT_EQ(file.lines_behind(before), 0u);
  EXPECT_EQ(text(), "one\n");
}

TEST_F(EventFileTest, ASuccessorCutsOffHalfALineOfAKilledOneAndNobodyElses) {
  EventFile killed(settings());
  killed.write("one\n");
  const EventFile::Place begun = killed.place();
  put("one\ntwo\nthr");
  EventFile successor(settings(), begun);
  EXPECT_EQ(successor.lines_behind(begun), 1u);
  EXPECT_EQ(text(), "one\ntwo\n");
  put("one\ntwo\nthr");
  const EventFile other(settings(), {begun.file + 1, begun.offset});
  EXPECT_EQ(text(), "one\ntwo\nthr\n");
}

TEST_F(EventFileTest, FollowsARenameWithinALook) {
  EventFile file(settings());
  file.write("one\n");
  fs::rename(path(), path("eve.json.old"));
  file.write("two\n");  // no reader has looked yet
  file.look();
  file.write("three\n");
  EXPECT_EQ(text("eve.json.old"), "one\ntwo\n");
  EXPECT_EQ(text(), "three\n");
  file.look();
  file.reopen();
  file.write("four\n");
  EXPECT_EQ(text(), "three\nfour\n");
  fs::remove(path());
  file.reopen();
  file.write("five\n");
  EXPECT_EQ(text(), "five\n");
}

TEST_F(EventFileTest, ALongFileIsRenamedAndSomeAreKept) {
  EventFile file(settings(10, 2));
  for (const char* line :
       {"line 1\n", "line 2\n", "line 3\n", "line 4\n", "line 5\n", "line 6\n", "line 7\n"}) {
    file.write(line);
    file.rotate();
  }
  EXPECT_EQ(text(), "line 7\n");
  EXPECT_EQ(text("eve.json.1"), "line 5\nline 6\n");
  EXPECT_EQ(text("eve.json.2"), "line 3\nline 4\n");
  EXPECT_FALSE(fs::exists(path("eve.json.3")));
}

TEST_F(EventFileTest, GrowsWhereNothingIsSaid) {
  EventFile file(settings(0));
  file.write(std::string(100'000, 'x') + "\n");
  EXPECT_FALSE(file.rotate());
}

/// A disk that is full, by the limit of a file's size: the same partial write, another error.
TEST_F(EventFileTest, WhatHasNoRoomLeavesNoHalfLineAndItGoesOnLater) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    EventFile file(settings());
    const rlimit full{10, 1000}, room{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &full);
    if (file.write("one\ntwo\nthree\nfour\n") != 2) ::_exit(1);  // and 2 bytes of the third
    if (file.place().offset != 8) ::_exit(2);
    if (file.write("fifth\n") != 0) ::_exit(3);
    ::setrlimit(RLIMIT_FSIZE, &room);
    if (file.write("six\n") != 1) ::_exit(4);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(text(), "one\ntwo\nsix\n");
}

TEST_F(EventFileTest, AFolderThatGoesAwayCostsLinesUntilItIsBack) {
  fs::create_directory(path("logs"));
  PlanEvents there = settings();
  there.file = path("logs/eve.json");
  EventFile file(there);
  EXPECT_EQ(file.write("one\n"), 1u);
  fs::remove_all(path("logs"));
  file.look();
  EXPECT_EQ(file.write("two\n"), 0u);
  EXPECT_EQ(file.place().file, 0u);
  fs::create_directory(path("logs"));
  file.look();
  EXPECT_EQ(file.write("three\n"), 1u);
  EXPECT_EQ(text("logs/eve.json"), "three\n");
}

TEST_F(EventFileTest, ASuccessorBeginsWithoutAFolderThatIsAwayAndCutsOffHalfALineOnceItIsBack) {
  fs::create_directory(path("logs"));
  PlanEvents there = settings();
  there.file = path("logs/eve.json");
  EventFile::Place begun;
  {
    EventFile killed(there);
    killed.write("one\n");
    begun = killed.place();
    std::ofstream(there.file, std::ios::app) << "tw";
  }
  fs::rename(path("logs"), path("away"));
  EXPECT_THROW(EventFile(there, begun), Error) << "in the first life";
  EventFile file(there, begun, EventFile::Life::kRestarted);
  EXPECT_EQ(file.lines_behind(begun), 0u);
  EXPECT_EQ(file.write("three\n"), 0u);
  file.look();
  EXPECT_EQ(file.write("four\n"), 0u);
  fs::rename(path("away"), path("logs"));
  file.look();
  EXPECT_EQ(file.write("five\n"), 1u);
  EXPECT_EQ(text("logs/eve.json"), "one\nfive\n");
}

}  // namespace
}  // namespace millrace
