// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace millrace::test {

/// Each test in a network namespace of its own with a cable: `here` - `there`, both up. Without the
/// right to make one, tests of it are skipped.
class VethTest : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(before_, 0);
    if (::unshare(CLONE_NEWNET) != 0) {
      ASSERT_EQ(errno, EPERM);
      GTEST_SKIP() << "making a network namespace needs root";
    }
    shell("ip link add here type veth peer name there");
    shell("ip link set here up && ip link set there up");
    for (const char* end : {"here", "there"}) {  // what is sent before the kernel says so is lost
      shell(std::string("timeout 30 sh -c 'until ip link show ") + end +
            " | grep -q \"state UP\"; do sleep 0.01; done'");
    }
  }
  void TearDown() override {
    EXPECT_EQ(::setns(before_, CLONE_NEWNET), 0);
    ::close(before_);
  }
  static void shell(const std::string& command) {
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

 private:
  int before_ = -1;
};

}  // namespace millrace::test
