// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/beat_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

class BeatFileTest : public testing::Test {
 protected:
  ~BeatFileTest() override { std::filesystem::remove_all(folder_); }
  static std::string new_folder() {
    char pattern[] = "/tmp/millrace-beat-XXXXXX";
    return ::mkdtemp(pattern);
  }
  std::string folder_ = new_folder();
  std::string path_ = beat_path(folder_, "telemetry");
};

TEST_F(BeatFileTest, SaysWhoLivesAndSinceWhenItHasNotSaidSo) {
  EXPECT_FALSE(read_beat(path_));
  const std::uint64_t before = monotonic_ns();
  const BeatFile file(path_);
  ASSERT_TRUE(read_beat(path_));
  EXPECT_EQ(read_beat(path_)->pid, ::getpid());
  const std::uint64_t first = read_beat(path_)->time_ns;
  EXPECT_GE(first, before);
  EXPECT_TRUE(file.beat());
  EXPECT_GT(read_beat(path_)->time_ns, first);
}

TEST_F(BeatFileTest, AFileThatIsCutShortIsNoBeat) {
  std::ofstream(path_) << "half";
  EXPECT_FALSE(read_beat(path_));
  const BeatFile file(path_);
  EXPECT_TRUE(read_beat(path_));
}

TEST_F(BeatFileTest, WhoCannotBeatIsTold) {
  EXPECT_THROW(BeatFile(folder_ + "/nowhere/telemetry.beat"), Error);
}

}  // namespace
}  // namespace millrace
