// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/listen_check.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {
namespace {

TEST(CheckListen, RefusesWhatSomebodyListensOn) {
  const UniqueFd taken(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof name;
  ASSERT_EQ(::bind(taken.get(), reinterpret_cast<const sockaddr*>(&name), bytes), 0);
  ASSERT_EQ(::listen(taken.get(), 1), 0);
  ASSERT_EQ(::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&name), &bytes), 0);
  const std::string address = "127.0.0.1:" + std::to_string(ntohs(name.sin_port));
  try {
    check_listen("control", address);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("control: " + address + " is in use"));
  }
}

TEST(CheckListen, LeavesTheRestToTheListener) {
  EXPECT_NO_THROW(check_listen("control", "127.0.0.1:0"));
  EXPECT_NO_THROW(check_listen("control", "[::1]:9090"));
  EXPECT_NO_THROW(check_listen("control", "nonsense"));
}

}  // namespace
}  // namespace millrace
