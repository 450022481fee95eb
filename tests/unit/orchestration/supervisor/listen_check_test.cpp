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

std::string said_of(const std::string& address) {
  try {
    check_listen("control", address);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(CheckListen, LooksAtIpv6Too) {
  const UniqueFd taken(::socket(AF_INET6, SOCK_STREAM, 0));
  sockaddr_in6 name{};
  name.sin6_family = AF_INET6;
  name.sin6_addr = in6addr_loopback;
  socklen_t bytes = sizeof name;
  if (::bind(taken.get(), reinterpret_cast<const sockaddr*>(&name), bytes) != 0) {
    GTEST_SKIP() << "this host has no ::1";
  }
  ASSERT_EQ(::listen(taken.get(), 1), 0);
  ASSERT_EQ(::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&name), &bytes), 0);
  const std::string port = std::to_string(ntohs(name.sin6_port));
  EXPECT_THAT(said_of("[::1]:" + port),
              testing::HasSubstr("control: [::1]:" + port + " is in use"));
  EXPECT_THAT(said_of("[::]:" + port), testing::HasSubstr("is in use"));
  EXPECT_THAT(said_of("[2001:db8::1]:" + port), testing::HasSubstr("is no address of this host"));
  EXPECT_THAT(said_of("192.0.2.1:" + port), testing::HasSubstr("is no address of this host"));
}

TEST(CheckListen, ANameIsThatOfAnInterface) {
  EXPECT_EQ(said_of("lo:9090"), "");
  EXPECT_EQ(said_of("localhost:9090"),
            "control: 'localhost' is no address and no interface of this host (those are: ip "
            "address)");
}

TEST(CheckListen, LeavesTheRestToTheListener) {
  EXPECT_NO_THROW(check_listen("control", "127.0.0.1:0"));
  EXPECT_NO_THROW(check_listen("control", "nonsense"));
}

TEST(CheckListen, LooksAtTheHostOfAnyFreePortToo) {
  EXPECT_THAT(said_of("nosuch:0"), testing::HasSubstr("no address and no interface"));
  EXPECT_THAT(said_of("192.0.2.1:0"), testing::HasSubstr("is no address of this host"));
}

}  // namespace
}  // namespace millrace
