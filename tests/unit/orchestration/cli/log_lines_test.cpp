// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/log_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "orchestration/supervisor/log_keeper.hpp"
#include "shared/base/error.hpp"

namespace millrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kTime = 1'700'000'000 * kSecond;  // 2023-11-14T22:13:20Z

class LogFilesTest : public testing::Test {
 protected:
  LogFilesTest() { std::filesystem::create_directories(run_dir_ + "/logs"); }
  ~LogFilesTest() override { std::filesystem::remove_all(run_dir_); }
  void add(const std::string& name, const std::string& text) const {
    std::ofstream(run_dir_ + "/logs/" + name + ".log", std::ios::app) << text;
  }
  static std::vector<std::string> texts(const std::vector<LogLine>& lines) {
    std::vector<std::string> texts;
    for (const LogLine& line : lines) texts.push_back(line.who + "|" + line.text);
    return texts;
  }
  std::string run_dir_ = testing::TempDir() + "logs-" + std::to_string(::getpid());
};

TEST_F(LogFilesTest, AreMergedByTime) {
  add("hub", "2023-11-14T22:13:21.000000Z hub: one\n2023-11-14T22:13:23.000000Z hub: three\n");
  add("front.0", "2023-11-14T22:13:22.000000Z front.0: two\n");
  LogFiles files(run_dir_, {});
  const std::vector<LogLine> lines = files.read_new();
  EXPECT_THAT(texts(lines), ElementsAre("hub|one", "front.0|two", "hub|three"));
  EXPECT_EQ(lines[1].time_ns, kTime + 2 * kSecond);
}

TEST_F(LogFilesTest, OnlyWholeNewLinesComeTheSecondTime) {
  add("hub", "2023-11-14T22:13:21.000000Z hub: one\n2023-11-14T22:13:22.000000Z hu");
  LogFiles files(run_dir_, {});
  EXPECT_THAT(texts(files.read_new()), ElementsAre("hub|one"));
  EXPECT_TRUE(files.read_new().empty());
  add("hub", "b: two\n");
  add("late", "2023-11-14T22:13:23.000000Z late: three\n");
  EXPECT_THAT(texts(files.read_new()), ElementsAre("hub|two", "late|three"));
}

TEST_F(LogFilesTest, OneThatIsMovedGoesOnWhereItWas) {
  const std::string log = run_dir_ + "/logs/hub.log";
  const auto say = [&](int number) {
    add("hub", "2023-11-14T22:13:2" + std::to_string(number) +
                   ".000000Z hub: " + std::to_string(number) + "\n");
  };
  say(0);
  ASSERT_TRUE(move_when_large(log, 0));
  say(1);
  LogFiles files(run_dir_, {});
  EXPECT_THAT(texts(files.read_new()), ElementsAre("hub|0", "hub|1")) << "the older file first";
  say(2);
  EXPECT_THAT(texts(files.read_new()), ElementsAre("hub|2"));
  say(3);
  ASSERT_TRUE(move_when_large(log, 0));
  EXPECT_THAT(texts(files.read_new()), ElementsAre("hub|3"));
  EXPECT_TRUE(files.read_new().empty());
  say(4);
  ASSERT_TRUE(move_when_large(log, 0));
  for (int i = 5; i < 9; ++i) say(i);  // longer than what was read of the one before
  EXPECT_THAT(texts(files.read_new()), ElementsAre("hub|4", "hub|5", "hub|6", "hub|7", "hub|8"));
}

TEST_F(LogFilesTest, ALineOfALibraryStaysBehindTheLineBeforeIt) {
  add("hub", "2023-11-14T22:13:21.000000Z hub: one\nEAL: no such device\n");
  add("front.0", "2023-11-14T22:13:22.000000Z front.0: two\n");
  LogFiles files(run_dir_, {});
  EXPECT_THAT(texts(files.read_new()),
              ElementsAre("hub|one", "hub|EAL: no such device", "front.0|two"));
}

TEST_F(LogFilesTest, TheFirstLineOfALibraryHasTheTimeOfItsFile) {
  add("hub", "EAL: no such device\n");
  LogFiles files(run_dir_, {});
  const std::vector<LogLine> lines = files.read_new();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_GT(lines[0].time_ns, kTime);
}

TEST_F(LogFilesTest, OnlyTheNamedOnesOrAnErrorWithThoseThatThereAre) {
  add("hub", "2023-11-14T22:13:21.000000Z hub: one\n");
  add("front.0", "2023-11-14T22:13:22.000000Z front.0: two\n");
  LogFiles files(run_dir_, {"front.0"});
  EXPECT_THAT(texts(files.read_new()), ElementsAre("front.0|two"));
  EXPECT_THAT([&] { LogFiles(run_dir_, {"front.1"}); },
              ThrowsMessage<Error>(HasSubstr("there are: front.0, hub; did you mean 'front.0'?")));
}

TEST(ParseSince, TakesAgesAndTimes) {
  EXPECT_EQ(parse_since("90s", kTime), kTime - 90 * kSecond);
  EXPECT_EQ(parse_since("15m", kTime), kTime - 900 * kSecond);
  EXPECT_EQ(parse_since("2h", kTime), kTime - 7200 * kSecond);
  EXPECT_EQ(parse_since("1d", kTime), kTime - 86400 * kSecond);
  EXPECT_EQ(parse_since("9999999d", kTime), 0U);
  EXPECT_EQ(parse_since("2023-11-14T22:13:20Z", 0), kTime);
  EXPECT_EQ(parse_since("2023-11-14T22:13:20.5", 0), kTime + kSecond / 2);
  EXPECT_EQ(parse_since("2023-11-14", 0), kTime - (22 * 3600 + 13 * 60 + 20) * kSecond);
}

TEST(ParseSince, RefusesTheRest) {
  for (const char* text : {"", "s", "5", "5x", "-5s", "2023-11", "2023-11-14X", "99999999999s"}) {
    EXPECT_THROW(parse_since(text, kTime), Error) << text;
  }
}

}  // namespace
}  // namespace millrace::test
