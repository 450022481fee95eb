// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/unique_fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

namespace millrace {
namespace {

bool is_open(int fd) { return fcntl(fd, F_GETFD) != -1; }

TEST(UniqueFd, ClosesWhatItOwns) {
  const int number = dup(STDERR_FILENO);
  {
    const UniqueFd fd(number);
    EXPECT_TRUE(fd);
    EXPECT_EQ(fd.get(), number);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(UniqueFd, AFailedOpenOwnsNothing) {
  const UniqueFd none(open("/nowhere/at/all", O_RDONLY));
  EXPECT_FALSE(none);
  EXPECT_FALSE(UniqueFd());
}

TEST(UniqueFd, AMovedOneHasOneOwner) {
  const int number = dup(STDERR_FILENO);
  UniqueFd fd(number);
  {
    UniqueFd moved(std::move(fd));
    EXPECT_FALSE(fd);  // NOLINT: what a move leaves is what is tested
    EXPECT_EQ(moved.get(), number);
    fd = std::move(moved);
  }
  EXPECT_TRUE(is_open(number)) << "closed by one that had given it away";
  const int other = dup(STDERR_FILENO);
  fd = UniqueFd(other);
  EXPECT_FALSE(is_open(number)) << "what it had before leaks";
  EXPECT_TRUE(is_open(other));
}

}  // namespace
}  // namespace millrace
