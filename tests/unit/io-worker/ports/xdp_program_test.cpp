// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/xdp_program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/error.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

using XdpProgramTest = test::VethTest;

constexpr const char* kAttached = "ip link show here | grep -q xdp";
constexpr const char* kNotAttached = "! ip link show here | grep -q xdp";

TEST_F(XdpProgramTest, IsSharedAndGoesWithItsLastHolder) {
  {
    const XdpProgram one = XdpProgram::attach("here");
    shell(kAttached);
    {
      const XdpProgram other = XdpProgram::attach("here");
      const XdpProgram there = XdpProgram::attach("there");
    }
    shell(kAttached);
  }
  shell(kNotAttached);
}

TEST_F(XdpProgramTest, GoesWithAProcessThatIsKilled) {
  int ready[2] = {-1, -1};
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const XdpProgram program = XdpProgram::attach("here");
    static_cast<void>(write(ready[1], "x", 1));
    pause();
    static_cast<void>(program);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  shell(kAttached);
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  shell(kNotAttached);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(XdpProgramTest, ANamespaceBesideWithTheSameNumbersIsAnothers) {
  const XdpProgram here = XdpProgram::attach("here");
  const int mine = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(unshare(CLONE_NEWNET), 0);
  shell("ip link add here type veth peer name there && ip link set here up");
  {
    const XdpProgram beside = XdpProgram::attach("here");
    shell(kAttached);
  }
  shell(kNotAttached);
  ASSERT_EQ(setns(mine, CLONE_NEWNET), 0);
  close(mine);
  shell(kAttached);
}

TEST_F(XdpProgramTest, WhatCannotBeServedIsSaid) {
  EXPECT_EQ(test::error_of([] { XdpProgram::attach("heer"); }).substr(0, 19),
            "no interface 'heer'");
  const XdpProgram program = XdpProgram::attach("here");
  EXPECT_THROW(program.serve(0, UniqueFd(dup(0))), Error) << "that is no AF_XDP socket";
}

}  // namespace
}  // namespace millrace
