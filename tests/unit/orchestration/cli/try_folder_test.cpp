// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/try_folder.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>

namespace millrace {
namespace {

namespace fs = std::filesystem;

class TryFolderTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(parent_); }
  void TearDown() override { fs::remove_all(parent_); }
  std::set<std::string> there() const {
    std::set<std::string> all;
    for (const auto& entry : fs::directory_iterator(parent_)) all.insert(entry.path());
    return all;
  }
  /// By a process that is killed with one in which a table lies.
  void leave_one() const {
    const pid_t child = ::fork();
    if (child == 0) {
      const TryFolder folder(parent_);
      std::ofstream(folder.path() + "/1.img") << "table";
      ::raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
  }

  const fs::path parent_ =
      fs::path(testing::TempDir()) / ("millrace-folders-" + std::to_string(::getpid()));
};

TEST_F(TryFolderTest, ItGoesWithItsOwner) {
  {
    const TryFolder folder(parent_);
    EXPECT_TRUE(fs::is_directory(folder.path()));
    EXPECT_EQ(there(), std::set<std::string>{folder.path()});
  }
  EXPECT_TRUE(there().empty());
}

TEST_F(TryFolderTest, ThatOfAKilledRunGoesWithTheNextRun) {
  const TryFolder lives(parent_);
  const std::string other = parent_ / "millrace-other";
  fs::create_directory(other);
  leave_one();
  EXPECT_EQ(there().size(), 3u);
  const TryFolder next(parent_);
  EXPECT_EQ(there(), (std::set<std::string>{lives.path(), other, next.path()}));
}

}  // namespace
}  // namespace millrace
