// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/log_keeper.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"

namespace millrace {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A log that a process has open as the supervisor opens it.
class LogKeeperTest : public testing::Test {
 protected:
  LogKeeperTest() {
    std::filesystem::create_directories(folder_.path("logs"));
    process_ = UniqueFd(::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  }
  void say(const std::string& text) {
    ASSERT_EQ(::write(process_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  test::TestFolder folder_;
  std::string log_ = folder_.path("logs/") + "front.0.log";
  std::string older_ = older_log_path(log_);
  UniqueFd process_;
};

TEST_F(LogKeeperTest, WhoHasItOpenGoesOnAtItsBeginning) {
  say("one\n");
  EXPECT_FALSE(move_when_large(log_, 4)) << "not more than that";
  say("two\n");
  EXPECT_TRUE(move_when_large(log_, 4));
  say("three\n");
  EXPECT_EQ(text_of(older_), "one\ntwo\n");
  EXPECT_EQ(text_of(log_), "three\n");
  EXPECT_TRUE(move_when_large(log_, 4));
  EXPECT_EQ(text_of(older_), "three\n") << "one older file is kept";
  EXPECT_FALSE(move_when_large(folder_.path("logs/none.log"), 0));
}

TEST_F(LogKeeperTest, WaitsForWhoReads) {
  say("one\n");
  {
    const UniqueFd reader(::open(log_.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(reader.get(), LOCK_SH), 0);
    EXPECT_FALSE(move_when_large(log_, 0));
  }
  EXPECT_TRUE(move_when_large(log_, 0));
}

TEST_F(LogKeeperTest, OfOneThatGrewTooFastTheEndIsKept) {
  const std::string end = "the end\n";
  say(std::string(kOlderLogBytesMax, 'x') + end);
  ASSERT_TRUE(move_when_large(log_, kLogBytesMax));
  const std::string kept = text_of(older_);
  EXPECT_EQ(kept.size(), kOlderLogBytesMax);
  EXPECT_TRUE(kept.ends_with(end));
  EXPECT_EQ(std::filesystem::file_size(log_), 0U);
}

TEST_F(LogKeeperTest, SaysWhatItCannotWrite) {
  say("one\n");
  std::filesystem::create_directories(older_ + ".new");
  EXPECT_THROW(move_when_large(log_, 0), Error);
  EXPECT_EQ(text_of(log_), "one\n") << "nothing is lost by it";
}

TEST_F(LogKeeperTest, LooksAtAllLogsOfARunDirectoryEverySecond) {
  LogKeeper keeper;
  const auto now = LogKeeper::Clock::now();
  keeper.tend(folder_.path(""), now);
  say(std::string(kLogBytesMax + 1, 'x'));
  std::ofstream(folder_.path("logs/hub.log")) << "little";
  keeper.tend(folder_.path(""), now + LogKeeper::kInterval / 2);
  EXPECT_FALSE(std::filesystem::exists(older_)) << "not yet time";
  keeper.tend(folder_.path(""), now + LogKeeper::kInterval);
  EXPECT_EQ(std::filesystem::file_size(older_), kLogBytesMax + 1);
  EXPECT_FALSE(std::filesystem::exists(older_log_path(folder_.path("logs/hub.log"))));
}

}  // namespace
}  // namespace millrace
