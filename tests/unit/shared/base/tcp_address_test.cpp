// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/tcp_address.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(TcpAddress, IsASchemeAHostAndAPort) {
  EXPECT_EQ(host_and_port("tcp://10.0.0.1:7070"), "10.0.0.1:7070");
  EXPECT_EQ(host_and_port("tcp://*:0"), "*:0");
  EXPECT_EQ(host_and_port("tcp://[::1]:65535"), "[::1]:65535");
}

TEST(TcpAddress, IsNothingElse) {
  for (const char* const text :
       {"", "tcp://", "tcp://:7070", "tcp://host", "tcp://host:", "tcp://host:65536",
        "tcp://host:-1", "tcp://host:7070 ", "tcp://host:7a", "ipc://host:7070", "host:7070"}) {
    EXPECT_EQ(host_and_port(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace millrace
