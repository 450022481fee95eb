// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/run_words.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace millrace {
namespace {

class RunWords : public testing::Test {
 protected:
  void SetUp() override { ::setenv("XDG_RUNTIME_DIR", "/tmp/xdg", 1); }
  const std::string default_ =
      ::geteuid() == 0 ? "/run/millrace/branch" : "/tmp/xdg/millrace/branch";
};

TEST_F(RunWords, TheDefaultDirectoryIsWhereTheUserMayWrite) {
  EXPECT_EQ(default_run_dir("branch"), default_);
}

TEST_F(RunWords, CommandsNameARunWithItsFolderOnlyWhereThatIsNotTheDefault) {
  EXPECT_EQ(words_for_run("branch", default_), "branch");
  EXPECT_EQ(words_for_run("branch", "/srv/x"), "branch --run-dir /srv/x");
}

TEST_F(RunWords, AFolderAloneSaysTheSame) {
  EXPECT_EQ(words_for_run_in(default_), "branch");
  EXPECT_EQ(words_for_run_in("/srv/x"), "x --run-dir /srv/x");
}

}  // namespace
}  // namespace millrace
