// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/capabilities.hpp"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <functional>
#include <string>

namespace millrace {
namespace {

constexpr Capabilities kRaw = capability(CAP_NET_RAW);

/// Runs `body` in a process of its own: what is given up does not come back. Its exit status.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Of /proc/self/status, as a mask.
Capabilities field(const std::string& name) {
  std::ifstream file("/proc/thread-self/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name + ":\t")) continue;
    Capabilities mask = 0;
    std::from_chars(line.data() + name.size() + 2, line.data() + line.size(), mask, 16);
    return mask;
  }
  return ~Capabilities{0};
}

int raw_socket_error() {
  const int socket = ::socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
  if (socket < 0) return errno;
  ::close(socket);
  return 0;
}

TEST(Capabilities, OnlyWhatIsKeptIsLeftAndOnlyOfWhatWasThere) {
  const Capabilities before = field("CapPrm");
  const bool may_shrink = (before & capability(CAP_SETPCAP)) != 0;
  const Capabilities bounding = field("CapBnd");
  EXPECT_EQ(in_child([&] {
              keep_capabilities(kRaw);
              if (field("CapPrm") != (before & kRaw)) return 1;
              if (field("CapEff") != (before & kRaw)) return 2;
              if (field("CapBnd") != (may_shrink ? bounding & kRaw : bounding)) return 3;
              if (field("CapInh") != 0 || field("CapAmb") != 0) return 4;
              return field("NoNewPrivs") == 1 ? 0 : 5;
            }),
            0);
}

TEST(Capabilities, WhatWasGivenUpIsRefusedAndStaysSo) {
  if ((field("CapEff") & kRaw) == 0) GTEST_SKIP() << "needs CAP_NET_RAW to lose it";
  EXPECT_EQ(in_child([] {
              keep_capabilities(kRaw);
              if (raw_socket_error() != 0) return 1;
              keep_capabilities(0);
              if (raw_socket_error() != EPERM) return 2;
              keep_capabilities(kRaw);  // no way back
              return raw_socket_error() == EPERM ? 0 : 3;
            }),
            0);
}

TEST(Capabilities, AProgramOfRootsGetsNoneEither) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: others get none anyway";
  EXPECT_EQ(in_child([] {
              keep_capabilities(0);
              ::execl("/bin/sh", "sh", "-c",
                      "grep -q '^CapEff:.0000000000000000$' /proc/self/status", nullptr);
              return 99;
            }),
            0);
}

}  // namespace
}  // namespace millrace
