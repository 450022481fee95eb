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

/// Each test in a network namespace of its own with a cable: `here` - `there`, both up. No link in
/// it gets an address unless a test gives it one, so the kernel sends nothing by itself. Without
/// the right to make one, tests of it are skipped.
class VethTest : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(before_, 0);
    if (::unshare(CLONE_NEWNET) != 0) {
      ASSERT_EQ(errno, EPERM);
      GTEST_SKIP() << "making a network namespace needs root";
    }
    if (::access(kAddressMode, W_OK) == 0) shell(std::string("echo 1 >") + kAddressMode);
    shell("ip link add here type veth peer name there");
    shell("ip link set here up && ip link set there up");
    for (const std::string end : {"here", "there"}) {  // what is sent before it is up is lost
      shell("timeout 30 sh -c 'until ip link show " + end +
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
  /// 1: links get no address of their own (Linux, ip-sysctl).
  static constexpr const char* kAddressMode = "/proc/sys/net/ipv6/conf/default/addr_gen_mode";

  int before_ = -1;
};

}  // namespace millrace::test
